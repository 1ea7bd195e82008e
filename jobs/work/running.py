"""Do the work of a job: claim it, keep its lease, report progress, record how it ended.

Work may be begun twice: the second time sees a job that is not claimable and leaves. Work that
can be cut short must store what it has done and skip it on the next attempt.
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from celery import current_task
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from audit.context import Origin, acting_for, current_origin
from jobs.errors import JobLostError, PassingError
from jobs.models import Job, JobState, Worker
from jobs.work.progress import LEASE, JobProgress
from lookalike.core.errors import Refused

HEARTBEAT_SECONDS = 4.0
MAX_ATTEMPTS = 5
FIRST_PAUSE = timedelta(seconds=5)  # before the second attempt; doubled for every further one
DATABASE_SECONDS = 60.0  # how long a restart of the database may take
DATABASE_LOST = (OperationalError, InterfaceError)
PASSING_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.ENOMEM, errno.EAGAIN}

Work = Callable[[JobProgress], dict[str, Any]]
log = logging.getLogger(__name__)


def run_job(
    uid: uuid.UUID | str,
    work: Work,
    *,
    on_change: Callable[[Job], None] | None = None,
    tries_again: bool = True,
) -> None:
    """Claim a job, do its work under a renewed lease, and record how it ended.

    What may pass by itself (a full disk, full memory, a database that restarts) puts the job
    back into the queue for a later attempt, unless `tries_again` is off. Work that hangs loses
    its lease, and in a worker its process, too: nothing else would free the device.
    """
    job = _claim(uid)
    if job is None:
        return
    owner = job.owner  # read here: the work may run where no database answers
    origin = current_origin()
    if owner is not None:
        origin = Origin(lambda: owner, request_id=job.request_id)
    log_ids = {"job": str(job.uid), "request_id": origin.request_id}
    with acting_for(origin), bound_contextvars(**log_ids):
        _do(job, work, on_change=on_change, tries_again=tries_again)


def _do(
    job: Job, work: Work, *, on_change: Callable[[Job], None] | None, tries_again: bool
) -> None:
    """Do a claimed job."""
    progress = JobProgress(job, on_change)
    stop = threading.Event()
    on_hang = end_process if _is_in_worker() else None
    heart = threading.Thread(target=_beat, args=(progress, stop, on_hang), daemon=True)
    heart.start()
    try:
        result = work(progress)
    except JobLostError:
        pass
    except Exception as problem:  # recorded with the job, and raised unless it was expected
        reason = _expected(problem)
        if tries_again and _may_pass(problem) and job.n_tries < MAX_ATTEMPTS:
            _postpone(job, reason or f"{type(problem).__name__}: {problem}")
        else:
            message = reason or f"An error of the program: {type(problem).__name__}: {problem}"
            is_refused = isinstance(problem, Refused) and not isinstance(problem, PassingError)
            _finish(
                job, JobState.FAILED, error=message, traceback=traceback.format_exc(),
                is_refused=is_refused,
            )  # fmt: skip
            if reason is None:
                raise
    else:
        _finish(job, JobState.SUCCEEDED, result=result)
    finally:
        stop.set()
        heart.join()
    if on_change is not None:
        job.refresh_from_db()
        on_change(job)


def _expected(problem: Exception) -> str | None:
    """Return an expected failure in words for people; None for an error of the program."""
    match problem:
        case Refused():
            return str(problem)
        case MemoryError():
            return "Out of memory."
        case OSError():
            return str(problem)
        case OperationalError() | InterfaceError():
            return f"The database was lost: {str(problem).splitlines()[0]}"
    return None


def _may_pass(problem: Exception) -> bool:
    """Whether the same work may succeed later without anybody changing it."""
    if isinstance(problem, OSError):
        return problem.errno in PASSING_ERRNOS
    return isinstance(problem, PassingError | MemoryError | OperationalError | InterfaceError)


def this_process() -> str:
    """Return what names this process among all machines, as the row of a job has it."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _claim(uid: uuid.UUID | str) -> Job | None:
    """Take a queued job, or a running one whose lease has run out; None if neither."""
    now = timezone.now()
    with transaction.atomic():
        job = (
            Job.objects.select_for_update(skip_locked=True)
            .filter(Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=now))
            .filter(uid=uid)
            .first()
        )
        if job is None:
            return None
        job.state = JobState.RUNNING
        job.n_attempts += 1
        job.worker = this_process()
        job.held_by = Worker.objects.filter(name=settings.WORKER_NAME).first()
        job.started_at = job.started_at or now
        job.lease_until = now + LEASE
        job.error = job.traceback = ""
        job.save()
    return job


def _beat(progress: JobProgress, stop: threading.Event, on_hang: Callable[[], None] | None) -> None:
    has_given_up = False
    try:
        while not has_given_up and not stop.wait(HEARTBEAT_SECONDS):
            try:
                if progress.is_hung:
                    log.error("%s: %s", progress.job.title, progress.give_up())
                    has_given_up = True
                    continue
                progress.renew()
            except DATABASE_LOST:
                connection.close()  # the next beat connects anew
    finally:
        connection.close()
    if has_given_up and on_hang is not None:
        on_hang()


def _is_in_worker() -> bool:
    """Whether this is a process that Celery has made for tasks, and makes anew when it ends."""
    return bool(current_task) and not current_task.request.called_directly


def end_process() -> None:
    """End this process at once: what hangs does not listen."""
    os.kill(os.getpid(), signal.SIGKILL)


def _postpone(job: Job, reason: str) -> None:
    """Put a running job back into the queue, to be sent again after a pause that grows."""
    pause = FIRST_PAUSE * 2 ** (job.n_tries - 1)
    _record(
        job,
        state=JobState.QUEUED,
        error=f"{reason} Attempt {job.n_tries} of {MAX_ATTEMPTS}; the next one follows.",
        traceback=traceback.format_exc(),
        lease_until=timezone.now() + pause,
    )


def _finish(job: Job, state: JobState, **outcome: Any) -> None:
    ended: dict[str, Any] = {"result": {}, "error": "", "traceback": "", "lease_until": None,
                             "is_refused": False}  # fmt: skip
    _record(job, state=state, finished_at=timezone.now(), **(ended | outcome))


def _record(job: Job, **changes: Any) -> None:
    """Write how an attempt ended, if it is still ours; outlasts a restart of the database."""
    deadline = time.monotonic() + DATABASE_SECONDS
    while True:
        try:
            Job.objects.filter(pk=job.pk, state=JobState.RUNNING, n_attempts=job.n_attempts).update(
                n_done=job.n_done, n_total=job.n_total, rate=job.rate, note=job.note, **changes
            )
        except DATABASE_LOST:
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(1)
        else:
            return
