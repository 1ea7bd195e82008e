"""Trainings that are killed for real, in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable

from lookalike.core.progress import Silent


class KillAt(Silent):
    """Ends this process as kill -9 does when a step is done."""

    def __init__(self, step: int) -> None:
        self._step = step

    def update(
        self,
        n_done: int,
        n_total: int | None = None,
        note: str | None = None,
        *,
        is_long: bool | None = None,
    ) -> None:
        if n_done == self._step:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(work: Callable[[], object]) -> int | None:
    """Do work in a process of its own; return minus the signal that ended it, 0 if none did.

    It is forked from a server that has imported torch and never used it: a fork of this process
    would wait for ever for the threads that torch has started here.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "timm", "lookalike.learning.networks.learn"])
    process = context.Process(target=work)
    process.start()
    process.join()
    return process.exitcode
