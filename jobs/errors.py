"""How a job can go wrong."""

from __future__ import annotations

from lookalike.core.errors import Refused


class JobError(Refused):
    """The work cannot be done; the message tells a person what is wrong and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__("", message)


class PassingError(JobError):
    """The work cannot be done now, but may be later without anybody changing it."""


class JobConflictError(JobError):
    """The same work is already queued or running, or its owner has too much waiting."""


class JobLostError(Exception):
    """The job was cancelled, or another worker holds it now; stop at once, store nothing."""
