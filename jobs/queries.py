"""Which jobs a person may see, and what became of the jobs about a subject."""

from __future__ import annotations

import uuid
from typing import TypeVar

from django.db.models import QuerySet
from django.http import Http404

from accounts.models import User
from jobs.models import OPEN_STATES, Job, JobState, Worker
from lookalike.core.dataclass_json import from_json

N_ENDED = 30
T = TypeVar("T")


def visible_jobs(person: User) -> QuerySet[Job]:
    """Return all jobs for an admin, a person's own for everybody else."""
    jobs = Job.objects.select_related("owner", "held_by")
    return jobs if person.is_admin else jobs.filter(owner=person)


def visible_job(person: User, uid: uuid.UUID) -> Job:
    """Return one job.

    Raises:
        Http404: there is none, or it is somebody else's: both look alike.
    """
    job = visible_jobs(person).filter(uid=uid).first()
    if job is None:
        raise Http404
    return job


def open_jobs(person: User) -> QuerySet[Job]:
    """Return the queued and running jobs that a person may see, oldest first."""
    return visible_jobs(person).filter(state__in=OPEN_STATES).order_by("id")


def ended_jobs(person: User) -> QuerySet[Job]:
    """Return the last N_ENDED jobs that have ended, newest first."""
    ended = visible_jobs(person).exclude(state__in=OPEN_STATES)
    return ended.order_by("-finished_at", "-id")[:N_ENDED]


def known_workers() -> list[Worker]:
    """Return the device workers that have ever reported, the living first."""
    return sorted(Worker.objects.all(), key=lambda worker: (not worker.is_alive, worker.name))


def latest_job(task: str, subject: str) -> Job | None:
    """Return the newest job of a task on a subject, whatever became of it."""
    return _jobs_on(task, subject).first()


def unfinished_job(task: str, subject: str) -> Job | None:
    """Return the newest job of a task on a subject, unless it ended well or was called off."""
    job = latest_job(task, subject)
    return job if job and (job.is_open or job.state == JobState.FAILED) else None


def latest_found(task: str, subject: str, kind: type[T]) -> T | None:
    """Return what the newest job that ended well has found, which it stored `as_json`."""
    job = _jobs_on(task, subject).filter(state=JobState.SUCCEEDED).first()
    return from_json(kind, job.result) if job else None


def _jobs_on(task: str, subject: str) -> QuerySet[Job]:
    jobs = Job.objects.filter(task=task, subject=subject)
    return jobs.select_related("owner").order_by("-id")
