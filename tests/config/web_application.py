"""A WSGI application without a database, for tests of the server that runs it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SIZE = 32 * 2**20  # more than the buffers of a connection take
BLOCK = bytes(range(256)) * 256


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer with a large file, a large answer that is made, or the hash of what came."""
    match environ["PATH_INFO"]:
        case "/file":
            file = Path(os.environ["LARGE_FILE"]).open("rb")  # noqa: SIM115  (the server's to close)
            start_response("200 OK", [("Content-Length", str(SIZE))])
            return environ["wsgi.file_wrapper"](file)  # type: ignore[no-any-return]
        case "/made":
            start_response("200 OK", [("Content-Type", "text/plain")])
            return (BLOCK for _ in range(SIZE // len(BLOCK)))
        case _:
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [hashlib.sha256(body).hexdigest().encode()]
