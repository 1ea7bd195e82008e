"""Rate limits: sliding-window counters in the cache server."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass

from allauth.core.internal.ratelimit import get_ip
from django.core.cache import cache
from django.http import HttpRequest


@dataclass(frozen=True)
class Usage:
    """One actor's position under a limit.

    Attributes:
        is_allowed: Whether this attempt is within the limit; only such attempts count.
        remaining: Attempts still allowed now.
        seconds: Until the window ends, or, for a refused attempt, until the next one is allowed.
    """

    is_allowed: bool
    remaining: int
    seconds: int


def consume(name: str, actor: str | int, *, limit: int, seconds: int) -> Usage:
    """Record one attempt under a limit.

    Attempts are counted in windows of fixed length. The previous window counts by the share of it
    that the last `seconds` still cover, so that no burst at the edge of two windows exceeds the
    limit (a sliding-window counter).

    Args:
        name: The limit's name.
        actor: The person or network that makes the attempt.
        limit: Attempts allowed within any `seconds`; 0 refuses all.
        seconds: Length of the window.
    """
    window, elapsed = divmod(time.time(), seconds)
    key = f"{name}:{actor}:{int(window)}"
    previous = cache.get(f"{name}:{actor}:{int(window) - 1}", 0)
    cache.add(key, 0, timeout=2 * seconds + 1)
    try:
        current = cache.incr(key)
    except ValueError:  # evicted between the two statements
        current = 1
    carried = math.floor(previous * (1 - elapsed / seconds))
    if current + carried <= limit:
        return Usage(True, limit - current - carried, math.ceil(seconds - elapsed))
    with suppress(ValueError):  # evicted: nothing to take back
        cache.decr(key)
    return Usage(False, 0, _wait(previous, current - 1, limit, seconds, elapsed))


def network_of(request: HttpRequest) -> str:
    """Return the address that limits count: an IPv4 address, or the /64 of an IPv6 address."""
    return str(get_ip(request))


def _wait(previous: int, current: int, limit: int, seconds: int, elapsed: float) -> int:
    """Return the seconds until one more attempt is allowed, at least 1."""
    if current < limit:
        share = (limit - current) / previous  # of the previous window that may still count
        return max(1, math.floor(seconds * (1 - share) - elapsed) + 1)
    if not limit:
        return seconds
    share = limit / current
    return max(1, math.floor(seconds - elapsed + seconds * (1 - share)) + 1)
