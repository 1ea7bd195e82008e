"""The door through which Celery beat calls the reaper."""

from celery import shared_task

from jobs.services import reap_lost_jobs


@shared_task(name="jobs.tasks.reap")
def reap() -> int:
    """Take over the jobs of lost workers."""
    return reap_lost_jobs()
