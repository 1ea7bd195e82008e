"""Signs of life of workers, and who is alive."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from jobs.models import SILENT_AFTER, Worker
from jobs.status import note_light_worker
from jobs.work.lost_jobs import reap_lost_jobs
from jobs.work.running import DATABASE_LOST

BEAT_SECONDS = 5.0
log = logging.getLogger(__name__)


def live_workers(device: str) -> QuerySet[Worker]:
    """Return the living workers of the same kind of device (cpu, mps or cuda)."""
    kind = device.partition(":")[0]
    since = timezone.now() - SILENT_AFTER
    return Worker.objects.filter(device__startswith=kind, seen_at__gt=since)


def report_alive() -> None:
    """Write this worker's heartbeat."""
    now = timezone.now()
    state = {"queue": settings.WORKER_QUEUE, "device": settings.WORKER_DEVICE, "seen_at": now}
    Worker.objects.update_or_create(
        name=settings.WORKER_NAME, defaults=state, create_defaults={**state, "started_at": now}
    )


def start_heartbeat() -> threading.Event:
    """Report this worker's life in a thread until the event that is returned is set."""
    return _repeat(report_alive, "worker heartbeat")


def watch_jobs(clock_is_alive: Callable[[], bool]) -> None:
    """Take over the jobs of lost workers, and report this light worker alive.

    Args:
        clock_is_alive: Whether the process that wakes periodic tasks lives.
    """
    n_lost = reap_lost_jobs()
    if clock_is_alive():
        note_light_worker(n_lost)
    else:
        log.error("The clock of the light worker has ended: start the worker again.")


def start_watch(clock_is_alive: Callable[[], bool]) -> threading.Event:
    """Watch over jobs in a thread of the light worker, however busy its processes are.

    Returns:
        The event that ends it.
    """
    return _repeat(lambda: watch_jobs(clock_is_alive), "watch over jobs")


def _repeat(step: Callable[[], object], name: str) -> threading.Event:
    """Take a step every BEAT_SECONDS in a thread until the event that is returned is set."""
    stop = threading.Event()

    def repeat() -> None:
        while True:
            try:
                step()
            except DATABASE_LOST:
                connection.close()  # the next step connects again
            except Exception:  # a broker that is away, a full disk: the next step may succeed
                log.warning("A step failed: %s", name, exc_info=True)
            if stop.wait(BEAT_SECONDS):
                break
        connection.close()

    threading.Thread(target=repeat, daemon=True, name=name).start()
    return stop


def say_goodbye() -> None:
    """Let this worker count as gone from now on."""
    Worker.objects.filter(name=settings.WORKER_NAME).update(seen_at=timezone.now() - SILENT_AFTER)
    connection.close()
