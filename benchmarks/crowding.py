"""Time judges while somebody crowds the site: `python -m benchmarks.crowding`.

The whole site runs as `script/server` runs it, in a data folder of its own. Eight judges give an
answer every 1.5 s each, and a visitor opens ten pages a second. In turns, nobody else is there;
then one party asks on 32 connections, each as soon as its last answer has come:

- `a stranger` for the public list of releases;
- `a researcher` for the page of a campaign;
- `a judge` for the next 200 questions of a campaign;
- `unknown sessions` for the judge's start page, with a new session cookie each time.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import django

from benchmarks.connections import HUNG_SECONDS, Figures, turn

N_JUDGES = 8


def ask_again(port: int, path: str, cookie: Callable[[], str], is_over: threading.Event) -> Figures:
    """Ask for a page again and again on one kept-alive connection; return the figures."""
    figures = Figures()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HUNG_SECONDS)

    def ask() -> None:
        connection.request("GET", path, headers={"Cookie": cookie()})
        reply = connection.getresponse()
        reply.read()
        if reply.status >= 400:
            raise OSError(f"{path}: {reply.status}")

    while not is_over.is_set():
        if not figures.time(ask):
            connection.close()
            is_over.wait(0.1)
    connection.close()
    return figures


@contextmanager
def crowd(port: int, path: str, cookie: Callable[[], str], n: int) -> Iterator[list[Figures]]:
    """Ask on `n` connections until the block ends; the figures are complete after it."""
    is_over, found = threading.Event(), []
    threads = [
        threading.Thread(target=lambda: found.append(ask_again(port, path, cookie, is_over)))
        for _ in range(n)
    ]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def main() -> int:
    """Prepare, measure in turns, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of each turn")
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "var"
        os.environ["LOOKALIKE_DATA"] = str(data)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        os.environ["LOG_LEVEL"] = "CRITICAL"
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


def _parties(known: dict[str, Any], researcher: str) -> dict[str, tuple[str, Callable[[], str]]]:
    """Return what each party asks for, and its cookie."""
    campaign = known["campaigns"]["everyone"]
    return {
        "a stranger": ("/releases/", lambda: ""),
        "a researcher": ("/campaigns/everyone/", lambda: f"sessionid={researcher}"),
        "a judge": (
            f"/judge/{campaign}/next?n=200",
            lambda: f"sessionid={known['sessions'][N_JUDGES]}",
        ),
        "unknown sessions": ("/judge/", lambda: f"sessionid={uuid.uuid4().hex}"),
    }


def _run(site: Any, options: argparse.Namespace) -> None:
    django.setup()
    campaigns = import_module("benchmarks.judging_site.campaigns")
    models = import_module("accounts.models")
    known = campaigns.prepare(2000, N_JUDGES + 1)
    researcher = models.User.objects.create_user("researcher", role=models.Role.ADMIN)
    parties = _parties(known, campaigns.session_of(researcher))
    judges = {**known, "sessions": known["sessions"][:N_JUDGES]}
    site.start()
    turn(site.port, judges, 5)  # warms up
    print("crowded by | who | done | p50 ms | p95 ms | most ms | refused | broken | hung")

    def measure(name: str) -> None:
        for who, figures in zip(
            ("answers", "pages"), turn(site.port, judges, options.seconds), strict=True
        ):
            print(f"{name} | {who} | {figures}", flush=True)

    measure("nobody")
    for name, (path, cookie) in parties.items():
        with crowd(site.port, path, cookie, options.connections) as found:
            time.sleep(1)
            measure(name)
        n_done = sum(len(figures.milliseconds) for figures in found)
        n_not = sum(figures.n_broken + figures.n_hung for figures in found)
        print(f"  {name}: {n_done} answered, {n_not} not", flush=True)


if __name__ == "__main__":
    sys.exit(main())
