"""HTTP with the standard library: JSON, multipart uploads that stream, downloads that resume.

Redirects are not followed: the standard library would carry the token to wherever they lead.
"""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from lookalike.client.errors import ConnectionFailedError, UnexpectedAnswerError, error_class

BLOCK = 2**20
Query = Mapping[str, Any]


class _StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: object) -> None:
        return None


class Transport:
    """One site and one token."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ValueError(f"Not the address of a site: {url!r}. Give https://host.")
        if token and (not token.isascii() or not token.isprintable() or " " in token):
            raise ValueError("Not an access token: it holds spaces or other odd characters.")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._headers = {"User-Agent": "lookalike-client", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._opener = urllib.request.build_opener(_StayHere)

    def get(self, path: str, query: Query | None = None) -> Any:
        """Return the JSON at an address of the API."""
        text = urllib.parse.urlencode(
            {name: value for name, value in (query or {}).items() if value not in ("", None)},
            doseq=True,
        )
        with self.opened(f"/api/v1{path}{'?' if text else ''}{text}") as reply:
            return _json(reply)

    def send(self, path: str, fields: Mapping[str, str], files: Mapping[str, Path]) -> Any:
        """Send a form with files, a block at a time, and return the JSON of the answer."""
        boundary = secrets.token_hex(16)
        head, n_bytes = _measured(boundary, fields, files)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(n_bytes),
        }
        body = _body(boundary, head, files)
        with self.opened(f"/api/v1{path}", headers=headers, body=body) as reply:
            return _json(reply)

    @contextmanager
    def opened(
        self,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: Iterable[bytes] | None = None,
    ) -> Iterator[HTTPResponse]:
        """Yield the answer to a GET, or to a POST where there is a body.

        Raises:
            ApiError: the site refuses.
            ConnectionFailedError: it is not reached, or the connection breaks.
        """
        request = urllib.request.Request(  # noqa: S310  (http or https: see __init__)
            self.url + address,
            data=body,
            headers={**self._headers, **(headers or {})},
            method="GET" if body is None else "POST",
        )
        try:
            with self._opener.open(request, timeout=self.timeout) as reply:
                yield reply
        except urllib.error.HTTPError as problem:
            with problem:
                raise _refusal(problem) from None
        except (urllib.error.URLError, HTTPException, OSError) as problem:
            reason = getattr(problem, "reason", problem)
            raise ConnectionFailedError(f"{self.url} is not reached: {reason}") from problem


def _json(reply: HTTPResponse) -> Any:
    content = reply.read()
    try:
        return json.loads(content)
    except ValueError:
        raise UnexpectedAnswerError(f"{reply.url} does not answer in JSON.") from None


def _refusal(problem: urllib.error.HTTPError) -> Exception:
    try:
        said = json.loads(problem.read())
        details = [(one["where"], one["message"]) for one in said["details"]]
        wait = problem.headers.get("Retry-After", "")
        return error_class(problem.code)(
            problem.code,
            said["code"],
            said["message"],
            details,
            int(wait) if wait.isdigit() else None,
        )
    except (ValueError, KeyError, TypeError):
        where = problem.headers.get("Location")
        moved = f" It has moved to {where}; give that address." if where else ""
        return UnexpectedAnswerError(
            f"{problem.url} answers {problem.code}, not as a Lookalike site does.{moved}"
        )


def _quoted(name: str) -> str:
    return name.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_")


def _measured(
    boundary: str, fields: Mapping[str, str], files: Mapping[str, Path]
) -> tuple[dict[str, bytes], int]:
    """Return what stands before each part, and the length of the whole."""
    head = {}
    for name, value in fields.items():
        text = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        head[name] = text.encode()
    for name, path in files.items():
        text = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; '
            f'filename="{_quoted(path.name)}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        )
        head[name] = text.encode()
    n_bytes = sum(map(len, head.values())) + len(f"--{boundary}--\r\n")
    return head, n_bytes + sum(path.stat().st_size + 2 for path in files.values())


def _body(boundary: str, head: Mapping[str, bytes], files: Mapping[str, Path]) -> Iterator[bytes]:
    for name, content in head.items():
        yield content
        if name in files:
            with files[name].open("rb") as file:
                while block := file.read(BLOCK):
                    yield block
            yield b"\r\n"
    yield f"--{boundary}--\r\n".encode()
