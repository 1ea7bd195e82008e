"""The doors through which workers come."""

from celery import shared_task

from annotation.services import reap_leases
from annotation.services.sensitivity import TASK, run_comparison


@shared_task(name="annotation.tasks.reap")
def reap() -> int:
    """Offer again the pairs that judges were lent and did not answer in time."""
    return reap_leases()


@shared_task(name=TASK)
def compare_voter_models(uid: str) -> None:
    """Compare a campaign's labels with models of its voters."""
    run_comparison(uid)
