"""Failed jobs and silent workers, as the overview says it."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.urls import reverse
from redis import RedisError

from accounts.attention import Attention, Urgency
from accounts.models import Role
from jobs.models import Job, JobState
from jobs.status import LIGHT_SILENT_SECONDS, seconds_since_light_worker

FAILED = "Failed"
MAX_FAILED = 5  # on the overview; each has a notice


def attention() -> Iterator[Attention]:
    """Yield what failed and nothing later made up for, and workers that are not there."""
    waiting = Job.objects.filter(state=JobState.QUEUED).count()
    if waiting and _is_light_worker_silent():
        text = f"{waiting} job{'s' if waiting > 1 else ''} waiting. script/server starts a worker."
        yield Attention("No worker", "Nothing is being done", text, reverse("jobs:jobs"),
                        Urgency.NOW)  # fmt: skip
    for job in failed_jobs():
        address = {"uid": job.uid}
        again = ("Try again", reverse("jobs:retry", kwargs=address))
        dismiss = ("Dismiss", reverse("jobs:dismiss", kwargs=address))
        buttons = (dismiss,) if job.needs_another_file else (again, dismiss)
        yield Attention(FAILED, job.title, job.error.partition("\n")[0],
                        reverse("jobs:job", kwargs=address), Urgency.NOW, buttons)  # fmt: skip


def shorten(lines: list[Attention]) -> list[Attention]:
    """Return the lines with MAX_FAILED failed jobs at most, and one that says how many more."""
    older = [line for line in lines if line.kind == FAILED][MAX_FAILED:]
    if not older:
        return lines
    more = Attention(FAILED, f"{len(older)} more", "The oldest are on the page of jobs.",
                     reverse("jobs:jobs"), Urgency.NOW)  # fmt: skip
    place = lines.index(older[0])
    return [*lines[:place], more, *(line for line in lines[place:] if line.kind != FAILED)]


def failed_jobs() -> QuerySet[Job]:
    """Return the jobs whose last attempt failed and that nobody dismissed, newest first.

    What a researcher gave and a job refused is theirs to mend.
    """
    latest = Job.objects.order_by("task", "subject", "-id").distinct("task", "subject")
    failed = Job.objects.filter(
        pk__in=latest.values("pk"), state=JobState.FAILED, is_dismissed=False
    )
    of_admins = Q(is_refused=False) | Q(owner=None) | Q(owner__role=Role.ADMIN)
    return failed.filter(of_admins).order_by("-finished_at")


def _is_light_worker_silent() -> bool:
    try:
        return seconds_since_light_worker() > LIGHT_SILENT_SECONDS
    except RedisError:
        return True
