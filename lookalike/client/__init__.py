"""Use a Lookalike site from Python: read results, download and verify releases, submit runs."""

from lookalike.client.client import Client
from lookalike.client.errors import (
    ApiError,
    ConflictError,
    ConnectionFailedError,
    DamagedError,
    ForbiddenError,
    InvalidError,
    LookalikeError,
    NotAuthenticatedError,
    NotFoundError,
    RateLimitedError,
    RefusedError,
    ServerError,
    UnexpectedAnswerError,
    WaitedTooLongError,
)
from lookalike.client.verify import Finding, verify

__all__ = [
    "ApiError",
    "Client",
    "ConflictError",
    "ConnectionFailedError",
    "DamagedError",
    "Finding",
    "ForbiddenError",
    "InvalidError",
    "LookalikeError",
    "NotAuthenticatedError",
    "NotFoundError",
    "RateLimitedError",
    "RefusedError",
    "ServerError",
    "UnexpectedAnswerError",
    "WaitedTooLongError",
    "verify",
]
