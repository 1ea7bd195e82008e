"""Project configuration; the Celery application loads with Django so that tasks find it."""

import gc

# A process makes hundreds of thousands of objects while it starts, and nearly all of them stay:
# to look for garbage at every 700th costs a web process a seventh of its start.
gc.set_threshold(50_000, 20, 50)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
