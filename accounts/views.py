"""The front door: each role lands on its own page."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.access import signed_in
from accounts.models import Role

HOME_PAGES = {
    Role.ANNOTATOR: "annotation:home",
    Role.ADMIN: "pooling:home",
    Role.RESEARCHER: "evaluation:home",
}


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Send a person to the page of their role."""
    return redirect(HOME_PAGES[Role(signed_in(request).role)])
