"""Processor time of this process, of those it has waited for, and of its database.

The machine may be shared: the clock says as much of the others' work as of ours. The database has
to run on this machine, with nobody else at it.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from django.db import connection

TICKS = os.sysconf("SC_CLK_TCK")
PARENT, USER, SYSTEM, USER_OF_ENDED, SYSTEM_OF_ENDED = 1, 11, 12, 13, 14  # behind pid and name


def busy_seconds() -> float:
    """Return the seconds so far; differences are what something took, to a hundredth."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + _database_seconds()


def _database_seconds() -> float:
    """Return the seconds of the server and of all its processes, those that have ended too."""
    connection.ensure_connection()
    server = _fields(str(connection.connection.info.backend_pid))[PARENT]
    ticks = 0
    for folder in Path("/proc").glob("[1-9]*"):
        fields = _fields(folder.name)
        if folder.name == server:
            ticks += sum(map(int, fields[USER : SYSTEM_OF_ENDED + 1]))
        elif fields and fields[PARENT] == server:
            ticks += int(fields[USER]) + int(fields[SYSTEM])
    return ticks / TICKS


def _fields(process: str) -> list[str]:
    """Return what the system says of a process, nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
