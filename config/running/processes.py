"""The processes of one server or worker, told from others by a mark in their environment."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psutil

MARK = "LOOKALIKE_SERVER"  # set in the environment of every process under our supervisor
WEB = "config.web"  # in the command line of a web process


def marked_processes(mark: str) -> Iterator[psutil.Process]:
    """Yield the other processes with this mark."""
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                yield process
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue


def is_web(process: psutil.Process) -> bool:
    """Whether it is a web process."""
    try:
        return WEB in process.cmdline()
    except psutil.Error:
        return False


def relieve_orphans() -> None:
    """Tell web processes to finish whose supervisor was killed; this one stands in for them."""
    mark = os.environ.get(MARK)
    for process in marked_processes(mark) if mark else ():
        try:
            if is_web(process) and process.ppid() != os.getppid():
                process.terminate()
        except psutil.Error:
            continue
