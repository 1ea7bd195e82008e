"""The web server's own promises: who is slow, stalled or idle, or a process that dies, stops
nobody else. Its processes run a small application here, so that they start at once.
"""

from __future__ import annotations

import hashlib
import http.client
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.config.web_application import BLOCK, SIZE
from tests.webserver import WebServer

pytestmark = [pytest.mark.faults]

N_SLOW, N_STALLED, N_IDLE = 40, 40, 300
HEAD = b"Host: localhost\r\nCookie: csrftoken=" + b"c" * 32 + b"\r\n"
SLOW = b"POST /accounts/login/ HTTP/1.1\r\n" + HEAD + b"Content-Length: 60000\r\n\r\na="


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    path = tmp_path_factory.mktemp("web") / "large"
    path.write_bytes(BLOCK * (SIZE // len(BLOCK)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LARGE_FILE", str(path))
        server = WebServer("tests.config.web_application:application")
        server.start()
        yield server
        server.close()


@pytest.fixture
def opened(server: WebServer) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def connect(server: WebServer, opened: ExitStack, first: bytes) -> socket.socket:
    """Open a connection and send this; it stays open until the test ends."""
    connection = opened.enter_context(socket.create_connection(("127.0.0.1", server.port), 30))
    connection.sendall(first)
    return connection


def fetch(server: WebServer, path: str, body: bytes | None = None) -> bytes:
    """Return the answer to a request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=25)
    try:
        connection.request("POST" if body is not None else "GET", path, body, {"X-Person": "grace"})
        return connection.getresponse().read()
    finally:
        connection.close()


def is_open(connection: socket.socket) -> bool:
    """Whether the server has neither answered nor hung up."""
    connection.setblocking(False)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True


def test_slow_stalled_and_idle_connections_hold_up_nobody(
    server: WebServer, opened: ExitStack
) -> None:
    slow = [connect(server, opened, SLOW) for _ in range(N_SLOW)]
    stalled = [
        connect(server, opened, b"GET /%b HTTP/1.1\r\n%b\r\n" % (path, HEAD))
        for path in (b"file", b"made")
        for _ in range(N_STALLED // 2)
    ]
    idle = [connect(server, opened, b"") for _ in range(N_IDLE)]
    for _ in range(5):
        assert fetch(server, "/")
    assert all(is_open(connection) for connection in slow + stalled + idle)  # none had to go


@pytest.mark.parametrize("path", ["/file", "/made"])
def test_a_large_answer_comes_whole(server: WebServer, path: str) -> None:
    assert fetch(server, path) == BLOCK * (SIZE // len(BLOCK))


@pytest.mark.parametrize("n_bytes", [0, 100, 3_000_000, 30_000_000])
def test_a_body_comes_whole(server: WebServer, n_bytes: int) -> None:
    body = (BLOCK * (n_bytes // len(BLOCK) + 1))[:n_bytes]
    assert fetch(server, "/", body) == hashlib.sha256(body).hexdigest().encode()


def test_slow_uploads_hold_up_no_page(server: WebServer, opened: ExitStack) -> None:
    large = SLOW.replace(b"60000", b"100000000").replace(b"Host", b"X-Person: ada\r\nHost")
    uploads = [connect(server, opened, large) for _ in range(N_SLOW)]
    assert fetch(server, "/")
    assert all(is_open(connection) for connection in uploads)


def test_killed_processes_refuse_nobody(server: WebServer) -> None:
    first, second = server.processes
    first.kill()
    first.wait()
    for _ in range(20):
        assert fetch(server, "/")
    second.kill()  # now none is left, and who comes waits in the queue
    second.wait()
    with ThreadPoolExecutor(20) as visitors:
        coming = [visitors.submit(fetch, server, "/") for _ in range(20)]
        server.processes.clear()
        server.start()
        assert all(visit.result() for visit in coming)
