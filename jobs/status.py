"""What of the site works, and how much waits: for the probes, the metrics and the admins' page."""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
from dataclasses import dataclass
from functools import cache as once

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Min
from django.utils import timezone

from jobs.disk import free_bytes, has_room
from jobs.models import SILENT_AFTER, Job, JobState, Worker
from jobs.queues import DEVICE, LIGHT

LIGHT_SEEN = "jobs:light-worker-seen"
LEASES = "jobs:lease-expiries"
LIGHT_SILENT_SECONDS = 60.0
BROKER_SECONDS = 2.0
READY_SHARE = 0.5  # of LEAST_FREE_MIB, below which the site is not ready: judging still works then


def note_light_worker(n_lost: int) -> None:
    """Note that a light worker and the clock that wakes it live, and the leases it found lost."""
    cache.set(LIGHT_SEEN, time.time(), timeout=None)
    count_lost_leases("job", n_lost)


def count_lost_leases(kind: str, n: int) -> None:
    """Add to the leases that ran out: of a job, or of a pair that a judge was lent."""
    if n:
        cache.add(f"{LEASES}:{kind}", 0, timeout=None)
        cache.incr(f"{LEASES}:{kind}", n)


def lost_leases(kind: str) -> int:
    """Return how many leases have run out since the broker was made."""
    return int(cache.get(f"{LEASES}:{kind}", 0))


@once
def _broker() -> redis.Redis:
    location = settings.CACHES["default"]["LOCATION"]
    return redis.Redis.from_url(
        location, socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
    )


def check_database() -> None:
    """Raise if the database does not answer."""
    with connection.cursor() as cursor:
        cursor.execute("select 1")


def check_broker() -> None:
    """Raise if the broker does not answer."""
    _broker().ping()


def check_storage() -> None:
    """Raise if the data folder takes no file, or its disk will soon be full."""
    if not has_room(0, share=READY_SHARE):
        raise OSError(errno.ENOSPC, f"{free_bytes():,} bytes are free")
    with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
        file.write(b"x")


def check_workers() -> None:
    """Raise if no light worker or no device worker was heard of lately."""
    if seconds_since_light_worker() > LIGHT_SILENT_SECONDS:
        raise LookupError("light worker")
    if not Worker.objects.filter(seen_at__gt=timezone.now() - SILENT_AFTER).exists():
        raise LookupError("device worker")


CHECKS = {
    "database": check_database,
    "broker": check_broker,
    "storage": check_storage,
    "workers": check_workers,
}


def seconds_since_light_worker() -> float:
    """Return how long ago a light worker was last heard of."""
    return time.time() - float(cache.get(LIGHT_SEEN, 0))


def queue_depths() -> dict[str, int]:
    """Return how many messages wait in each queue."""
    names = [LIGHT, DEVICE, *Worker.objects.values_list("queue", flat=True)]
    with _broker().pipeline(transaction=False) as pipe:
        for name in names:
            pipe.llen(name)
        return dict(zip(names, pipe.execute(), strict=True))


@dataclass(frozen=True)
class OpenJobs:
    """Jobs of one state.

    Attributes:
        n: how many.
        seconds: how long the oldest has been in it; 0 if there is none.
    """

    n: int
    seconds: float


def open_jobs_by_state() -> dict[str, OpenJobs]:
    """Return how many jobs wait and run, and for how long."""
    now = timezone.now()
    found = {}
    for state, since in ((JobState.QUEUED, "created_at"), (JobState.RUNNING, "started_at")):
        told = Job.objects.filter(state=state).aggregate(n=Count("pk"), first=Min(since))
        age = (now - told["first"]).total_seconds() if told["first"] else 0.0
        found[state.value] = OpenJobs(told["n"], max(0.0, age))
    return found


def database_bytes() -> int:
    """Return how large the database is."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


@dataclass(frozen=True)
class SiteStatus:
    """What admins see of the site's inside."""

    queues: dict[str, int]
    jobs: dict[str, OpenJobs]
    light_seconds: float
    disk_free: int
    disk_total: int
    database_bytes: int

    @property
    def is_light_alive(self) -> bool:
        """Whether a light worker was heard of lately."""
        return self.light_seconds <= LIGHT_SILENT_SECONDS

    @property
    def disk_percent(self) -> int:
        """How much of the disk is free."""
        return round(100 * self.disk_free / self.disk_total)


def site_status() -> SiteStatus:
    """Ask the database, the broker and the disk.

    Raises:
        redis.RedisError: the broker does not answer.
    """
    disk = shutil.disk_usage(settings.DATA_DIR)
    return SiteStatus(
        queues=queue_depths(),
        jobs=open_jobs_by_state(),
        light_seconds=seconds_since_light_worker(),
        disk_free=disk.free,
        disk_total=disk.total,
        database_bytes=database_bytes(),
    )
