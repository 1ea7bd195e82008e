"""What a request sets off and its answer must not wait for."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

logger = logging.getLogger(__name__)
Handler = Callable[[HttpRequest], HttpResponseBase]
_NAME = "_afterwards"


def do_afterwards(request: HttpRequest, work: Callable[[], None]) -> None:
    """Do something once the answer to a request is on its way; a failure is logged."""

    def do() -> None:
        try:
            work()
        except Exception:  # nobody is there any more to be told
            logger.exception("What %s set off has failed.", request.path)

    vars(request).setdefault(_NAME, []).append(do)


def afterwards(get_response: Handler) -> Handler:
    """Hand what is to be done to the answer, which does it when the server lets go of it."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response._resource_closers.extend(vars(request).pop(_NAME, []))  # type: ignore[attr-defined]  # Django's own way for open files
        return response

    return respond
