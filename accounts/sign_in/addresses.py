"""Where the site is, for links that leave it."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpRequest


def site_address(request: HttpRequest) -> str:
    """Return scheme and host: PUBLIC_URL if it is set, whatever the request calls the site.

    A stranger who asks for a mail to somebody else must not choose where its links lead.
    """
    given: str = settings.GIVEN_URL or f"{request.scheme}://{request.get_host()}"
    return given.rstrip("/")


def moved(url: str, request: HttpRequest) -> str:
    """Return an address of this site as links in mails have it."""
    site: SplitResult = urlsplit(site_address(request))
    return urlsplit(url)._replace(scheme=site.scheme, netloc=site.netloc).geturl()
