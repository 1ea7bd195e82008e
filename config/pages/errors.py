"""Pages for errors: 503 where database or broker are away or the disk is full, else 500."""

from __future__ import annotations

import errno
import sys

import kombu.exceptions
import redis.exceptions
from django.db import InterfaceError, OperationalError, close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template import loader
from django.views import defaults

from config.middleware import API, Handler

RETRY_SECONDS = 5
MESSAGE = "The {} is not reached at the moment; ask again in some seconds."
FULL = "The site's disk is full; ask again once an admin has made room."
# SQL states of a server that stops, starts or has no connection left; a lost one has none
_AWAY = ("08", "57P", "53300")
_DISK_FULL = "53100"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_BROKER_AWAY = (
    redis.exceptions.ConnectionError, redis.exceptions.TimeoutError,
    kombu.exceptions.OperationalError,
)  # fmt: skip


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer to an exception that nothing has caught; needs no database."""
    problem = sys.exc_info()[1]
    is_full = problem is not None and is_disk_full(problem)
    is_database = not is_full and problem is not None and is_outage(problem)
    if not (is_full or is_database or isinstance(problem, _BROKER_AWAY)):
        return defaults.server_error(request)
    if request.path_info.startswith(API):
        message = FULL if is_full else MESSAGE.format("database" if is_database else "broker")
        response: HttpResponse = JsonResponse(
            {"code": "unavailable", "message": message, "details": []}, status=503
        )
    else:
        context = {"seconds": RETRY_SECONDS, "is_read": is_read(request), "is_full": is_full}
        page = loader.get_template("503.html").render(context)
        response = HttpResponse(page, status=503)
    response.is_outage = is_database  # type: ignore[attr-defined]  # for second_reading
    response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    return response


def second_reading(get_response: Handler) -> Handler:
    """Answer once more what only reads, where the database went away under it."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not (getattr(response, "is_outage", False) and is_read(request)):
            return response
        close_old_connections()
        return get_response(request)

    return respond


def is_read(request: HttpRequest) -> bool:
    """Whether a request asks for nothing to be done."""
    return request.method in {"GET", "HEAD"}


def is_outage(problem: BaseException) -> bool:
    """Whether the database cannot be reached, and will be again."""
    if not isinstance(problem, OperationalError | InterfaceError):
        return False
    state = getattr(problem.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)


def is_disk_full(problem: BaseException) -> bool:
    """Whether a disk of the site, its database or its broker has no room left."""
    cause: BaseException | None = problem
    while cause is not None:
        if (
            (isinstance(cause, OSError) and cause.errno in _NO_ROOM)
            or getattr(cause, "sqlstate", None) == _DISK_FULL
            or (isinstance(cause, redis.exceptions.ResponseError) and "MISCONF" in str(cause))
        ):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
