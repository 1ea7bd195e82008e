"""How often somebody has done something: counts in fixed windows, kept by the cache server."""

from __future__ import annotations

import time

from django.core.cache import cache


def count(name: str, who: str | int, seconds: int) -> tuple[int, int]:
    """Count one time more.

    Args:
        name: of what is counted.
        who: does it.
        seconds: of a window.

    Returns:
        How often in this window, with this time; and the seconds until it ends.
    """
    now = time.time()
    window = int(now // seconds)
    left = int((window + 1) * seconds - now) + 1
    key = f"{name}:{who}:{window}"
    cache.add(key, 0, timeout=seconds + 1)
    try:
        return cache.incr(key), left
    except ValueError:  # it ran out between the two
        return 1, left
