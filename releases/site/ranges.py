"""Serve a file so that an interrupted download can go on: HTTP ranges, RFC 9110 section 14."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase

_BLOCK = 2**18
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def file_response(
    request: HttpRequest, path: Path, *, name: str, content_type: str, sha256: str
) -> HttpResponseBase:
    """Return a file, or the part of it that was asked for.

    The hash is the strong ETag, so that a part is never joined to another file. Several ranges
    at once are answered with the whole file, as a server may.
    """
    size = path.stat().st_size
    etag = f'"{sha256}"'
    headers = {
        "Content-Type": content_type,
        "Content-Disposition": f'attachment; filename="{name}"',
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
    }
    if etag in request.headers.get("If-None-Match", ""):
        return HttpResponse(status=304, headers=headers)
    if settings.X_ACCEL_PREFIX and request.method == "GET":  # the front cuts out the part asked for
        place = quote(str(path.relative_to(settings.DATA_DIR)))
        return HttpResponse(
            headers={**headers, "X-Accel-Redirect": f"{settings.X_ACCEL_PREFIX}{place}"}
        )
    asked = request.headers.get("Range", "")
    if request.headers.get("If-Range", etag) != etag:
        asked = ""
    part = parse_range(asked, size)
    if part == "unsatisfiable":
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    first, last = (0, size - 1) if isinstance(part, str) else part
    headers["Content-Length"] = str(last - first + 1)
    status = 200
    if not isinstance(part, str):
        status = 206
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers)
    response = FileResponse(_Part(path, first, last), status=status, content_type=content_type)
    response.block_size = _BLOCK
    for header, value in headers.items():
        response[header] = value
    return response


class _Part(io.FileIO):
    """A file from one byte to another, which a web server may also send by its path."""

    def __init__(self, path: Path, first: int, last: int) -> None:
        super().__init__(path)
        self.seek(first)
        self._end = last + 1

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, at most `size`."""
        n_left = self._end - self.tell()
        return super().read(n_left if size is None or size < 0 else min(size, n_left)) or b""


def parse_range(asked: str, size: int) -> tuple[int, int] | str:
    """Return the first and last byte asked for.

    Args:
        asked: the header Range.
        size: of the file.

    Returns:
        Both ends included; "whole" where nothing usable is asked for, "unsatisfiable" where it
        lies past the end.
    """
    match = _RANGE.fullmatch(asked.strip())
    if match is None or match.groups() == ("", ""):
        return "whole"
    begin, end = match.groups()
    if not begin:
        n = min(int(end), size)
        return (size - n, size - 1) if n else "unsatisfiable"
    first = int(begin)
    last = min(int(end), size - 1) if end else size - 1
    if end and int(end) < first:
        return "whole"
    return (first, last) if first < size else "unsatisfiable"


def begins_download(request: HttpRequest) -> bool:
    """Whether a request starts a download, rather than going on with one or asking about it."""
    match = _RANGE.fullmatch(request.headers.get("Range", "").strip())
    return request.method == "GET" and (match is None or match.group(1) in {"", "0"})
