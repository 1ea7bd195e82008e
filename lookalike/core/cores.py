"""How many processor cores there are for us."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Return how many processor cores this process may use; where none can say, all there are."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
