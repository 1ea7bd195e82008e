"""Device workers: heard of while they live, forgotten when they are silent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import SILENT_AFTER, Worker
from jobs.work import heartbeat

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
