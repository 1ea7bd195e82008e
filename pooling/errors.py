"""What services of this app raise when they refuse; the message is for a person."""

from __future__ import annotations

from jobs.services import JobError


class PoolError(JobError):
    """What was asked cannot be done; `field` names the input that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
