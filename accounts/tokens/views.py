"""The own access tokens: list, make, revoke."""

from __future__ import annotations

import uuid

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import reader_required, signed_in
from accounts.forms import TokenForm
from accounts.models import Scope
from accounts.queries import list_tokens
from accounts.tokens import services
from lookalike.core.errors import Refused


@require_safe
@reader_required
def tokens(request: HttpRequest) -> HttpResponse:
    """List the own tokens."""
    return _listed(request)


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
@reauthentication_required
def new(request: HttpRequest) -> HttpResponse:
    """Make a token, after a recent proof that its owner sits there.

    It is shown in the answer itself: nothing stores it, not even for one redirect.
    """
    owner = signed_in(request)
    form = TokenForm(request.POST or None, owner=owner)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            _, secret = services.create_token(
                owner=owner,
                name=given["name"],
                scopes=[Scope(scope) for scope in given["scopes"]],
                days=given["days"],
            )
        except Refused as problem:
            form.add_error(None, str(problem))
        else:
            return _listed(request, made=secret)
    return render(request, "accounts/new_token.html", {"form": form})


@require_POST
@reader_required
def revoke(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Revoke one of the own tokens; somebody else's looks as if there were none."""
    token = get_object_or_404(list_tokens(signed_in(request)), uid=uid)
    services.revoke_token(token=token)
    messages.success(request, f"The token “{token.name}” opens nothing any more.")
    return redirect("accounts:tokens")


def _listed(request: HttpRequest, made: str = "") -> HttpResponse:
    context = {
        "tokens": list_tokens(signed_in(request)),
        "made": made,
        "api": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "accounts/tokens.html", context)
