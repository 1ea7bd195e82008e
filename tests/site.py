"""A whole site in a data folder of its own: web server, workers, database and broker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psutil

from config import settings
from tests.made_tables import copy_tables
from tests.ports import free_port
from tests.waiting import wait_until

# Code that comes as a line of JSON is run, and answered by a line: Django is set up once.
RUNNER = """
import contextlib, json, sys, traceback
import django
django.setup()
from django.db import connections
for line in sys.stdin:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(json.loads(line), {})
        outcome = "done"
    except BaseException:
        outcome = traceback.format_exc()
    connections.close_all()
    print(json.dumps(outcome), flush=True)
"""


class Site:
    """A server in a data folder of its own; a new one makes its tables itself."""

    def __init__(self, data_dir: Path, *, is_new: bool = False) -> None:
        self.data_dir = data_dir
        self.is_new = is_new
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.runner: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        if not self.is_new and not (self.data_dir / "postgres").exists():
            copy_tables(self.data_dir)
        path = self.data_dir.parent / "site.log"
        path.unlink(missing_ok=True)
        log = path.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "config.server", "--port", str(self.port)],
            cwd=settings.BASE_DIR,
            env={**os.environ, "LOOKALIKE_DATA": str(self.data_dir)},
            stdout=log,
            stderr=log,
        )
        log.close()
        wait_until(self.answers_or_ended)
        assert self.process.poll() is None, self.log()

    def log(self) -> str:
        """What the site has printed."""
        return (self.data_dir.parent / "site.log").read_text()

    def answers_or_ended(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            return True
        return "Lookalike is at" in self.log() and self.answers()  # not a leftover's answer

    def answers(self) -> bool:
        url = f"{self.url}/accounts/login/"
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:  # noqa: S310  (our own address)
                return bool(reply.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def processes(self, word: str = "") -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                is_mine = process.environ().get("LOOKALIKE_SERVER") == str(self.data_dir)
                if is_mine and word in " ".join(process.cmdline()):
                    found.append(process)
            except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        return found

    def run(self, code: str) -> None:
        """Run Python with Django set up on this site's database."""
        if self.runner is None:
            self.runner = subprocess.Popen(
                [sys.executable, "-c", RUNNER],
                cwd=settings.BASE_DIR,
                env={**os.environ, "LOOKALIKE_DATA": str(self.data_dir)},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        assert self.runner.stdin is not None
        assert self.runner.stdout is not None
        self.runner.stdin.write(json.dumps(code) + "\n")
        self.runner.stdin.flush()
        outcome = json.loads(self.runner.stdout.readline())
        assert outcome == "done", outcome

    def end(self) -> None:
        """Stop whatever is left."""
        if self.runner is not None:
            self.runner.communicate(timeout=60)
            self.runner = None
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)
        for process in self.processes():
            process.kill()

    def interrupt(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)
