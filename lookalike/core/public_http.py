"""Connect to web addresses that somebody else named, and let them harm nothing.

Only the very IP that was checked is connected to, so that a name that resolves otherwise a
moment later gains nothing. No proxy is asked, no redirect followed, and a timer cuts the
connection however slowly the other side answers.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import SplitResult

_UNICAST = ipaddress.ip_network("2000::/3")  # all that IANA has given to the public internet yet
_NOT_PUBLIC = [  # which ipaddress of Python 3.11 takes for it
    ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")
]
PORTS = {"http": 80, "https": 443}


class AddressError(Exception):
    """A host is not known, or is not where one may go; the message says which."""


class NotPublicError(AddressError):
    """A host leads to an address that is not on the public internet."""


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an IP is of the public internet, seen through every way to write another in it.

    >>> [is_public(ipaddress.ip_address(text)) for text in ("9.9.9.9", "::ffff:10.0.0.1")]
    [True, False]
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.sixtofour is not None or address.teredo is not None or address not in _UNICAST:
            return False
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast


def resolve(parts: SplitResult, *, may_be_private: bool) -> str:
    """Return an IP of an address's host, if all that it has may be connected to.

    Raises:
        NotPublicError: one of them is not public.
        AddressError: the host is not known.
    """
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    try:
        found = [row[4][0] for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as problem:
        raise AddressError(f"{host} is not known: {problem}") from problem
    for text in [] if may_be_private else found:
        if not is_public(ipaddress.ip_address(str(text).partition("%")[0])):
            raise NotPublicError(f"{host} leads to {text}, which is not on the public internet.")
    return str(found[0])


@contextmanager
def connection_to(
    parts: SplitResult, address: str, seconds: float
) -> Iterator[http.client.HTTPConnection]:
    """Connect to the host of an address at an IP, and cut the connection when time is over.

    Args:
        parts: scheme, host and port.
        address: from `resolve`.
        seconds: for all that is done with it.

    Raises:
        OSError: it cannot be connected to, also by TLS.
    """
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    sockets: list[socket.socket] = []  # the connection forgets its own once a body is read
    deadline = threading.Timer(seconds, _cut, [sockets])
    try:
        connection.sock = socket.create_connection((address, port), timeout=seconds)
        sockets.append(connection.sock)
        deadline.start()
        if parts.scheme == "https":
            tls = ssl.create_default_context().wrap_socket(
                connection.sock, server_hostname=host, do_handshake_on_connect=False
            )
            connection.sock = tls
            sockets.append(tls)
            tls.do_handshake()
        yield connection
    finally:
        deadline.cancel()
        connection.close()


def _cut(sockets: list[socket.socket]) -> None:
    with suppress(OSError):  # it is gone already
        sockets[-1].shutdown(socket.SHUT_RDWR)
