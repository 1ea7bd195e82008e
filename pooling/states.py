"""Where pools and their sources stand, and how pools search: the words of their columns."""

from __future__ import annotations

from django.db import models

from jobs.models import JobState


class PoolState(models.TextChoices):
    """Where a pool stands; derived from its sources, never stored."""

    FILLING = "filling", "Filling"
    COMPLETE = "complete", "Complete"
    PARTIAL = "partial", "Complete without some models"
    FAILED = "failed", "Failed"


class SourceState(models.TextChoices):
    """Where one source of a pool stands; derived from its job and its proposals."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class Index(models.TextChoices):
    """How a pool finds the nearest vectors."""

    EXACT = "exact", "Exact: every vector is compared"
    IVF = "ivf", "Approximate: an inverted-file index (faiss IVF), its recall measured"


STATE_OF_JOB = {
    JobState.QUEUED: SourceState.QUEUED,
    JobState.RUNNING: SourceState.RUNNING,
    JobState.FAILED: SourceState.FAILED,
    JobState.CANCELLED: SourceState.CANCELLED,
    # its proposals are gone although its job ended well
    JobState.SUCCEEDED: SourceState.FAILED,
}
OPEN_SOURCE_STATES = (SourceState.QUEUED, SourceState.RUNNING)
