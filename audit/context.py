"""On whose behalf this thread or task works now: bound by the middleware and by jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser


@dataclass(frozen=True)
class Origin:
    """Where an act comes from.

    Attributes:
        person: asked late, because a request learns whose it is after it has begun.
        address: of the browser or program.
        request_id: of the request, or of the one that started the job.
    """

    person: Callable[[], AbstractUser | None]
    address: str | None = None
    request_id: str = ""


NOBODY = Origin(lambda: None)
_origin: ContextVar[Origin] = ContextVar("origin", default=NOBODY)


def current_origin() -> Origin:
    """Return on whose behalf this runs."""
    return _origin.get()


@contextmanager
def acting_for(origin: Origin) -> Iterator[None]:
    """Let what is done inside be recorded as from there."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def origin_of(request: HttpRequest) -> Origin:
    """Return where a request comes from."""
    return Origin(lambda: _person(request), _address(request), getattr(request, "request_id", ""))


def _person(request: HttpRequest) -> AbstractUser | None:
    user = getattr(request, "user", None)  # no middleware has run before a bad request
    return user if user is not None and user.is_authenticated else None


def _address(request: HttpRequest) -> str | None:
    try:
        return str(get_adapter(request).get_client_ip(request))
    except PermissionDenied:  # a socket, or a test, without one
        return None
