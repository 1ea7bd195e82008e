"""Celery tasks: import images, draw maps."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from catalog.importing.uploads import drop_old_uploads
from catalog.maps.services import MAP_TASK
from catalog.queries import IMPORT_TASK
from catalog.services import drop_uploads_of, import_work
from jobs.job_task import job_task, serve
from jobs.services import JobProgress


@shared_task(name="catalog.drop_old_uploads")
def drop_uploads() -> int:
    """Delete uploads whose job failed a day ago."""
    return drop_old_uploads()


@job_task(IMPORT_TASK, after=drop_uploads_of)
def import_catalog(progress: JobProgress) -> dict[str, Any]:
    """Import the images that a job names."""
    drop_old_uploads()
    return import_work(progress)


@job_task(MAP_TASK)
def draw_map(progress: JobProgress) -> dict[str, Any]:
    """Lay the images of an embedding set out in the plane."""
    return serve("catalog.maps.services.draw_map", progress)
