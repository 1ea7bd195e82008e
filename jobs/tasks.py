"""Celery tasks: take over lost jobs; and a worker's beginning and end."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from jobs.status import note_light_worker
from jobs.work.heartbeat import say_goodbye, start_heartbeat
from jobs.work.lost_jobs import reap_lost_jobs

_heartbeats: list[Any] = []


@shared_task(name="jobs.tasks.reap")
def reap() -> int:
    """Take over the jobs of lost workers."""
    n_lost = reap_lost_jobs()
    note_light_worker(n_lost)
    return n_lost


@worker_ready.connect
def begin(**_: Any) -> None:
    """Report a device worker alive."""
    if settings.WORKER_NAME:
        _heartbeats.append(start_heartbeat())


@worker_shutting_down.connect
def end(**_: Any) -> None:
    """Report a device worker gone, when it is told to stop."""
    for stop in _heartbeats:
        stop.set()
    if _heartbeats:
        say_goodbye()
