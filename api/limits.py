"""How often somebody may ask: counts in fixed windows, kept by the cache server."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.core.cache import cache

from api.errors import ApiError


@dataclass(frozen=True)
class Limit:
    """So many requests in so many seconds."""

    name: str
    n: int
    seconds: int


@dataclass(frozen=True)
class Spent:
    """Where somebody stands in a window that has not ended."""

    limit: int
    left: int
    seconds: int


REQUESTS = Limit("requests", 600, 60)
UPLOADS = Limit("uploads", 30, 3600)
STRANGERS = Limit("requests-without-a-token", 120, 60)  # of one address
UNKNOWN_TOKENS = Limit("unknown-tokens", 30, 60)  # of one address


def spend(limit: Limit, who: str | int) -> Spent:
    """Count one request.

    Raises:
        ApiError: 429, with the seconds until the window ends in Retry-After.
    """
    now = time.time()
    window = int(now // limit.seconds)
    seconds = int((window + 1) * limit.seconds - now) + 1
    key = f"api:{limit.name}:{who}:{window}"
    cache.add(key, 0, timeout=limit.seconds + 1)
    try:
        n = cache.incr(key)
    except ValueError:  # it ran out between the two
        n = 1
    if n > limit.n:
        raise ApiError(
            429,
            "rate_limited",
            f"At most {limit.n} {limit.name.replace('-', ' ')} in {limit.seconds} seconds; "
            f"try again in {seconds}.",
            headers={"Retry-After": str(seconds)},
        )
    return Spent(limit.n, limit.n - n, seconds)
