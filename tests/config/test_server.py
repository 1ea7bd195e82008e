"""script/server: one supervisor for all processes, which come back when they are killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config import settings

pytestmark = [pytest.mark.faults]
START_SECONDS = 90


class Site:
    """A server in a data folder of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self.data_dir.parent / "site.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "config.server", "--port", str(self.port)],
            cwd=settings.BASE_DIR,
            env={**os.environ, "LOOKALIKE_DATA": str(self.data_dir)},
            stdout=log,
            stderr=log,
        )
        log.close()
        wait_until(self.answers_or_ended)
        assert self.process.poll() is None, (self.data_dir.parent / "site.log").read_text()

    def answers_or_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None or self.answers()

    def answers(self) -> bool:
        url = f"http://127.0.0.1:{self.port}/accounts/login/"
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
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

    def interrupt(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.2)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "var")
    yield site
    if site.process is not None and site.process.poll() is None:
        site.process.send_signal(signal.SIGTERM)
        site.process.wait(timeout=60)
    for process in site.processes():
        process.kill()


def test_killed_processes_come_back_and_ctrl_c_stops_all(site: Site) -> None:
    site.start()
    for word in ("granian", "--queues light", "--queues device"):
        wait_until(lambda word=word: bool(site.processes(word)))  # type: ignore[misc]
        killed = site.processes(word)
        for process in killed:
            process.kill()
        gone = {process.pid for process in killed}
        wait_until(
            lambda word=word, gone=gone: any(  # type: ignore[misc]
                process.pid not in gone for process in site.processes(word)
            )
        )
    wait_until(site.answers)
    assert site.interrupt() == 0
    assert site.processes() == []
    assert not (site.data_dir / "postgres" / "postmaster.pid").exists()


def test_after_killing_the_supervisors_the_next_start_recovers(site: Site) -> None:
    site.start()
    assert site.process is not None
    site.process.kill()
    site.process.wait()
    for supervisor in site.processes("supervisord"):
        supervisor.kill()
    postmaster = site.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(postmaster.read_text().splitlines()[0]), signal.SIGKILL)
    site.start()
    assert site.answers()
    assert site.interrupt() == 0
    assert site.processes() == []
