"""Read untrusted pictures in processes with bounded processor time and memory.

A small file may take minutes or gigabytes to decode. Such a picture ends a process here, and the
program that asked goes on.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from lookalike.core.child_processes import start_child
from lookalike.images.decode import Picture, PictureError, read_picture
from lookalike.images.pixels import MAX_BYTES

IDLE_SECONDS = 30.0
ENDING_SECONDS = 0.2


@dataclass(frozen=True)
class PictureLimits:
    """What one picture may take.

    Attributes:
        cpu_seconds: Processor time.
        memory: Bytes of address space, beyond those of an idle process.
        seconds: Time until there is an answer, also on a busy machine.
        overruns: Pictures that may take too much before the rest is refused.
    """

    cpu_seconds: int = 20
    memory: int = 2**30
    seconds: float = 300.0
    overruns: int = 10


class TooManyOverrunsError(Exception):
    """Too many pictures have taken too much; the message says what to do."""


class PictureProcesses:
    """Reads pictures for threads, each of which has a process; use it in a `with`.

    >>> with PictureProcesses() as processes:  # doctest: +ELLIPSIS
    ...     processes.read(b"")
    Traceback (most recent call last):
    lookalike.images.pixels.PictureError: The file is empty (0 bytes). ...
    """

    def __init__(self, limits: PictureLimits | None = None) -> None:
        self._limits = limits or PictureLimits()
        self._own = threading.local()
        self._lock = threading.Lock()
        self._started: list[_Reader] = []
        self._n_overruns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self._started:
            _idle.keep(reader)

    def read(self, content: bytes, name: str | None = None) -> Picture:
        """Return what `lookalike.images.decode.read_picture` returns.

        Raises:
            PictureError: As `read_picture`; or it takes more than the limits.
            TooManyOverrunsError: Too many pictures did.
            OSError: No process can be started.
        """
        if len(content) > MAX_BYTES:
            return read_picture(content, name)  # refused by its length
        if self._n_overruns >= self._limits.overruns:
            raise TooManyOverrunsError(
                f"{self._n_overruns} pictures took more than {self._taken()} to decode. Leave "
                "them out, or save them smaller."
            )
        try:
            return self._reader().read(content, name)
        except _EndedError as problem:
            self._own.reader = None
            if not problem.is_overrun:  # killed from outside, perhaps: once more
                with suppress(_EndedError):
                    return self._reader().read(content, name)
                self._own.reader = None
        with self._lock:
            self._n_overruns += 1
        raise PictureError(f"Decoding it takes more than {self._taken()}. Save it smaller.")

    def _taken(self) -> str:
        memory = self._limits.memory // 2**20
        return f"{self._limits.cpu_seconds} seconds of a processor or {memory:,} MB of memory"

    def _reader(self) -> _Reader:
        reader: _Reader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = _idle.take(self._limits) or _Reader(self._limits)
            with self._lock:
                self._started.append(reader)
        return reader


class _EndedError(Exception):
    """A process has ended, or was ended, over a picture."""

    def __init__(self, *, is_overrun: bool) -> None:
        super().__init__()
        self.is_overrun = is_overrun


class _Reader:
    """A process that reads one picture after another."""

    def __init__(self, limits: PictureLimits) -> None:
        self.limits = limits
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        # what decodes a stranger's bytes gets none of the site's secrets
        self._process, self._line = start_child(_PROGRAM, environment=kept)
        self._line.send_bytes(json.dumps(asdict(limits)).encode())

    def read(self, content: bytes, name: str | None) -> Picture:
        """Return the picture.

        Raises:
            PictureError: As `read_picture`, or for want of memory.
            _EndedError: The process took too much, or was killed.
        """
        try:
            self._line.send_bytes(json.dumps(name).encode())
            self._line.send_bytes(content)
            if not self._line.poll(self.limits.seconds):
                self.end()
                raise _EndedError(is_overrun=True)
            reply = json.loads(self._line.recv_bytes())
            if "error" in reply:
                raise PictureError(reply["error"])
            thumb, view = self._line.recv_bytes(), self._line.recv_bytes()
        except (EOFError, OSError):
            self.end()
            is_overrun = self._process.returncode == -signal.SIGXCPU
            raise _EndedError(is_overrun=is_overrun) from None
        conversions = tuple(reply.pop("conversions"))
        return Picture(**reply, conversions=conversions, thumb=thumb, view=view)

    def is_alive(self) -> bool:
        """Whether it can read another picture."""
        return not self._line.closed and self._process.poll() is None

    def end(self, *, at_once: bool = False) -> None:
        """End the process, whatever it does."""
        if not at_once:  # so that one that a signal is ending keeps its status
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING_SECONDS)
        self._process.kill()
        self._process.wait()
        self._line.close()


class _IdleReaders:
    """Processes that wait a while for the next import, since each takes half a second to start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers: list[_Reader] = []
        self._timer: threading.Timer | None = None

    def take(self, limits: PictureLimits) -> _Reader | None:
        """Return a process with these limits, if one waits."""
        with self._lock:
            for reader in self._readers:
                if reader.limits == limits and reader.is_alive():
                    self._readers.remove(reader)
                    return reader
        return None

    def keep(self, reader: _Reader) -> None:
        """Keep a process for IDLE_SECONDS after the last one was kept."""
        if not reader.is_alive():
            reader.end()
            return
        with self._lock:
            self._readers.append(reader)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(IDLE_SECONDS, self.end)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """End all that wait."""
        with self._lock:
            readers, self._readers = self._readers, []
        for reader in readers:
            reader.end(at_once=True)


_idle = _IdleReaders()
atexit.register(_idle.end)
_PROGRAM = "from lookalike.images import picture_processes; picture_processes.serve()"


def serve() -> None:
    """Read the pictures that come along the line that the caller names, until it ends."""
    line = Connection(int(sys.argv[1]))
    with line, suppress(EOFError, ConnectionError):
        limits = PictureLimits(**json.loads(line.recv_bytes()))
        _limit_memory(limits.memory)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        while True:
            name, content = json.loads(line.recv_bytes()), line.recv_bytes()
            _limit_cpu(limits.cpu_seconds)
            _answer(line, content, name, limits)


def _answer(line: Connection, content: bytes, name: str | None, limits: PictureLimits) -> None:
    try:
        picture = read_picture(content, name)
    except PictureError as problem:
        line.send_bytes(json.dumps({"error": str(problem)}).encode())
        return
    except MemoryError:
        error = f"Decoding it takes more than {limits.memory // 2**20:,} MB. Save it smaller."
        line.send_bytes(json.dumps({"error": error}).encode())
        return
    facts: dict[str, Any] = dict(vars(picture))
    thumb, view = facts.pop("thumb"), facts.pop("view")
    line.send_bytes(json.dumps(facts).encode())
    line.send_bytes(thumb)
    line.send_bytes(view)


def _limit_memory(n_bytes: int) -> None:
    """Bound the address space, where the system can tell and bound it."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _limit_cpu(seconds: int) -> None:
    """End this process (SIGXCPU) after so many more seconds of a processor."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + seconds, most))
