"""The page of a request that was refused before any view saw it."""

from __future__ import annotations

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from catalog.importing.upload_handlers import TooManyUploadsError


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page of error 400, with what was too much if that was it; or of 429."""
    reason = str(exception) if isinstance(exception, RequestDataTooBig) else ""
    if isinstance(exception, TooManyUploadsError):
        page = render_to_string("429_uploads.html", {"reason": reason})
        wait = {"Retry-After": str(exception.seconds)}
        return HttpResponse(page, status=429, headers=wait)
    return HttpResponse(render_to_string("400.html", {"reason": reason}), status=400)
