"""A task does its job, goes to the queue beside its name, and harms nothing when called twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app

from jobs import services
from jobs.job_task import job_task
from jobs.models import Job, JobState
from jobs.queues import DEVICE, LIGHT, queue_of
from jobs.work.progress import JobProgress

pytestmark = pytest.mark.django_db
NAME = "tests.count_to"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    current_app.tasks.pop(NAME, None)


def make_job() -> Job:
    return Job.objects.create(task=NAME, subject="1", title="Count", arguments={"to": 3})


def test_a_task_called_twice_does_its_job_once() -> None:
    done = []

    @job_task(NAME)
    def count_to(progress: JobProgress) -> dict[str, Any]:
        done.append(progress.job.arguments["to"])
        return {"counted": done[-1]}

    job = make_job()
    count_to(str(job.uid))
    count_to(str(job.uid))
    job.refresh_from_db()
    assert done == [3]
    assert (job.state, job.result) == (JobState.SUCCEEDED, {"counted": 3})


@pytest.mark.parametrize("error", [services.JobError("no"), ZeroDivisionError("a bug")])
def test_what_comes_after_a_job_comes_however_it_ends(error: Exception) -> None:
    states = []

    @job_task(NAME, after=lambda job: states.append(job.state))
    def count_to(progress: JobProgress) -> dict[str, Any]:
        raise error

    job = make_job()
    if isinstance(error, services.JobError):
        count_to(str(job.uid))
    else:
        with pytest.raises(ZeroDivisionError):
            count_to(str(job.uid))
    assert states == [JobState.FAILED]


def test_a_job_goes_to_the_queue_of_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    @job_task(NAME, queue=DEVICE)
    def count_to(progress: JobProgress) -> dict[str, Any]:
        return {}

    sent = []
    monkeypatch.setattr(
        current_app, "send_task", lambda task, *, args, queue: sent.append((task, queue))
    )
    services.send(make_job())
    services.send(Job.objects.create(task="catalog.tasks.import_catalog", subject="1"))
    services.send(Job.objects.create(task=NAME, subject="2", queue="device.cpu"))
    assert sent == [
        (NAME, DEVICE),
        ("catalog.tasks.import_catalog", LIGHT),
        (NAME, "device.cpu"),
    ]


def test_only_what_looks_at_pictures_or_vectors_goes_to_the_devices() -> None:
    current_app.loader.import_default_modules()
    apps = ("catalog", "annotation", "pooling", "conditional", "learning", "evaluation", "releases",
            "jobs")  # fmt: skip
    tasks = [task for task in current_app.tasks if task.partition(".")[0] in apps]
    assert sorted(task for task in tasks if queue_of(task) == DEVICE) == [
        "conditional.tasks.score",
        "learning.draw_notion",
        "learning.learn_combiner",
        "learning.learn_embedding",
        "learning.learn_text_space",
        "pooling.tasks.embed",
        "pooling.tasks.help_embed",
        "pooling.tasks.run_source",
    ]
    assert len(tasks) == 36
