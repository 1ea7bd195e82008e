"""Celery tasks: return leases, compare voter models."""

from celery import shared_task

from annotation.services import reap_leases
from annotation.services.sensitivity import TASK, compare
from jobs.job_task import job_task
from jobs.status import count_lost_leases

compare_voter_models = job_task(TASK)(compare)


@shared_task(name="annotation.tasks.reap")
def reap() -> int:
    """Offer again the pairs that judges were lent and did not answer in time."""
    n_lost = reap_leases()
    count_lost_leases("pair", n_lost)
    return n_lost
