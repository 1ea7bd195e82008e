"""Device workers: heard of while they live, forgotten when they are silent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import redis
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from jobs import status
from jobs.models import SILENT_AFTER, Worker
from jobs.work import heartbeat
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def identity(settings: Any) -> None:
    settings.WORKER_NAME = "cpu on here"
    settings.WORKER_QUEUE = "device.cpu-on-here"
    settings.WORKER_DEVICE = "cpu"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("identity")
def test_a_heartbeat_renews_one_row_and_keeps_when_it_began():
    began = timezone.now() - timedelta(hours=1)
    heartbeat.report_alive()
    Worker.objects.update(seen_at=began, started_at=began)
    heartbeat.report_alive()
    worker = Worker.objects.get()
    assert worker.is_alive
    assert worker.started_at == began
    assert (worker.queue, worker.device) == ("device.cpu-on-here", "cpu")
    heartbeat.say_goodbye()
    worker.refresh_from_db()
    assert not worker.is_alive


def test_only_the_living_on_the_same_kind_of_device_are_asked():
    def worker(name: str, device: str, silent_for: timedelta = timedelta()) -> Worker:
        return Worker.objects.create(
            name=name, queue=name, device=device, seen_at=timezone.now() - silent_for
        )

    first, second = worker("a", "cuda:0"), worker("b", "cuda:1")
    worker("c", "cuda:2", SILENT_AFTER)
    processor = worker("d", "cpu")
    assert list(heartbeat.live_workers("cuda:1")) == [first, second]
    assert list(heartbeat.live_workers("cpu")) == [processor]


@pytest.mark.django_db(transaction=True)
def test_a_light_worker_is_alive_while_all_its_processes_are_busy() -> None:
    """The worker's main process watches, so that no task has to wait for a free process."""
    cache.delete(status.LIGHT_SEEN)
    stop = heartbeat.start_watch(lambda: True)
    wait_until(lambda: status.seconds_since_light_worker() < 60)
    stop.set()
    assert "jobs.tasks.reap" not in settings.CELERY_BEAT_SCHEDULE


def test_a_light_worker_without_its_clock_does_not_count_as_alive() -> None:
    cache.delete(status.LIGHT_SEEN)
    heartbeat.watch_jobs(lambda: False)
    assert status.seconds_since_light_worker() > 60
    heartbeat.watch_jobs(lambda: True)
    assert status.seconds_since_light_worker() < 60


@pytest.mark.django_db(transaction=True)
def test_the_watch_outlives_a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []

    def step() -> int:
        steps.append(1)
        raise redis.ConnectionError

    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(heartbeat, "reap_lost_jobs", step)
    stop = heartbeat.start_watch(lambda: True)
    wait_until(lambda: len(steps) > 2)
    stop.set()
