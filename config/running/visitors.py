"""Who asks, as Django's sessions and access tokens tell; and whether the site's disk has room."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.core.exceptions import PermissionDenied
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import parse_cookie

from accounts.sign_in.limits import network_of
from accounts.tokens.services import token_owner
from config.running.gate import Visitors
from jobs.disk import has_room

BEARER = "bearer "
logger = logging.getLogger(__name__)


class SiteVisitors(Visitors):
    """People of the site."""

    def address(self, environ: dict[str, Any]) -> str:
        """Return the address of the client, or of the proxy if it names none."""
        try:
            return network_of(WSGIRequest(environ))
        except PermissionDenied:
            return super().address(environ)

    def credential(self, environ: dict[str, Any]) -> str | None:
        """Return the access token and the session's key."""
        found = f"{_token(environ)} {_session_key(environ)}"
        return found if found.strip() else None

    def person(self, environ: dict[str, Any]) -> str | None:
        """Return the key of the token's owner, or of the session's user."""
        close_old_connections()  # no signal of a request does that here
        try:
            if (owner := token_owner(_token(environ))) is not None:
                return str(owner.pk)
            request = WSGIRequest(environ)
            engine = import_module(settings.SESSION_ENGINE)
            request.session = engine.SessionStore(_session_key(environ))
            user = get_user(request)
            return str(user.pk) if user.is_authenticated and user.is_active else None
        except Exception:  # the request itself meets the same problem, and answers it
            logger.warning("A credential could not be looked up.", exc_info=True)
            return None

    def has_room(self, n_bytes: int) -> bool:
        """Whether the data folder's disk keeps LEAST_FREE_MIB with that many bytes more."""
        return has_room(n_bytes)


def _token(environ: dict[str, Any]) -> str:
    header = str(environ.get("HTTP_AUTHORIZATION", ""))
    return header[len(BEARER) :].strip() if header.lower().startswith(BEARER) else ""


def _session_key(environ: dict[str, Any]) -> str:
    return parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
