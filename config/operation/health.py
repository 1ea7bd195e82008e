"""`/livez` and `/readyz`: whether this process lives, and whether the site can do its work.

They are answered before anything else looks at the request: a probe comes by address, not by
name, and has no session.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from jobs.status import CHECKS

Handler = Callable[[HttpRequest], HttpResponseBase]
KEPT_SECONDS = 2.0  # so that asking often costs nothing
logger = logging.getLogger(__name__)


class Readiness:
    """The state of each part, asked again when what is known is older than `KEPT_SECONDS`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: dict[str, bool] = {}
        self._asked_at = float("-inf")

    def parts(self) -> dict[str, bool]:
        """Return which parts work; while one thread asks, others take what was known."""
        if time.monotonic() - self._asked_at > KEPT_SECONDS and (
            self._lock.acquire(blocking=not self._parts)
        ):
            try:
                if time.monotonic() - self._asked_at > KEPT_SECONDS:
                    self._parts = {name: _works(name) for name in CHECKS}
                    self._asked_at = time.monotonic()
            finally:
                self._lock.release()
        return self._parts


def _works(name: str) -> bool:
    try:
        CHECKS[name]()
    except Exception:  # whatever it is: the log tells it, a stranger does not learn it
        logger.warning("Not ready: %s", name, exc_info=True)
        return False
    return True


readiness = Readiness()


def probes(get_response: Handler) -> Handler:
    """Answer the two probes; stands first."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        if request.path_info == "/livez":
            return _uncached(HttpResponse("alive\n", content_type="text/plain"))
        if request.path_info == "/readyz":
            return _uncached(_ready(request.GET.getlist("exclude")))
        return get_response(request)

    return respond


def _ready(excluded: Sequence[str]) -> JsonResponse:
    parts = {name: works for name, works in readiness.parts().items() if name not in excluded}
    failing = [name for name, works in parts.items() if not works]
    told = {"ready": not failing, "failing": failing, "parts": parts}
    return JsonResponse(told, status=503 if failing else 200)


def _uncached(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
