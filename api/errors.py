"""What the API says when it does not do what was asked: a stable code, a message, details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ninja import Field, Schema


class Detail(Schema):
    """One thing that is wrong with a request."""

    where: str = Field(description="The field or parameter, such as query.limit.")
    message: str


class ErrorOut(Schema):
    """Every answer with a status of 400 or more."""

    code: str = Field(description="Stable; programs may rely on it.")
    message: str = Field(description="For people; may change.")
    details: list[Detail] = Field(description="What is wrong where; often empty.")


class ApiError(Exception):
    """The request is not done; the API's root turns this into an `ErrorOut`."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Sequence[Detail] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = list(details)
        self.headers = dict(headers or {})


def errors(*statuses: int) -> dict[int, Any]:
    """Return `ErrorOut` for the statuses that a route may answer besides its own, for its docs."""
    return dict.fromkeys((401, 403, 429, *statuses), ErrorOut)
