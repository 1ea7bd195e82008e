"""Browsers in which somebody has signed in before, told by a signed cookie."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from accounts.models import User

COOKIE = "device"
SECONDS = 365 * 86_400


def remember_device(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Let the browser keep that this person has signed in with it."""
    kept = {"device": secrets.token_hex(8), **_kept(request), "user": user.pk}
    response.set_cookie(
        COOKIE,
        signing.dumps(kept, salt=COOKIE),
        max_age=SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def known_device(request: HttpRequest, login: str) -> str:
    """Return the mark of a browser in which the owner of a name has signed in, "" of others.

    Args:
        request: with its cookies.
        login: a user name or address, in any case.
    """
    kept = _kept(request)
    person = User.objects.filter(pk=kept["user"]).first() if kept and login else None
    names = {person.username.lower(), person.email.lower()} if person else set()
    return str(kept["device"]) if login.lower() in names else ""


def _kept(request: HttpRequest) -> dict[str, str]:
    try:
        kept: dict[str, str] = signing.loads(
            request.COOKIES.get(COOKIE, ""), salt=COOKIE, max_age=SECONDS
        )
    except signing.BadSignature:
        return {}
    return kept
