"""Give each request an id, and let what it does be recorded as from there."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from structlog.contextvars import bound_contextvars

from audit.context import acting_for, origin_of
from audit.services import record_refusal

Handler = Callable[[HttpRequest], HttpResponseBase]
# no hex digit: judges get it, and it must not look like a hash
LETTERS = str.maketrans("0123456789abcdef", "ghjkmnpqrstvwxyz")
SOUND_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


def request_ids(get_response: Handler) -> Handler:
    """Take a front's X-Request-ID or make one; return it, and put it in every line of the log."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "") if settings.BEHIND_PROXY else ""
        request_id = (
            given if SOUND_ID.fullmatch(given) else secrets.token_hex(12).translate(LETTERS)
        )
        request.request_id = request_id  # type: ignore[attr-defined]
        with bound_contextvars(request_id=request_id), acting_for(origin_of(request)):
            response = get_response(request)
            if response.status_code == HTTPStatus.FORBIDDEN:
                record_refusal(request)
        response["X-Request-ID"] = request_id
        return response

    return respond
