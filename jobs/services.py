"""Start, cancel, repeat and take over background jobs; `jobs.work.running` does them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import User
from audit.actions import Action
from audit.context import current_origin
from audit.services import record
from jobs.errors import JobConflictError, JobError, JobLostError, PassingError
from jobs.models import OPEN_STATES, Job, JobState
from jobs.queues import queue_of
from jobs.work.progress import JobProgress
from jobs.work.running import Work, run_job, this_process

__all__ = [
    "JobConflictError",
    "JobError",
    "JobLostError",
    "JobProgress",
    "PassingError",
    "Work",
    "cancel_job",
    "dismiss_job",
    "enqueue",
    "retry_job",
    "run_here",
    "run_job",
    "send",
]


def enqueue(
    *,
    task: str,
    subject: str,
    title: str,
    arguments: dict[str, Any],
    owner: User | None,
    queue: str = "",
) -> Job:
    """Store a job and hand its id to the broker once the transaction is committed.

    Args:
        queue: a worker's own queue; empty for any worker that does such tasks.

    Raises:
        JobConflictError: the same task on the same subject is queued or running, or the owner
            has MAX_OPEN_JOBS waiting.
    """
    with _one_open_job(title):
        if owner is not None:
            _require_room(owner)
        job = Job.objects.create(
            task=task, subject=subject, title=title[:200], arguments=arguments, owner=owner,
            queue=queue, request_id=current_origin().request_id,
        )  # fmt: skip
        record(owner, Action.JOB_STARTED, job, task=task)
    transaction.on_commit(lambda: send(job))
    return job


def _require_room(owner: User) -> None:
    # who asks in many places at once is counted in one after the other
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)
    n_open = Job.objects.filter(owner=owner, state__in=OPEN_STATES).count()
    if n_open >= settings.MAX_OPEN_JOBS:
        raise JobConflictError(
            f"You have {n_open} jobs waiting or running, as many as one person may; "
            "let some end, or cancel them."
        )


def send(job: Job) -> None:
    """Hand a job's id to the broker; harmless if done twice."""
    current_app.send_task(job.task, args=[str(job.uid)], queue=job.queue or queue_of(job.task))


def run_here(
    *,
    task: str,
    subject: str,
    title: str,
    arguments: dict[str, Any],
    work: Work,
    on_change: Callable[[Job], None] | None = None,
) -> Job:
    """Run work in this process, as a command does, with the same row, lease and record.

    Raises:
        JobConflictError: a worker holds it already.
        JobError: the work failed; what the job row says.
    """
    with _one_open_job(title):
        # with its process from the first: killed before it begins, it can be told to be lost
        job = Job.objects.create(
            task=task, subject=subject, title=title[:200], arguments=arguments,
            worker=this_process(),
        )  # fmt: skip
        record(None, Action.JOB_STARTED, job, task=task)
    run_job(job.uid, work, on_change=on_change, tries_again=False)
    require_success(job)
    return job


def require_success(job: Job) -> None:
    """Read again how a job has ended, and raise JobError unless that is well."""
    job.refresh_from_db()
    if job.state != JobState.SUCCEEDED:
        raise JobError(job.error or f"{job.title}: {job.get_state_display()}")


@contextmanager
def _one_open_job(title: str) -> Iterator[None]:
    """Refuse to open a job beside an open one of the same task and subject."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise JobConflictError(
            f"“{title}” is already queued or running; wait for it, or cancel it first."
        ) from None


@transaction.atomic
def cancel_job(*, job: Job) -> bool:
    """Cancel an open job; its worker stops at its next step. False if it had ended already."""
    n_cancelled = Job.objects.filter(pk=job.pk, state__in=OPEN_STATES).update(
        state=JobState.CANCELLED, finished_at=timezone.now(), lease_until=None
    )
    if n_cancelled:
        record(None, Action.JOB_CANCELLED, job, task=job.task)
    return bool(n_cancelled)


def retry_job(*, job: Job) -> None:
    """Queue a failed or cancelled job again; work that stores what it has done goes on there.

    Its attempts so far no longer count against MAX_ATTEMPTS: what may pass is waited for again.

    Raises:
        JobConflictError: the same work is queued or running under another job.
        JobError: the job has succeeded, or has not ended yet.
    """
    again = Q(state__in=[JobState.FAILED, JobState.CANCELLED])
    with _one_open_job(job.title):
        n_changed = Job.objects.filter(again, pk=job.pk).update(
            state=JobState.QUEUED, n_forgiven=F("n_attempts"), error="", traceback="",
            finished_at=None, lease_until=None, is_dismissed=False, is_refused=False,
        )  # fmt: skip
        if n_changed:
            record(None, Action.JOB_RETRIED, job, task=job.task)
    if not n_changed:
        raise JobError(f"“{job.title}” has not failed; there is nothing to try again.")
    transaction.on_commit(lambda: send(job))


@transaction.atomic
def dismiss_job(*, job: Job) -> None:
    """Take a failed job off the overview; it stays in the list of jobs and can be tried again.

    Raises:
        JobError: it has not failed, or is tried again just now.
    """
    failed = Job.objects.filter(pk=job.pk, state=JobState.FAILED, is_dismissed=False)
    if not failed.update(is_dismissed=True):
        raise JobError(f"“{job.title}” is no failed job any more; there is nothing to dismiss.")
    record(None, Action.JOB_DISMISSED, job, task=job.task)
