"""Wait for what a thread or another process does, as long as a busy machine may take."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 240  # ten times what the slowest needs on a quiet machine


def wait_until(is_true: Callable[[], bool], pause: float = 0.1) -> None:
    """Return once it is true; fail after PATIENCE_SECONDS."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(pause)
