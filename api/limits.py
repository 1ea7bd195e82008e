"""How often somebody may ask: counts in fixed windows, kept by the cache server."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.sign_in.limits import count
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
    n, seconds = count(f"api:{limit.name}", who, limit.seconds)
    if n > limit.n:
        raise ApiError(
            429,
            "rate_limited",
            f"At most {limit.n} {limit.name.replace('-', ' ')} in {limit.seconds} seconds; "
            f"try again in {seconds}.",
            headers={"Retry-After": str(seconds)},
        )
    return Spent(limit.n, limit.n - n, seconds)
