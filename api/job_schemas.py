"""How jobs look in the API."""

from __future__ import annotations

import uuid
from datetime import datetime

from ninja import Field, Schema

from jobs.models import Job


class JobOut(Schema):
    """A piece of background work."""

    uid: uuid.UUID
    title: str
    state: str = Field(description="queued, running, succeeded, failed or cancelled.")
    n_done: int
    n_total: int | None
    note: str = Field(description="What is being done now.")
    error: str = Field(description="What went wrong and what to do; empty while all is well.")
    created_at: datetime
    finished_at: datetime | None


def job_out(job: Job) -> JobOut:
    """Return a job as the API shows it."""
    return JobOut(
        uid=job.uid,
        title=job.title,
        state=job.state,
        n_done=job.n_done,
        n_total=job.n_total,
        note=job.note,
        error=job.error,
        created_at=job.created_at,
        finished_at=job.finished_at,
    )
