"""Failed jobs and silent workers, as the overview says it."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import QuerySet
from django.urls import reverse
from redis import RedisError

from accounts.attention import Attention, Urgency
from jobs.models import Job, JobState
from jobs.status import LIGHT_SILENT_SECONDS, seconds_since_light_worker

MAX_FAILED = 5


def attention() -> Iterator[Attention]:
    """Yield what failed and nothing later made up for, and workers that are not there."""
    waiting = Job.objects.filter(state=JobState.QUEUED).count()
    if waiting and _is_light_worker_silent():
        text = f"{waiting} job{'s' if waiting > 1 else ''} waiting. script/server starts a worker."
        yield Attention("No worker", "Nothing is being done", text, reverse("jobs:jobs"),
                        Urgency.NOW)  # fmt: skip
    failed = failed_jobs()
    for job in failed[:MAX_FAILED]:
        address = {"uid": job.uid}
        buttons = (
            ("Try again", reverse("jobs:retry", kwargs=address)),
            ("Dismiss", reverse("jobs:dismiss", kwargs=address)),
        )
        yield Attention("Failed", job.title, job.error.partition("\n")[0],
                        reverse("jobs:job", kwargs=address), Urgency.NOW, buttons)  # fmt: skip
    n_more = failed.count() - MAX_FAILED
    if n_more > 0:
        text = "The oldest are on the page of jobs."
        yield Attention("Failed", f"{n_more} more", text, reverse("jobs:jobs"), Urgency.NOW)


def failed_jobs() -> QuerySet[Job]:
    """Return the jobs whose last attempt failed and that nobody dismissed, newest first."""
    latest = Job.objects.order_by("task", "subject", "-id").distinct("task", "subject")
    failed = Job.objects.filter(
        pk__in=latest.values("pk"), state=JobState.FAILED, is_dismissed=False
    )
    return failed.order_by("-finished_at")


def _is_light_worker_silent() -> bool:
    try:
        return seconds_since_light_worker() > LIGHT_SILENT_SECONDS
    except RedisError:
        return True
