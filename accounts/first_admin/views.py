"""The page of the link that makes the first admin."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.first_admin import services
from accounts.forms import AdminForm
from lookalike.core.errors import Refused


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def first_admin(request: HttpRequest, secret: str) -> HttpResponse:
    """Make the first admin and sign them in."""
    form = AdminForm(request.POST or None)
    if not services.links_with(secret).exists():
        return _gone(request)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            person = services.make_first_admin(
                secret=secret,
                username=asked["username"],
                email=asked["email"],
                password=asked["password1"],
            )
        except Refused:
            return _gone(request)
        signed_in: HttpResponse = perform_login(request, person, email_verification="none")
        return signed_in
    return render(request, "accounts/first_admin.html", {"form": form})


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/first_admin.html", {"gone": services.GONE}, status=404)
