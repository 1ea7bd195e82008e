"""Hold connections while judges judge: `python -m benchmarks.connections`.

The whole site runs as `script/server` runs it, in a data folder of its own. A hundred judges
give an answer every 1.5 s each, and visitors open pages on new connections, ten a second. In
turns, nobody else is there; then, from one machine,

- `slow bodies`: senders of a sign-in form that announce a megabyte, send two bytes and wait;
- `stalled downloads`: readers of a public archive of 200 MB that read nothing;
- `idle`: kept-alive connections that have fetched a picture, six for each of 500 browsers;

are held at once, and opened again when the server closes them. Last, a web process is killed
(-9) every ten seconds. An answer or page that takes longer than ten seconds has hung.
"""

from __future__ import annotations

import argparse
import http.client
import os
import resource
import socket
import statistics
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import django

from benchmarks.judging import Client

PACE_SECONDS = 1.5  # from one answer of a judge to the next
PAGE_SECONDS = 0.1  # from one page to the next
HUNG_SECONDS = 10
ARCHIVE_BYTES = 200 * 2**20
PAGES = ("/accounts/login/", "/judge/")
HEAD = f"Host: localhost\r\nCookie: csrftoken={'c' * 32}\r\n"
FIRST_BYTES = {
    "slow bodies": f"POST /accounts/login/ HTTP/1.1\r\n{HEAD}Content-Length: 1000000\r\n\r\na=",
    "stalled downloads": f"GET /releases/large/1.0.0/archive.zip HTTP/1.1\r\n{HEAD}\r\n",
    "idle": f"GET /static/img/logo.svg HTTP/1.1\r\n{HEAD}\r\n",
}


@dataclass
class Figures:
    """What one group of clients has seen in one turn."""

    milliseconds: list[float] = field(default_factory=list)
    n_refused: int = 0
    n_broken: int = 0
    n_hung: int = 0

    def time(self, step: Callable[[], object]) -> bool:
        """Take a step, count how it ends, and return whether it went well."""
        began = time.perf_counter()
        try:
            step()
        except TimeoutError:
            self.n_hung += 1
        except ConnectionRefusedError:
            self.n_refused += 1
        except (AssertionError, http.client.HTTPException, OSError):
            self.n_broken += 1
        else:
            self.milliseconds.append(1000 * (time.perf_counter() - began))
            return True
        return False

    def __str__(self) -> str:
        found = sorted(self.milliseconds) or [0.0]
        return (
            f"{len(self.milliseconds):6} | {statistics.median(found):6.0f} | "
            f"{found[int(0.95 * len(found))]:6.0f} | {found[-1]:6.0f} | "
            f"{self.n_refused:3} | {self.n_broken:3} | {self.n_hung:3}"
        )


# ---- who holds connections ----
class Crowd:
    """Connections of one kind, opened again when they are closed."""

    def __init__(self, port: int, first: str, n: int) -> None:
        self.port, self.first, self.n = port, first.encode(), n
        self.held: list[socket.socket] = []
        self.n_reopened = 0

    def keep(self) -> None:
        """Open what is missing."""
        for connection in self.held:
            try:
                is_open = bool(connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
            except BlockingIOError:
                is_open = True
            except OSError:
                is_open = False
            if not is_open:
                connection.close()
                self.n_reopened += 1
        self.held = [connection for connection in self.held if connection.fileno() >= 0]
        while len(self.held) < self.n:
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=HUNG_SECONDS)
            connection.sendall(self.first)
            if self.first.startswith(b"GET /static"):
                while connection.recv(2**16).rfind(b"</svg>") < 0:
                    pass
            self.held.append(connection)

    def close(self) -> None:
        """Hang up."""
        for connection in self.held:
            connection.close()


@contextmanager
def crowds(port: int, sizes: dict[str, int]) -> Iterator[list[Crowd]]:
    """Hold connections until the block ends."""
    found = [Crowd(port, FIRST_BYTES[kind], n) for kind, n in sizes.items()]
    for crowd in found:
        crowd.keep()
    is_over = threading.Event()

    def keep() -> None:
        while not is_over.wait(1):
            for crowd in found:
                crowd.keep()

    keeper = threading.Thread(target=keep)
    keeper.start()
    try:
        yield found
    finally:
        is_over.set()
        keeper.join()
        for crowd in found:
            crowd.close()


@contextmanager
def killer(site: Any) -> Iterator[None]:
    """Kill a web process every ten seconds."""
    is_over = threading.Event()

    def kill() -> None:
        while True:
            site.processes("config.web")[0].kill()
            if is_over.wait(10):
                return

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    is_over.set()
    thread.join()


# ---- who works ----
def judge(client: Client, campaign: str, until: float, figures: Figures) -> None:
    """Answer a pair every PACE_SECONDS; after a broken connection begin again with the next."""
    steps = client.judge(campaign)
    while time.monotonic() < until:
        began = time.monotonic()
        if not figures.time(lambda: next(steps)):  # noqa: B023  (called at once)
            client.connection.close()
            steps = client.judge(campaign)
        time.sleep(max(0.0, began + PACE_SECONDS - time.monotonic()))


def visit(port: int, session: str, until: float, figures: Figures) -> None:
    """Open a page on a new connection every PAGE_SECONDS."""
    n = 0
    while time.monotonic() < until:
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HUNG_SECONDS)
        figures.time(lambda: fetch(connection, PAGES[n % len(PAGES)], session))  # noqa: B023
        n += 1
        time.sleep(max(0.0, began + PAGE_SECONDS - time.monotonic()))


def fetch(connection: http.client.HTTPConnection, path: str, session: str) -> None:
    """Open a page, and hang up; a server's error is an OSError."""
    try:
        connection.request("GET", path, headers={"Cookie": f"sessionid={session}"})
        reply = connection.getresponse()
        reply.read()
        if reply.status >= 500:
            raise OSError(f"{path}: {reply.status}")
    finally:
        connection.close()


def turn(port: int, known: dict[str, Any], seconds: float) -> tuple[Figures, Figures]:
    """Let judges judge and visitors visit; return the figures of both."""
    answers, pages = Figures(), Figures()
    until = time.monotonic() + seconds
    clients = [Client(port, session) for session in known["sessions"]]
    campaign = known["campaigns"]["everyone"]
    for client in clients:
        client.connection.timeout = HUNG_SECONDS
    threads = [
        threading.Thread(target=judge, args=(client, campaign, until, answers))
        for client in clients
    ]
    threads.append(threading.Thread(target=visit, args=(port, known["sessions"][0], until, pages)))
    for thread in threads:
        thread.start()
        time.sleep(PACE_SECONDS / len(threads))  # judges do not answer in step
    for thread in threads:
        thread.join()
    for client in clients:
        client.connection.close()
    return answers, pages


def make_release() -> None:
    """Store a public release with a large archive."""
    releases = import_module("releases.models")
    path = import_module("releases.storage").archive_path
    release = releases.Release.objects.create(
        slug="large", title="Large", major=1, minor=0, patch=0, visibility="public",
        seal="0" * 64, archive_sha256="0" * 64, archive_bytes=ARCHIVE_BYTES,
    )  # fmt: skip
    path(release).parent.mkdir(parents=True)
    with zipfile.ZipFile(path(release), "w") as archive:
        archive.writestr("images", os.urandom(ARCHIVE_BYTES))


def main() -> int:
    """Prepare, measure in turns, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40.0, help="of each turn")
    parser.add_argument("--judges", type=int, default=100)
    parser.add_argument("--slow", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=40)
    parser.add_argument("--idle", type=int, default=3000)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "var"
        os.environ["LOOKALIKE_DATA"] = str(data)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        os.environ["LOG_LEVEL"] = "ERROR"
        embedded = import_module("config.embedded")  # reads the environment set above
        services = import_module("config.settings").SERVICES
        embedded.hold_services(services)
        site = import_module("tests.site").Site(data, is_new=True)
        try:
            _run(site, options)
        finally:
            site.end()
            embedded.stop_services(services)
    return 0


def _run(site: Any, options: argparse.Namespace) -> None:
    django.setup()
    campaigns = import_module("benchmarks.judging_site.campaigns")
    known = campaigns.prepare(200, options.judges)
    make_release()
    site.start()
    turn(site.port, known, 5)  # warms up
    sizes = dict(zip(FIRST_BYTES, (options.slow, options.stalled, options.idle), strict=True))
    print("turn | who | done | p50 ms | p95 ms | most ms | refused | broken | hung | load")

    def measure(name: str) -> None:
        found = turn(site.port, known, options.seconds)
        for who, figures in zip(("answers", "pages"), found, strict=True):
            print(f"{name} | {who} | {figures} | {os.getloadavg()[0]:.1f}", flush=True)

    measure("nobody else")
    with crowds(site.port, sizes) as held:
        measure("held connections")
        for kind, crowd in zip(sizes, held, strict=True):
            print(f"  {kind}: {len(crowd.held)} held, {crowd.n_reopened} opened again")
    with killer(site):
        measure("processes killed")
    print(f"counters that differ from a recount: {campaigns.differences()}")


if __name__ == "__main__":
    sys.exit(main())
