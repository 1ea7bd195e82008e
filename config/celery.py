"""The Celery application: `celery -A config worker -Q light` and `-Q device`."""

from __future__ import annotations

import logging.config
import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, setup_logging, worker_process_init

from config.operation.reporting import start_reporting
from config.running.memory import settle_memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Django's checks load every page: a server's start makes them, and a worker shows none
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
app = Celery("lookalike")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_after_setup.connect
def settle(**_: Any) -> None:
    """Leave what is loaded out of collections of garbage, that processes go on sharing it."""
    settle_memory()


@worker_process_init.connect
def report(**_: Any) -> None:
    """Report errors and traces from the process that does the work."""
    start_reporting()


if os.environ.get("LOG_FORMAT", "").strip() == "json":

    @setup_logging.connect
    def log_as_json(**_: Any) -> None:
        """Keep Celery from a format of its own."""
        from django.conf import settings  # noqa: PLC0415  # not before it is asked for

        logging.config.dictConfig(settings.LOGGING)
