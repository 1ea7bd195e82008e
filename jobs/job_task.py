"""Celery tasks that do jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import shared_task
from django.utils.module_loading import import_string

from jobs.models import Job
from jobs.queues import LIGHT, JobTask
from jobs.work.progress import JobProgress
from jobs.work.running import Work, run_job


def job_task(
    name: str, *, queue: str = LIGHT, after: Callable[[Job], None] | None = None
) -> Callable[[Work], Callable[[str], None]]:
    """Make a Celery task of a job's work; the task takes the job's uid.

    Args:
        name: what jobs call it; stored with them, so it stays when a module moves.
        queue: of the workers that do it.
        after: called with the job when an attempt has ended, however it did.
    """

    def decorate(work: Work) -> Callable[[str], None]:
        def task(job_uid: str) -> None:
            try:
                run_job(job_uid, work)
            finally:
                job = Job.objects.select_related("owner").filter(uid=job_uid).first()
                if after is not None and job is not None:
                    after(job)

        task.__doc__ = work.__doc__
        celery_task: Callable[[str], None] = shared_task(name=name, base=JobTask, job_queue=queue)(
            task
        )
        return celery_task

    return decorate


def serve(service: str, progress: JobProgress) -> dict[str, Any]:
    """Do a job by a service that takes its arguments and its progress.

    Args:
        service: dotted path; imported only now, because it may load torch.
    """
    do: Callable[..., dict[str, Any]] = import_string(service)
    return do(progress=progress, **progress.job.arguments)
