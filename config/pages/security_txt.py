"""`/.well-known/security.txt` (RFC 9116): to whom strangers report what they found."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

VALID_DAYS = 180  # the RFC asks for less than a year


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Name the contact of SECURITY_CONTACT; without one there is no such file."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (timezone.now() + timedelta(days=VALID_DAYS)).strftime("%Y-%m-%dT00:00:00Z")
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {expires}",
        "Preferred-Languages: en",
        f"Canonical: {settings.PUBLIC_URL.rstrip('/')}/.well-known/security.txt",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")
