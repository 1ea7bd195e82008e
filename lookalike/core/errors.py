"""How anything here says no to a person."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - it is the answer, not a failure
    """What was asked cannot be done.

    Attributes:
        field: the input that is wrong; empty where no single one is.
        message: what is wrong and what to do, for a person.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message
