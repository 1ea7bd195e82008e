"""What is asked of each request of somebody signed in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import logout
from django.core.cache import caches
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from accounts.access import SECOND_FACTOR, lacks_second_factor

Handler = Callable[[HttpRequest], HttpResponseBase]

API = "/api/v1/"
NOTICED_SECONDS = 5 * 60
KEPT = timedelta(days=60)


def second_factor(get_response: Handler) -> Handler:
    """Lead admins who lack the second factor that is demanded to its set-up, and no further."""
    opened = tuple(
        reverse(name) for name in ("mfa_index", "account_reauthenticate", "account_logout")
    )

    def respond(request: HttpRequest) -> HttpResponseBase:
        if not request.user.is_authenticated or not lacks_second_factor(request.user):
            return get_response(request)
        if request.path_info.startswith(API):
            error = {"code": "second_factor_required", "message": SECOND_FACTOR, "details": []}
            return JsonResponse(error, status=403)
        if not request.path_info.startswith(opened):
            return redirect("mfa_activate_totp")
        request.second_factor_missing = SECOND_FACTOR  # type: ignore[attr-defined]  # on its pages
        return get_response(request)

    return respond


def session_list(get_response: Handler) -> Handler:
    """Note where somebody was last seen, every five minutes; end sessions that were left alone."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        key = request.session.session_key
        if key and request.user.is_authenticated and caches["process"].add(key, 1, NOTICED_SECONDS):
            if _was_left_alone(key):
                logout(request)
                return get_response(request)
            with suppress(PermissionDenied):  # an address that no proxy has told
                UserSession.objects.create_from_request(request)
            UserSession.objects.filter(last_seen_at__lt=timezone.now() - KEPT).delete()
        return get_response(request)

    return respond


def _was_left_alone(session_key: str) -> bool:
    """Whether nobody used a session for as long as the site lets one rest."""
    if not settings.SESSION_IDLE_HOURS:
        return False
    earliest = timezone.now() - timedelta(hours=settings.SESSION_IDLE_HOURS)
    rows = UserSession.objects.filter(session_key=session_key, last_seen_at__lt=earliest)
    return bool(rows.exists())
