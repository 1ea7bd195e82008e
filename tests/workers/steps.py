"""Stop workers at a place of their work, however fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil

from tests.waiting import PATIENCE_SECONDS

STEP_SECONDS = 0.05


@contextmanager
def stopped_when(
    is_reached: Callable[[], bool],
    *,
    start: Callable[[], None],
    workers: Callable[[], Iterable[psutil.Process]],
) -> Iterator[None]:
    """Let work go on in short steps until it is there; within the block, all workers stand still.

    Args:
        is_reached: asked while the workers stand still.
        start: gives them work.
        workers: finds their processes.
    """
    standing = _stopped(workers())
    try:
        start()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_reached():
            assert time.monotonic() < deadline, "waited too long"
            _resume(standing)
            time.sleep(STEP_SECONDS)
            standing = _stopped(workers())
        yield
    finally:
        _resume(standing)


def _stopped(found: Iterable[psutil.Process]) -> list[psutil.Process]:
    processes = list(found)
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    return processes


def _resume(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # killed meanwhile
            process.resume()
