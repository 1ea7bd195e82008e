"""Device workers: the heartbeat by which one is known to live, and who is alive."""

from __future__ import annotations

import threading

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from jobs.models import SILENT_AFTER, Worker
from jobs.work.running import DATABASE_LOST

BEAT_SECONDS = 5.0


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
    stop = threading.Event()

    def beat() -> None:
        while True:
            try:
                report_alive()
            except DATABASE_LOST:
                connection.close()  # the next beat connects anew
            if stop.wait(BEAT_SECONDS):
                break
        connection.close()

    threading.Thread(target=beat, daemon=True, name="worker heartbeat").start()
    return stop


def say_goodbye() -> None:
    """Let this worker count as gone from now on."""
    Worker.objects.filter(name=settings.WORKER_NAME).update(seen_at=timezone.now() - SILENT_AFTER)
    connection.close()
