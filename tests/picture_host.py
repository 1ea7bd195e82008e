"""A web server that holds pictures, and answers as badly as it is told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PictureHost:
    """What it holds by path, and which paths were asked for.

    Attributes:
        files: path to bytes.
        answers: path to a function that writes another answer.
        asked: paths, in the order of the requests.
        hosts: what requests called it.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.asked: list[str] = []
        self.hosts: set[str] = set()
        self.pause = 0.0
        self.port = 0

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.name}/{path}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.removeprefix("/")
        self.asked.append(path)
        self.hosts.add(handler.headers["Host"])
        time.sleep(self.pause)
        if path in self.answers:
            return self.answers[path](handler)
        content = self.files.get(path.partition("?")[0])
        if content is None:
            return status(404)(handler)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
        return None


def status(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@contextmanager
def picture_host() -> Iterator[PictureHost]:
    """Run a host on this machine."""
    host = PictureHost()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.answer(self)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    host.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
