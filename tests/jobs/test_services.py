"""Jobs: claimed once, renewed, cancelled at once, taken over when their worker is lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs import services
from jobs.models import Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)


def make_job(**changes: Any) -> Job:
    values: dict[str, Any] = {"task": "tests.nothing", "subject": "catalog:x", "title": "Nothing"}
    return Job.objects.create(**{**values, **changes})


def test_work_that_ends_well_stores_its_result() -> None:
    job = make_job()

    def work(progress: services.Progress) -> dict[str, Any]:
        progress.update(2, 2, "reading")
        return {"images": 2}

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert (job.state, job.result, job.n_done, job.lease_until) == (
        JobState.SUCCEEDED,
        {"images": 2},
        2,
        None,
    )


def test_a_task_delivered_twice_works_once() -> None:
    job = make_job()
    calls = []
    for _ in range(2):
        services.run_job(job.uid, lambda progress: calls.append(1) or {})  # type: ignore[func-returns-value]
    assert calls == [1]


def test_an_expected_failure_keeps_its_words_for_people() -> None:
    job = make_job()

    def work(progress: services.Progress) -> dict[str, Any]:
        raise services.JobError("catalog.zip: not a zip file; upload another")

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert (job.state, job.error) == (
        JobState.FAILED,
        "catalog.zip: not a zip file; upload another",
    )


def test_a_fault_of_the_program_is_recorded_with_its_traceback_and_raised() -> None:
    job = make_job()

    def work(progress: services.Progress) -> dict[str, Any]:
        raise ZeroDivisionError("by zero")

    with pytest.raises(ZeroDivisionError):
        services.run_job(job.uid, work)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "ZeroDivisionError" in job.traceback


def test_cancelling_stops_running_work_at_its_next_step() -> None:
    job = make_job()
    steps = []

    def work(progress: services.Progress) -> dict[str, Any]:
        for step in range(10):
            progress.update(step, 10)
            steps.append(step)
            if step == 2:
                services.cancel_job(job=Job.objects.get(pk=job.pk))
                progress.renew()
        return {}

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert (job.state, steps) == (JobState.CANCELLED, [0, 1, 2])


def test_the_same_work_is_not_queued_twice() -> None:
    make_job()
    with pytest.raises(services.JobConflictError, match="Nothing"):
        services.enqueue(
            task="tests.nothing", subject="catalog:x", title="Nothing", arguments={}, owner=None
        )


def test_a_lost_worker_s_job_goes_back_to_the_queue_and_the_lost_worker_stores_nothing() -> None:
    job = make_job()

    def work(progress: services.Progress) -> dict[str, Any]:
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert services.reap_lost_jobs() == 1
        services.run_job(job.uid, lambda progress: {"by": "the second worker"})
        return {"by": "the lost worker"}

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert (job.state, job.result, job.n_attempts) == (
        JobState.SUCCEEDED,
        {"by": "the second worker"},
        2,
    )


def test_a_job_that_keeps_losing_its_worker_fails_in_the_end() -> None:
    job = make_job(
        state=JobState.RUNNING,
        n_attempts=services.MAX_ATTEMPTS,
        lease_until=timezone.now() - timedelta(seconds=1),
    )
    services.reap_lost_jobs()
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "lost" in job.error


def test_a_living_worker_s_job_is_left_alone() -> None:
    job = make_job(state=JobState.RUNNING, lease_until=timezone.now() + timedelta(seconds=10))
    assert services.reap_lost_jobs() == 0
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
