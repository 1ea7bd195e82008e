"""The door through which a worker comes."""

from celery import shared_task

from catalog import services
from catalog.queries import IMPORT_TASK


@shared_task(name=IMPORT_TASK)
def import_catalog(uid: str) -> None:
    """Do an import job; a second delivery finds nothing to do."""
    services.run_import(uid)
