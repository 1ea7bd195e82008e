"""Rate limits of the API."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.sign_in.limits import consume
from api.errors import ApiError


@dataclass(frozen=True)
class Limit:
    """At most `n` requests within `seconds`."""

    name: str
    n: int
    seconds: int


@dataclass(frozen=True)
class Spent:
    """A caller's position under a limit, for the RateLimit headers."""

    limit: int
    left: int
    seconds: int


REQUESTS = Limit("requests", 600, 60)
UPLOADS = Limit("uploads", 30, 3600)
STRANGERS = Limit("requests-without-a-token", 120, 60)  # for each address
UNKNOWN_TOKENS = Limit("unknown-tokens", 30, 60)  # for each address


def spend(limit: Limit, actor: str | int) -> Spent:
    """Record one request.

    Raises:
        ApiError: 429 when the limit is reached. Retry-After gives the seconds to wait.
    """
    usage = consume(f"api:{limit.name}", actor, limit=limit.n, seconds=limit.seconds)
    if not usage.is_allowed:
        raise ApiError(
            429,
            "rate_limited",
            f"At most {limit.n} {limit.name.replace('-', ' ')} in {limit.seconds} seconds; "
            f"try again in {usage.seconds}.",
            headers={"Retry-After": str(usage.seconds)},
        )
    return Spent(limit.n, usage.remaining, usage.seconds)
