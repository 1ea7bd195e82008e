"""A WSGI application without a database, for tests of the server that runs it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from config.running.gate import Visitors

SIZE = 32 * 2**20  # more than the buffers of a connection take
BLOCK = bytes(range(256)) * 256
SLOW_SECONDS = 0.5


class NamedVisitors(Visitors):
    """Everybody is who the header X-Person says, from the network that X-Network says."""

    def address(self, environ: dict[str, Any]) -> str:
        return str(environ.get("HTTP_X_NETWORK", "here"))

    def credential(self, environ: dict[str, Any]) -> str | None:
        return environ.get("HTTP_X_PERSON")

    def person(self, environ: dict[str, Any]) -> str | None:
        name = str(environ["HTTP_X_PERSON"])
        return None if name.startswith("forged") else name

    def has_room(self, n_bytes: int) -> bool:
        return not Path(os.environ["LARGE_FILE"]).with_name("full").exists()


visitors = NamedVisitors()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer with a file, a large answer, after a while, or with the hash of the body."""
    match environ["PATH_INFO"]:
        case "/file":
            file = Path(os.environ["LARGE_FILE"]).open("rb")  # noqa: SIM115  (the server's to close)
            start_response("200 OK", [("Content-Length", str(SIZE))])
            return environ["wsgi.file_wrapper"](file)  # type: ignore[no-any-return]
        case "/made":
            start_response("200 OK", [("Content-Type", "text/plain")])
            return (BLOCK for _ in range(SIZE // len(BLOCK)))
        case "/slow" | "/judge/slow":
            time.sleep(SLOW_SECONDS)
            start_response("200 OK", [])
            return [b"slow"]
        case _:
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [hashlib.sha256(body).hexdigest().encode()]
