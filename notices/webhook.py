"""Send a signed body to an address that an admin gave, and let it harm nothing.

Only public addresses are connected to, as `lookalike.core.public_http` does.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import time
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from lookalike.core.errors import Refused
from lookalike.core.public_http import AddressError, connection_to, is_public, resolve

SECONDS = 5.0  # for all of one delivery, after its name is resolved
MAX_URL = 500
SIGNATURE = "Lookalike-Signature"


class WebhookError(Exception):
    """A delivery has failed; the message says why."""


def check_url(url: str) -> SplitResult:
    """Return the parts of an address to which notices may be sent.

    Raises:
        Refused: it is no https address, carries a password, or is named by a private IP. Hosts
            of WEBHOOK_HOSTS may be private and take http.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise Refused("url", f"This is no address: {problem}.") from None
    if len(url) > MAX_URL or any(ord(char) <= 32 or ord(char) > 126 for char in url):
        raise Refused("url", f"Give an address of at most {MAX_URL} printable ASCII characters.")
    is_trusted = parts.hostname in settings.WEBHOOK_HOSTS
    if parts.scheme != "https" and not (is_trusted and parts.scheme == "http"):
        raise Refused("url", "Give an address that begins with https://.")
    if not parts.hostname or parts.username or parts.password or parts.fragment or port == 0:
        raise Refused("url", "Give an address with a host, and without user, password or #.")
    with suppress(ValueError):
        address = ipaddress.ip_address(parts.hostname)
        if not is_trusted and not is_public(address):
            raise Refused("url", f"{address} is not on the public internet.")
    return parts


def sign(secret: str, body: bytes, at: int) -> str:
    """Return the value of the signature's header: time, and HMAC-SHA256 of time, dot, body."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def post(url: str, body: bytes, *, secret: str, headers: dict[str, str]) -> int:
    """Send a signed body and return the status of the answer, whose body is not read.

    Raises:
        WebhookError: no connection, no answer in time, or a status other than 2xx.
    """
    try:
        parts = check_url(url)
        address = resolve(parts, may_be_private=parts.hostname in settings.WEBHOOK_HOSTS)
    except Refused as problem:
        raise WebhookError(problem.message) from problem
    except AddressError as problem:
        raise WebhookError(str(problem)) from problem
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    signed = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": "Lookalike",
        SIGNATURE: sign(secret, body, int(time.time())),
        **headers,
    }
    try:
        with connection_to(parts, address, SECONDS) as connection:
            connection.request("POST", path, body, signed)
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as problem:
        raise WebhookError(f"No answer: {problem or type(problem).__name__}") from problem
    if not 200 <= status < 300:
        raise WebhookError(f"It answered {status}.")
    return status
