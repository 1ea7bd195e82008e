"""The gate of a web process: one party cannot use up what others need.

The processes run a small application that takes `X-Person` for who asks.
"""

from __future__ import annotations

import http.client
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from config.running.budgets import BUDGETS, MIB, STRANGER_BODY, Kind
from tests.config.web_application import BLOCK, SIZE, SLOW_SECONDS
from tests.waiting import wait_until
from tests.webserver import WebServer

pytestmark = [pytest.mark.faults]

N_SOCKETS, N_CONNECTIONS = 60, 32
PATIENCE = SLOW_SECONDS + 0.3  # of a judge who waits for one slow answer at most
Headers = dict[str, str]
JUDGE = {"X-Person": "judge"}


class Disk:
    """The folder of temporary files, and whether the server takes its disk for full."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def held(self) -> int:
        """Bytes of temporary files, with or without a name."""
        held = 0
        for process in self.processes:
            for path in Path(f"/proc/{process}/fd").iterdir():
                with suppress(FileNotFoundError):  # closed meanwhile
                    if str(self.folder) in str(path.readlink()):
                        held += path.stat().st_size
        return held

    processes: tuple[int, ...] = ()


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    return Disk(tmp_path_factory.mktemp("spool"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, disk: Disk) -> Iterator[WebServer]:
    path = tmp_path_factory.mktemp("web") / "large"
    path.write_bytes(BLOCK * (SIZE // len(BLOCK)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LARGE_FILE", str(path))
        patch.setenv("TMPDIR", str(disk.folder))
        server = WebServer("tests.config.web_application:application")
        server.start()
        disk.processes = tuple(process.pid for process in server.processes)
        yield server
        server.close()


@contextmanager
def connected(server: WebServer) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        yield connection
    finally:
        connection.close()


def ask(server: WebServer, path: str, headers: Headers, body: bytes | None = None) -> int:
    """Return the status of an answer on a connection of its own."""
    with connected(server) as connection:
        connection.request("GET" if body is None else "POST", path, body, headers)
        reply = connection.getresponse()
        reply.read()
        return reply.status


def begin_upload(
    server: WebServer, opened: ExitStack, headers: Headers, n_bytes: int, n_sent: int
) -> http.client.HTTPConnection:
    """Announce a body, send a part of it, and keep the connection open."""
    connection = opened.enter_context(connected(server))
    connection.putrequest("POST", "/")
    for name, value in {**headers, "Content-Length": str(n_bytes)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    with suppress(OSError):  # refused as it began
        connection.send(bytes(n_sent))
    return connection


@contextmanager
def crowd(server: WebServer, path: str, headers: Headers) -> Iterator[None]:
    """Ask on 32 connections, again and again, until the block ends."""
    is_over = threading.Event()

    def ask_again() -> None:
        with connected(server) as connection:
            while not is_over.is_set():
                connection.request("GET", path, headers=headers)
                connection.getresponse().read()

    threads = [threading.Thread(target=ask_again) for _ in range(N_CONNECTIONS)]
    for thread in threads:
        thread.start()
    time.sleep(SLOW_SECONDS / 2)
    yield
    is_over.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("who", [{}, {"X-Person": "forged"}], ids=["nobody", "forged"])
def test_sixty_strangers_bodies_take_no_disk_and_are_refused_as_they_begin(
    server: WebServer, disk: Disk, who: Headers
) -> None:
    with ExitStack() as opened:
        bodies = [begin_upload(server, opened, who, 25 * MIB, 4 * MIB) for _ in range(N_SOCKETS)]
        replies = [body.getresponse() for body in bodies]
        assert {reply.status for reply in replies} == {413}
        assert {reply.headers["Connection"] for reply in replies} == {"close"}
        assert disk.held() == 0


def test_a_strangers_body_of_unstated_length_ends_at_the_same_size(server: WebServer) -> None:
    with connected(server) as connection:
        connection.request("POST", "/", iter([bytes(STRANGER_BODY), b"x"]), encode_chunked=True)
        assert connection.getresponse().status == 413
    assert ask(server, "/", {}, bytes(STRANGER_BODY)) == 200


def test_the_bodies_of_one_person_are_bounded_together(server: WebServer, disk: Disk) -> None:
    n_sent = 24 * MIB
    most = BUDGETS[Kind.PERSON].held
    with ExitStack() as opened:
        for _ in range(2 * (2 * most // n_sent)):
            begin_upload(server, opened, {"X-Person": "flooder"}, n_sent + 1000, n_sent)
        assert disk.held() <= len(server.processes) * most
        assert ask(server, "/", JUDGE, bytes(MIB)) == 200  # others go on
    wait_until(lambda: disk.held() == 0)


def test_below_the_floor_nothing_is_spooled_and_short_bodies_pass(
    server: WebServer, disk: Disk
) -> None:
    full = Path(os.environ["LARGE_FILE"]).with_name("full")
    full.touch()
    try:
        with ExitStack() as opened:
            reply = begin_upload(server, opened, JUDGE, MIB, MIB).getresponse()
            assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
        assert ask(server, "/", JUDGE, bytes(1000)) == 200
        assert ask(server, "/made", JUDGE) == 503  # an answer that would be spooled
    finally:
        full.unlink()
    assert ask(server, "/", JUDGE, bytes(MIB)) == 200
    wait_until(lambda: disk.held() == 0)


@pytest.mark.parametrize(
    ("path", "who"),
    [("/slow", {}), ("/slow", {"X-Person": "researcher"}), ("/judge/slow", {"X-Person": "ada"})],
    ids=["stranger", "researcher", "judge"],
)
def test_thirty_two_connections_of_one_party_do_not_delay_a_judge(
    server: WebServer, path: str, who: Headers
) -> None:
    with crowd(server, path, who):
        for _ in range(5):
            began = time.perf_counter()
            assert ask(server, "/judge/", JUDGE) == 200
            assert time.perf_counter() - began < 0.3
        began = time.perf_counter()
        assert ask(server, "/", {"X-Person": "reader"}) == 200
        assert ask(server, "/", {"X-Network": "there"}) == 200
        assert time.perf_counter() - began < 2 * PATIENCE


def test_sessions_that_do_not_exist_make_nobody_a_person(server: WebServer) -> None:
    """A new session for each request buys no threads of its own."""
    names = iter(range(10**6))

    def ask_again() -> None:
        while not is_over.is_set():
            ask(server, "/judge/slow", {"X-Person": f"forged {next(names)}"})

    is_over = threading.Event()
    threads = [threading.Thread(target=ask_again) for _ in range(N_CONNECTIONS)]
    for thread in threads:
        thread.start()
    time.sleep(SLOW_SECONDS / 2)
    began = time.perf_counter()
    assert ask(server, "/judge/", {"X-Person": "somebody new"}) == 200
    assert time.perf_counter() - began < 0.3
    is_over.set()
    for thread in threads:
        thread.join()


def test_probes_are_answered_while_pages_wait(server: WebServer) -> None:
    with crowd(server, "/slow", {}):
        began = time.perf_counter()
        assert ask(server, "/livez", {}) == 200
        assert time.perf_counter() - began < 0.3
