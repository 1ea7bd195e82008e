"""A data folder belongs to one process that serves it; the next one is told whose it is."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import psutil

from config import settings
from config.env import StartError

LEAST_BYTES = 64 * 2**20  # below this, PostgreSQL does not start and nobody can answer
READ_SECONDS = 3.0  # for whoever has just got the lock to write down who he is


def claim(data_dir: Path, what: str, *, port: int | None = None) -> TextIO:
    """Return an open file that claims a data folder until it is closed.

    The kernel drops the claim of a killed process, so none is ever left over. Programs that the
    process starts do not inherit it.

    Args:
        data_dir: the folder.
        what: "server", or the name of what may run beside it but once.
        port: where it will listen.

    Raises:
        StartError: it is claimed already, cannot be written to, or has no room.
    """
    path = data_dir / "run" / f"{what}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        n_free = shutil.disk_usage(path.parent).free
        file = path.open("a+")
    except OSError as problem:
        raise StartError(
            f"The data folder {data_dir} cannot be written to ({problem.strerror}): make it "
            "writable, or set LOOKALIKE_DATA to another folder."
        ) from None
    if n_free < LEAST_BYTES:
        file.close()
        raise StartError(
            f"The disk of the data folder {data_dir} is full ({n_free >> 20} MB are free, "
            f"{LEAST_BYTES >> 20} MB are needed): make room, and start again."
        )
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StartError(
            f"The data folder {data_dir} is in use by {_holder(path)}: stop that one first, or "
            "set LOOKALIKE_DATA to another folder."
        ) from None
    mode = data_dir.stat().st_mode  # of a folder that an earlier version made open to all
    data_dir.chmod(mode & ~settings.UMASK | (mode & 0o001 if os.geteuid() == 0 else 0))
    file.truncate(0)
    json.dump({"pid": os.getpid(), "port": port}, file)
    file.flush()
    return file


def _holder(path: Path) -> str:
    """Return who holds a lock: the process and its port."""
    deadline = time.monotonic() + READ_SECONDS
    while time.monotonic() < deadline:
        with suppress(ValueError):  # it is just being written
            held = json.loads(path.read_text())
            if psutil.pid_exists(held["pid"]):
                where = f" (port {held['port']})" if held["port"] else ""
                return f"process {held['pid']}{where}"
        time.sleep(0.05)
    return "another process"
