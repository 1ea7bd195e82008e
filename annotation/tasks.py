"""The door through which Celery beat calls the reaper of leases."""

from celery import shared_task

from annotation.services import reap_leases


@shared_task(name="annotation.tasks.reap")
def reap() -> int:
    """Offer again the pairs that judges were lent and did not answer in time."""
    return reap_leases()
