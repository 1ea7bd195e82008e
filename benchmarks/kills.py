"""Kill each process of a site under load: `python -m benchmarks.kills [--deployed]`.

The whole site runs as `script/server` runs it, in a data folder of its own, or as `deploy/` has
it: nginx, the units of `deploy/systemd`, PostgreSQL and Valkey apart. Visitors open ten
pages a second on new connections, each of which asks the database, and a judge gives an answer
twice a second, until it is acknowledged. In turns, one process of each kind is killed (-9). An
answer is sent again until it is acknowledged, as the judging page does; those that were must be
there at the end.
"""

from __future__ import annotations

import argparse
import http.client
import os
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import psutil

from benchmarks.connections import Figures, fetch
from benchmarks.judging import Client

Find = Callable[[], psutil.Process]


def of_database(data: Path) -> dict[str, Find]:
    """Return one process of each kind of PostgreSQL's and Valkey's in a data folder."""

    def postmaster() -> psutil.Process:
        pid_file = data / "postgres" / "postmaster.pid"
        return psutil.Process(int(pid_file.read_text().split()[0]))

    def child(words: str) -> psutil.Process:
        found = [one for one in postmaster().children() if words in " ".join(one.cmdline())]
        return found[0]

    return {
        "PostgreSQL": postmaster,
        "a PostgreSQL connection": lambda: child("[local]"),
        "PostgreSQL's writer": lambda: child("background writer"),
        "Valkey": lambda: psutil.Process(int((data / "valkey" / "pid").read_text())),
    }


class Embedded:
    """The site as `script/server` runs it."""

    def __init__(self, folder: Path) -> None:
        os.environ["LOOKALIKE_DATA"] = str(folder / "var")
        self.services = import_module("config.settings").SERVICES
        self.site = import_module("tests.site").Site(folder / "var", is_new=True)

    def start(self) -> None:
        """Start all of it."""
        self.site.start()

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection that is opened when it is used."""
        return http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=60)

    def processes(self) -> dict[str, Find]:
        """Return one process of each kind, found when it is asked for."""

        def of_us(word: str) -> Find:
            return lambda: self.site.processes(word)[0]

        def child_of(word: str) -> Find:
            return lambda: first_child(of_us(word)())

        assert self.site.process is not None
        server = psutil.Process(self.site.process.pid)
        return {
            "a web process": of_us("config.web"),
            "the supervisor": of_us("supervisord"),
            "the light worker": of_us("--queues light"),
            "a child of the light worker": child_of("--queues light"),
            "the device worker": of_us("--queues device"),
            **of_database(self.services.data_dir),
            "the server, which kept them": lambda: server,  # last: nobody starts it again
        }

    def end(self) -> None:
        """End what is left."""
        self.site.end()


def first_child(process: psutil.Process) -> psutil.Process:
    """Return its first child; one that was started just now may have none yet."""
    while not (children := process.children()):
        time.sleep(0.05)
    return children[0]


class Judge:
    """A judge who answers pair after pair and sends each answer until it is acknowledged."""

    def __init__(self, connection: http.client.HTTPConnection, session: str, campaign: str) -> None:
        self.client = Client(0, session, connection)
        self.path = f"/judge/{campaign}"
        self.acknowledged: list[str] = []
        self.n_tries = self.n_failed = 0
        self.is_over = threading.Event()

    def ask(self, verb: str, path: str, body: object = None) -> Any:
        while True:
            self.n_tries += 1
            try:
                return self.client.ask(verb, path, body)
            except (AssertionError, http.client.HTTPException, OSError):
                self.n_failed += 1
                self.client.connection.close()
                time.sleep(0.5)

    def work(self) -> None:
        served = self.ask("GET", f"{self.path}/next?n=1")["questions"]
        while served and not self.is_over.wait(0.5):
            now = datetime.now(UTC).isoformat()
            answer = {
                "uuid": str(uuid.uuid4()), "question": served[0]["uid"], "answer": "similar",
                "reason": "", "mode": "pair", "device": "keyboard", "guideline_version": 1,
                "shown_at": now, "decided_at": now, "visible_ms": 900, "load_ms": 0,
                "undoes": None,
            }  # fmt: skip
            body = {"answers": [answer], "next": {"after": served[0]["position"], "n": 1}}
            reply = self.ask("POST", f"{self.path}/answers", body)
            assert reply["results"][0]["status"] in {"saved", "duplicate"}, reply
            self.acknowledged.append(answer["uuid"])
            served = reply["questions"]


def visit(site: Any, session: str, seconds: float) -> Figures:
    """Open ten pages a second, each in a thread of its own."""
    figures = Figures()

    def open_page() -> None:
        figures.time(lambda: fetch(site.connection(), "/judge/", session))

    visits = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        visits.append(threading.Thread(target=open_page))
        visits[-1].start()
        time.sleep(0.1)
    for one in visits:
        one.join()
    return figures


def main() -> int:
    """Prepare, kill in turns, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of each turn")
    parser.add_argument("--deployed", action="store_true", help="as deploy/ has it, behind nginx")
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["LOG_LEVEL"] = "ERROR"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.deployed:
            site = import_module("benchmarks.deployed").Deployed(folder)
        else:
            site = Embedded(folder)
        embedded = import_module("config.embedded")
        (site.services.data_dir / "run").mkdir(parents=True, exist_ok=True)
        embedded.hold_services(site.services)
        django.setup()
        known = import_module("benchmarks.judging_site.campaigns").prepare(2000, 3)
        import_module("django.db").connection.close()
        site.start()
        try:
            return _run(site, known, options.seconds)
        finally:
            site.end()
            embedded.stop_services(site.services)


def _run(site: Any, known: dict[str, Any], seconds: float) -> int:
    judge = Judge(site.connection(), known["sessions"][1], known["campaigns"]["everyone"])
    judging = threading.Thread(target=judge.work)
    judging.start()
    visit(site, known["sessions"][0], 5)
    print("killed | pages | failed | most ms | judge's requests | failed")
    worst = 0.0
    for kind, find in site.processes().items():
        n_tries, n_failed = judge.n_tries, judge.n_failed
        killer = threading.Timer(seconds / 5, lambda find=find: find().kill())
        killer.start()
        figures = visit(site, known["sessions"][0], seconds)
        killer.join()
        bad = figures.n_refused + figures.n_broken + figures.n_hung
        n = len(figures.milliseconds) + bad
        print(
            f"{kind} | {n} | {bad / n:.2%} | {max(figures.milliseconds):.0f} | "
            f"{judge.n_tries - n_tries} | {judge.n_failed - n_failed}",
            flush=True,
        )
        worst = max(worst, bad / n)
    judge.is_over.set()
    judging.join()
    events = import_module("annotation.models").JudgementEvent.objects
    n_stored = events.filter(uuid__in=judge.acknowledged).count()
    print(f"acknowledged {len(judge.acknowledged)}, stored {n_stored}")
    return int(worst > 0.01 or n_stored < len(judge.acknowledged))


if __name__ == "__main__":
    sys.exit(main())
