"""Send a signed body to an address that an admin gave, and let it harm nothing.

Only public addresses are connected to, at the very IP that was checked, so that a name that
resolves otherwise a moment later gains nothing. No redirect is followed and no proxy asked, and
a timer cuts the connection however slowly the other side answers.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import socket
import ssl
import threading
import time
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from lookalike.core.errors import Refused

SECONDS = 5.0  # for all of one delivery, after its name is resolved
MAX_URL = 500
SIGNATURE = "Lookalike-Signature"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


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


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an IP is of the public internet, seen through every way to write another in it.

    >>> [is_public(ipaddress.ip_address(text)) for text in ("9.9.9.9", "::ffff:10.0.0.1")]
    [True, False]
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.sixtofour is not None or address.teredo is not None or address in _NAT64:
            return False
    return address.is_global and not address.is_multicast


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
    except Refused as problem:
        raise WebhookError(problem.message) from problem
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    address = _resolved(host, port)
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    deadline = threading.Timer(SECONDS, _cut, [connection])
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    signed = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": "Lookalike",
        SIGNATURE: sign(secret, body, int(time.time())),
        **headers,
    }
    try:
        connection.sock = socket.create_connection((address, port), timeout=SECONDS)
        deadline.start()
        if parts.scheme == "https":
            tls = ssl.create_default_context().wrap_socket(
                connection.sock, server_hostname=host, do_handshake_on_connect=False
            )
            connection.sock = tls  # where the timer finds it
            tls.do_handshake()
        connection.request("POST", path, body, signed)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as problem:
        raise WebhookError(f"No answer: {problem or type(problem).__name__}") from problem
    finally:
        deadline.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise WebhookError(f"It answered {status}.")
    return status


def _resolved(host: str, port: int) -> str:
    """Return an IP of a host, if all that it has may be connected to."""
    try:
        found = [row[4][0] for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as problem:
        raise WebhookError(f"{host} is not known: {problem}") from problem
    if host not in settings.WEBHOOK_HOSTS:
        for text in found:
            if not is_public(ipaddress.ip_address(str(text).partition("%")[0])):
                raise WebhookError(f"{host} leads to {text}, which is not on the public internet.")
    return str(found[0])


def _cut(connection: http.client.HTTPConnection) -> None:
    with suppress(OSError, AttributeError):  # it is gone already
        connection.sock.shutdown(socket.SHUT_RDWR)
