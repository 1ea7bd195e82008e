"""The site, and past all of its middleware /barest (Django's request and response) and /process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.judging_site.settings")
site = get_wsgi_application()

from benchmarks.judging_site.views import step  # noqa: E402  (Django comes first)
from config.running.visitors import SiteVisitors  # noqa: E402  (likewise)

visitors = SiteVisitors()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer one request."""
    if environ["PATH_INFO"] == "/process":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(os.getpid()).encode()]
    if environ["PATH_INFO"] != "/barest":
        return site(environ, start_response)
    request_started.send(sender=None, environ=environ)
    reply = step(WSGIRequest(environ), 0)
    start_response("200 OK", [("Content-Type", "application/json")])
    request_finished.send(sender=None)
    return [reply.content]
