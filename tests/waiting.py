"""Wait for what a thread or another process does, as long as a busy machine may take."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 240  # ten times what the slowest needs on a quiet machine


def wait_until(
    is_true: Callable[[], bool], pause: float = 0.1, patience: float = PATIENCE_SECONDS
) -> None:
    """Return once it is true; fail when patience (seconds) is over.

    What is waited for needs the processors more: asking takes a fifth of a processor at most.
    """
    deadline = time.monotonic() + patience
    while True:
        used = time.thread_time()
        if is_true():
            return
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(max(pause, 4 * (time.thread_time() - used)))
