"""What becomes of a job whose worker died: queued again, taken over, or failed in the end."""

from __future__ import annotations

import socket
from datetime import timedelta

import psutil
from django.db.models import F, Q
from django.utils import timezone

from jobs.models import OPEN_STATES, Job, JobState
from jobs.services import send
from jobs.work.running import MAX_ATTEMPTS


def reap_lost_jobs() -> int:
    """Queue again the jobs whose worker went silent, and re-send jobs the broker forgot.

    A job that has lost its worker MAX_ATTEMPTS times is failed, not tried for ever.
    """
    now = timezone.now()
    lost = Q(state=JobState.RUNNING, lease_until__lt=now)
    Job.objects.filter(lost, n_attempts__gte=F("n_forgiven") + MAX_ATTEMPTS).update(
        state=JobState.FAILED,
        finished_at=now,
        error=f"Its worker was lost {MAX_ATTEMPTS} times; see the worker's log.",
    )
    minute_ago = now - timedelta(minutes=1)
    forgotten = Q(state=JobState.QUEUED) & (
        Q(lease_until__isnull=True, created_at__lt=minute_ago) | Q(lease_until__lt=now)
    )
    n_sent = 0
    for job in Job.objects.filter(lost | forgotten):
        # a worker that was only slow may have renewed its lease since: then it is its own
        as_read = Job.objects.filter(pk=job.pk, state=job.state, lease_until=job.lease_until)
        # lease_until of a queued job: do not send it again before then
        if as_read.update(state=JobState.QUEUED, lease_until=now + timedelta(minutes=10)):
            send(job)
            n_sent += 1
    return n_sent


def lost_job(*, task: str, subject: str) -> Job | None:
    """Return the open job of a process that is gone, if that is what stands in the way."""
    job = Job.objects.filter(task=task, subject=subject, state__in=OPEN_STATES).first()
    if job is None:
        return None
    host, _, pid = job.worker.rpartition(":")
    is_gone = host == socket.gethostname() and pid.isdigit() and not psutil.pid_exists(int(pid))
    is_running = job.state == JobState.RUNNING
    is_late = is_running and job.lease_until is not None and job.lease_until < timezone.now()
    return job if is_gone or is_late else None
