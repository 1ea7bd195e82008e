"""Kill each process of a site under load: `python -m benchmarks.kills`.

The whole site runs as `script/server` runs it, in a data folder of its own. Visitors open ten
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
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import psutil

from benchmarks.connections import Figures, fetch
from benchmarks.judging import Client

Find = Callable[[], psutil.Process]


def processes(site: Any) -> dict[str, Find]:
    """Return one process of each kind, found when it is asked for."""
    services = site.data_dir

    def postmaster() -> psutil.Process:
        pid_file = services / "postgres" / "postmaster.pid"
        return psutil.Process(int(pid_file.read_text().split()[0]))

    def child(words: str) -> psutil.Process:
        found = [one for one in postmaster().children() if words in " ".join(one.cmdline())]
        return found[0]

    def valkey() -> psutil.Process:
        for one in psutil.process_iter():
            with suppress(psutil.Error):
                if "valkey" in one.name() and one.cwd().startswith(str(services)):
                    return one
        raise LookupError("no Valkey in the data folder")

    def of_us(word: str) -> Find:
        return lambda: site.processes(word)[0]

    return {
        "web": of_us("config.web"),
        "supervisor": of_us("supervisord"),
        "light worker": of_us("--queues light"),
        "device worker": of_us("--queues device"),
        "PostgreSQL": postmaster,
        "a PostgreSQL connection": lambda: child("[local]"),
        "PostgreSQL's writer": lambda: child("background writer"),
        "Valkey": valkey,
    }


class Judge:
    """A judge who answers pair after pair and sends each answer until it is acknowledged."""

    def __init__(self, port: int, session: str, campaign: str) -> None:
        self.client = Client(port, session)
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


def visit(port: int, session: str, seconds: float) -> Figures:
    """Open ten pages a second, each in a thread of its own."""
    figures = Figures()

    def open_page() -> None:
        figures.time(lambda: fetch(port, "/judge/", session, timeout=60))

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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "var"
        os.environ["LOOKALIKE_DATA"] = str(data)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        os.environ["LOG_LEVEL"] = "ERROR"
        embedded = import_module("config.embedded")  # reads the environment set above
        services = import_module("config.settings").SERVICES
        embedded.hold_services(services)
        django.setup()
        known = import_module("benchmarks.judging_site.campaigns").prepare(2000, 3)
        import_module("django.db").connection.close()
        site = import_module("tests.site").Site(data)
        site.start()
        try:
            return _run(site, known, options.seconds)
        finally:
            site.end()
            embedded.stop_services(services)


def _run(site: Any, known: dict[str, Any], seconds: float) -> int:
    judge = Judge(site.port, known["sessions"][1], known["campaigns"]["everyone"])
    judging = threading.Thread(target=judge.work)
    judging.start()
    visit(site.port, known["sessions"][0], 5)
    print("killed | pages | failed | most ms | judge's requests | failed")
    worst = 0.0
    for kind, find in processes(site).items():
        n_tries, n_failed = judge.n_tries, judge.n_failed
        killer = threading.Timer(seconds / 5, lambda find=find: find().kill())
        killer.start()
        figures = visit(site.port, known["sessions"][0], seconds)
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
