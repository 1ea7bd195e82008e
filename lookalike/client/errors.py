"""Everything that can go wrong, so that a program can tell it apart."""

from __future__ import annotations

from collections.abc import Sequence


class LookalikeError(Exception):
    """The base of every error of this package."""


class ConnectionFailedError(LookalikeError):
    """The site was not reached, or the connection broke."""


class UnexpectedAnswerError(LookalikeError):
    """The answer is none that a Lookalike site of this version gives."""


class DamagedError(LookalikeError):
    """A download's bytes are not those that the site names; nothing of it is kept."""


class RefusedError(LookalikeError):
    """A run was uploaded, checked, and cannot be scored; the message says why."""


class WaitedTooLongError(LookalikeError):
    """What was waited for has not happened in time; it may still."""


class ApiError(LookalikeError):
    """The site did not do what was asked.

    Attributes:
        status: of HTTP.
        code: stable; see docs/api.md.
        details: (where, message) of each thing that is wrong.
        retry_after: seconds to wait, where the site says so.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: Sequence[tuple[str, str]] = (),
        retry_after: int | None = None,
    ) -> None:
        told = "".join(f"\n  {where}: {what}" for where, what in details)
        super().__init__(f"{message} ({status} {code}){told}")
        self.status = status
        self.code = code
        self.details = list(details)
        self.retry_after = retry_after


class NotAuthenticatedError(ApiError):
    """401: no token, or one that is unknown, expired or revoked; `code` tells which."""


class ForbiddenError(ApiError):
    """403: the token's scope or its owner's role does not allow this."""


class NotFoundError(ApiError):
    """404: there is no such thing, or it is not to be seen."""


class ConflictError(ApiError):
    """409: the same is being done already."""


class InvalidError(ApiError):
    """400, 413 or 422: something about the request is wrong; `details` tell where."""


class RateLimitedError(ApiError):
    """429: too many requests; wait for `retry_after` seconds."""


class ServerError(ApiError):
    """5xx: an error of the site."""


KINDS: dict[int, type[ApiError]] = {
    400: InvalidError,
    401: NotAuthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidError,
    422: InvalidError,
    429: RateLimitedError,
}


def error_class(status: int) -> type[ApiError]:
    """Return the class of errors of a status."""
    return ServerError if status >= 500 else KINDS.get(status, ApiError)
