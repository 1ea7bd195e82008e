"""Read pictures that stay where they are: by http(s) from hosts that a site allows, and from S3.

An address comes from a list that somebody wrote. It is read only if its host is allowed, at a
public IP (or at a host of the site's own network that is named as such), again after every
redirect; never beyond a number of bytes or of seconds. Errors name the host alone, since what
follows it may be a secret.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

from lookalike.core.public_http import (
    PORTS,
    AddressError,
    NotPublicError,
    connection_to,
    resolve,
)
from lookalike.io.image_spellings import storage_key

MAX_URL = 2000
MAX_REDIRECTS = 3
SECONDS = 30.0  # for one attempt, after the name is resolved
WAITS = (0.5, 2.0)  # seconds before the second and the third attempt
MAX_WAIT = 10.0  # that a server may ask for
USER_AGENT = "Lookalike"
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_SECRETS = {
    "access_token", "api_key", "apikey", "auth", "authorization", "awsaccesskeyid", "password",
    "secret", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token",
    "x-amz-signature", "x-goog-credential", "x-goog-signature",
}  # fmt: skip


class RemoteError(Exception):
    """A picture cannot be read where it is; the message says why.

    Attributes:
        is_passing: it may be there later.
    """

    def __init__(self, message: str, *, is_passing: bool = False, wait: float = 0.0) -> None:
        super().__init__(message)
        self.is_passing = is_passing
        self.wait = wait


@dataclass(frozen=True)
class Remote:
    """Where pictures may be read from.

    Attributes:
        hosts: public ones, each a name, `name:port`, or `*.name` for those below it.
        private_hosts: of the site's own network, in the same form; those may have any IP.
        buckets: of the S3 storage.
        sign: gives the address at which an object may be read for a moment, from bucket and key.
    """

    hosts: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    sign: Callable[[str, str], str] | None = None

    def check(self, url: str) -> None:
        """Refuse an address that may not be read, without asking for it.

        Raises:
            RemoteError: it is no http, https or s3 address of an allowed place, or carries a
                password, a key or a signature.
        """
        parts = _split(url)
        if secret := _secret_in(parts):
            raise RemoteError(f"it carries a secret (“{secret[:40]}”); give the plain address")
        if parts.scheme == "s3":
            bucket, key = storage_key(url)
            if bucket not in self.buckets:
                raise RemoteError(f"the bucket {bucket} is not one of REMOTE_S3_BUCKETS")
            if not key:
                raise RemoteError("it names no object of the bucket")
            if {".", ".."} & set(key.split("/")):  # a storage may follow them
                raise RemoteError("it has “.” or “..” in its key")
        else:
            self._check_host(parts)

    def read(self, url: str, at_most: int) -> bytes:
        """Return the bytes of a picture; what passes is tried again.

        Args:
            url: http, https or s3://bucket/key.
            at_most: bytes.

        Raises:
            RemoteError: as `check`; it is not there, too large or cut, or the host did not answer.
        """
        for wait in (*WAITS, None):
            try:
                return self._attempt(url, at_most)
            except RemoteError as problem:
                if wait is None or not problem.is_passing:
                    raise
                time.sleep(min(max(wait, problem.wait), MAX_WAIT))
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, url: str, at_most: int) -> bytes:
        self.check(url)
        parts = urlsplit(url)
        is_ours = False  # signed for a storage that the site's own settings name
        if parts.scheme == "s3" and self.sign is not None:
            parts = urlsplit(self.sign(*storage_key(url)))
            is_ours = True
        end = time.monotonic() + SECONDS
        for _ in range(MAX_REDIRECTS + 1):
            found = self._get(parts, is_ours, at_most, end)
            if isinstance(found, bytes):
                return found
            is_ours = False
            target = _split(_join(parts, found))
            if parts.scheme == "https" and target.scheme != "https":
                raise RemoteError(f"{parts.hostname} leads from https to {target.scheme or '?'}")
            self._check_host(target)
            parts = target
        raise RemoteError(f"{parts.hostname} leads on more than {MAX_REDIRECTS} times")

    def _get(self, parts: SplitResult, is_ours: bool, at_most: int, end: float) -> bytes | str:
        """Return the body, or the address that the answer leads to."""
        host = parts.hostname
        may_be_private = is_ours or _is_listed(parts, self.private_hosts)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {"Host": parts.netloc, "User-Agent": USER_AGENT, "Accept": "image/*,*/*;q=0.5"}
        try:
            address = resolve(parts, may_be_private=may_be_private)
            left = max(0.1, end - time.monotonic())
            with connection_to(parts, address, left) as connection:
                connection.request("GET", path, headers=headers)
                with connection.getresponse() as response:
                    content = _answer(response, host or "", at_most)
        except NotPublicError as problem:
            raise RemoteError(str(problem).rstrip(".")) from problem
        except AddressError as problem:
            raise RemoteError(str(problem).rstrip("."), is_passing=True) from problem
        except (OSError, http.client.HTTPException) as problem:
            reason = "no answer in time" if time.monotonic() >= end else _why(problem)
            raise RemoteError(f"{host}: {reason}", is_passing=True) from problem
        if time.monotonic() >= end:  # the timer's cut may look like an end
            raise RemoteError(f"{host}: no answer in time", is_passing=True)
        return content

    def _check_host(self, parts: SplitResult) -> None:
        if parts.scheme not in PORTS:
            raise RemoteError("it does not begin with http://, https:// or s3://")
        if not _is_listed(parts, (*self.hosts, *self.private_hosts)):
            port = f":{parts.port}" if parts.port not in {None, PORTS[parts.scheme]} else ""
            raise RemoteError(f"the host {parts.hostname}{port} is not one of REMOTE_HOSTS")


def _split(url: str) -> SplitResult:
    if len(url) > MAX_URL or any(ord(char) <= 32 or ord(char) > 126 for char in url):
        raise RemoteError(
            f"an address has at most {MAX_URL:,} printable ASCII characters (others as %XX)"
        )
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as problem:
        raise RemoteError(f"it is no address ({problem})") from None
    if not parts.hostname:
        raise RemoteError("it names no host")
    if parts.username or parts.password:
        raise RemoteError("it carries a user or password")
    return parts


def _join(parts: SplitResult, location: str) -> str:
    try:
        return urljoin(parts.geturl(), location)
    except ValueError as problem:
        raise RemoteError(f"{parts.hostname} leads on, but it is no address ({problem})") from None


def _secret_in(parts: SplitResult) -> str:
    names = (name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return next((name for name in names if name.lower() in _SECRETS), "")


def _is_listed(parts: SplitResult, entries: Iterable[str]) -> bool:
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    for entry in entries:
        name, _, wanted = entry.lower().partition(":")
        is_below = name.startswith("*.") and host.endswith(name[1:])
        if (host == name or is_below) and port in ({int(wanted)} if wanted else {80, 443}):
            return True
    return False


def _answer(response: http.client.HTTPResponse, host: str, at_most: int) -> bytes | str:
    status = response.status
    if status in {301, 302, 303, 307, 308}:
        if location := response.headers.get("Location"):
            return str(location)
        raise RemoteError(f"{host} answered {status} without saying where to")
    if status != 200:
        waits = response.headers.get("Retry-After", "")
        raise RemoteError(
            f"{host} answered {status}",
            is_passing=status in _PASSING,
            wait=float(waits) if waits.isascii() and waits.isdigit() else 0.0,
        )
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise RemoteError(f"{host} sends it packed, though plain bytes were asked for")
    stated = response.length
    too_large = f"it has more than {at_most / 2**20:,.0f} MB"
    if stated is not None and stated > at_most:
        raise RemoteError(too_large)
    content = response.read(at_most + 1)
    if len(content) > at_most:
        raise RemoteError(too_large)
    if stated is not None and len(content) < stated:
        raise RemoteError(f"{host}: cut off after {len(content):,} bytes", is_passing=True)
    return content


def _why(problem: Exception) -> str:
    return str(getattr(problem, "strerror", None) or type(problem).__name__)
