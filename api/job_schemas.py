"""How jobs look in the API."""

from __future__ import annotations

import uuid
from datetime import datetime

from ninja import Field, Schema


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
