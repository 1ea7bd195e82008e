"""What a page says when the work that somebody asks for is under way already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

from jobs.errors import JobConflictError


@contextmanager
def conflict_as_message(request: HttpRequest) -> Iterator[None]:
    """Turn the conflict of a request for a job into a message on the next page."""
    try:
        yield
    except JobConflictError as problem:
        messages.warning(request, str(problem))
