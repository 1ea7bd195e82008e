"""Time several ways to do the same thing, in processes of their own, in turns.

Each way gets a process, so that no library's threads disturb another's, and the rounds go from
one to the next, so that whatever else the machine does meets all of them alike.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MIB = 1024  # /proc counts in KiB


@dataclass
class Way:
    """A running process that does the work once whenever it is asked to."""

    name: str
    process: subprocess.Popen[str]
    seconds: list[float] = field(default_factory=list)
    anonymous_mib: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def spread(self) -> str:
        """Return "median (min-max)" in seconds."""
        return f"{self.median:.3f} ({min(self.seconds):.3f}-{max(self.seconds):.3f})"


def start(module: str, arguments: Sequence[str], name: str) -> Way:
    """Start `python -m module --way name ...`, and wait until it has its data."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments, "--way", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    way = Way(name, process)
    _answer(way)
    return way


def run(ways: Sequence[Way], rounds: int) -> None:
    """Let every way do its work `rounds` times in turns, after one time that is not counted."""
    for number in range(rounds + 1):
        for way in ways:
            assert way.process.stdin is not None
            print("go", file=way.process.stdin, flush=True)
            answer = _answer(way)
            way.anonymous_mib = max(way.anonymous_mib, answer.pop("anonymous_mib"))
            seconds = answer.pop("seconds")
            way.extra = answer
            if number:
                way.seconds.append(seconds)


def stop(ways: Sequence[Way]) -> None:
    """End the processes."""
    for way in ways:
        assert way.process.stdin is not None
        way.process.stdin.close()
        way.process.wait()


def _answer(way: Way) -> dict[str, Any]:
    assert way.process.stdout is not None
    line = way.process.stdout.readline()
    if not line:
        raise RuntimeError(f"{way.name} ended with code {way.process.wait()}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def serve(work: Callable[[], dict[str, Any]]) -> None:
    """Do the work once for every line on stdin, in the process of a way; report on stdout."""
    print("{}", flush=True)
    for _ in sys.stdin:
        with PeakMemory() as peak:
            begin = time.perf_counter()
            extra = work()
            seconds = time.perf_counter() - begin
        print(json.dumps({"seconds": seconds, "anonymous_mib": peak.mib, **extra}), flush=True)


class PeakMemory:
    """The most anonymous memory that the process held at once, beyond what it held before."""

    def __enter__(self) -> PeakMemory:
        self._before = self._peak = anonymous_kib()
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(0.004):
            self._peak = max(self._peak, anonymous_kib())

    @property
    def mib(self) -> float:
        return (self._peak - self._before) / MIB


def anonymous_kib() -> int:
    """Return RssAnon: memory of our own, without mapped files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1])
    raise RuntimeError("this needs Linux: /proc/self/status has no RssAnon")
