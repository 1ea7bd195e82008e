"""Jobs: claimed once, renewed, cancelled at once, taken over when their worker is lost."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from celery import shared_task
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from accounts.models import Role, User
from jobs import services
from jobs.models import Job, JobState, Worker
from jobs.work import lost_jobs, running
from jobs.work.lost_jobs import reap_lost_jobs
from jobs.work.progress import LEASE
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def make_job(**changes: Any) -> Job:
    values: dict[str, Any] = {"task": "tests.nothing", "subject": "catalog:x", "title": "Nothing"}
    return Job.objects.create(**{**values, **changes})


def test_work_that_ends_well_stores_its_result() -> None:
    job = make_job()

    def work(progress: services.JobProgress) -> dict[str, Any]:
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

    def work(progress: services.JobProgress) -> dict[str, Any]:
        raise services.JobError("catalog.zip: not a zip file; upload another")

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert (job.state, job.error) == (
        JobState.FAILED,
        "catalog.zip: not a zip file; upload another",
    )


def test_a_fault_of_the_program_is_recorded_with_its_traceback_and_raised() -> None:
    job = make_job()

    def work(progress: services.JobProgress) -> dict[str, Any]:
        raise ZeroDivisionError("by zero")

    with pytest.raises(ZeroDivisionError):
        services.run_job(job.uid, work)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "ZeroDivisionError" in job.traceback


def test_cancelling_stops_running_work_at_its_next_step() -> None:
    job = make_job()
    steps = []

    def work(progress: services.JobProgress) -> dict[str, Any]:
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

    def work(progress: services.JobProgress) -> dict[str, Any]:
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert reap_lost_jobs() == 1
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
        n_attempts=running.MAX_ATTEMPTS,
        lease_until=timezone.now() - timedelta(seconds=1),
    )
    reap_lost_jobs()
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "lost" in job.error


def test_a_job_that_gets_on_between_the_losses_of_its_workers_is_not_given_up() -> None:
    job = make_job()

    def lose(progress: services.JobProgress, *, gets_on: bool) -> dict[str, Any]:
        if gets_on:
            progress.forgive()
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        raise services.JobLostError

    for _ in range(2 * running.MAX_ATTEMPTS):
        services.run_job(job.uid, lambda progress: lose(progress, gets_on=True))
        reap_lost_jobs()
        job.refresh_from_db()
        assert job.state == JobState.QUEUED
    for _ in range(running.MAX_ATTEMPTS - 1):
        services.run_job(job.uid, lambda progress: lose(progress, gets_on=False))
        reap_lost_jobs()
    job.refresh_from_db()
    assert (job.state, job.n_attempts) == (JobState.FAILED, 3 * running.MAX_ATTEMPTS - 1)


def test_a_living_worker_s_job_is_left_alone() -> None:
    job = make_job(state=JobState.RUNNING, lease_until=timezone.now() + timedelta(seconds=10))
    assert reap_lost_jobs() == 0
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (services.PassingError("The GPU's memory is full."), "The GPU's memory is full."),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (MemoryError(), "Out of memory"),
        (OperationalError("server closed the connection"), "The database was lost"),
    ],
)
def test_what_may_pass_is_tried_again_after_a_pause_that_grows(
    problem: Exception, words: str, sent: list[Job]
) -> None:
    job = make_job()
    pauses = []
    for _ in range(2):
        services.run_job(job.uid, failing(problem))
        job.refresh_from_db()
        assert job.state == JobState.QUEUED
        assert words in job.error
        assert job.traceback
        assert job.lease_until is not None
        pauses.append((job.lease_until - timezone.now()).total_seconds())
        assert reap_lost_jobs() == 0  # not before the pause is over
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert reap_lost_jobs() == 1
    assert pauses == pytest.approx([5, 10], abs=1)
    assert sent == [job, job]
    services.run_job(job.uid, lambda progress: {"images": 2})
    job.refresh_from_db()
    assert (job.state, job.n_attempts, job.error) == (JobState.SUCCEEDED, 3, "")


def test_what_does_not_pass_after_five_attempts_fails_for_good() -> None:
    job = make_job(n_attempts=running.MAX_ATTEMPTS - 1)
    services.run_job(job.uid, failing(OSError(errno.ENOSPC, "No space left on device")))
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "No space left" in job.error


def test_trying_again_by_hand_allows_all_attempts_anew(sent: list[Job]) -> None:
    job = make_job(state=JobState.FAILED, n_attempts=running.MAX_ATTEMPTS)
    services.retry_job(job=job)
    for attempt in range(1, running.MAX_ATTEMPTS):
        services.run_job(job.uid, failing(OSError(errno.ENOSPC, "No space left on device")))
        job.refresh_from_db()
        assert job.state == JobState.QUEUED
        assert f"Attempt {attempt} of 5" in job.error
    services.run_job(job.uid, failing(OSError(errno.ENOSPC, "No space left on device")))
    job.refresh_from_db()
    assert (job.state, job.n_attempts) == (JobState.FAILED, 2 * running.MAX_ATTEMPTS)


def test_a_job_tried_again_survives_the_loss_of_its_next_worker(sent: list[Job]) -> None:
    job = make_job(state=JobState.FAILED, n_attempts=running.MAX_ATTEMPTS)
    services.retry_job(job=job)
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.update(state=JobState.RUNNING, n_attempts=6, lease_until=past)
    assert reap_lost_jobs() == 1
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_worker_of_before_the_retry_stores_nothing(sent: list[Job]) -> None:
    job = make_job()

    def work(progress: services.JobProgress) -> dict[str, Any]:
        services.cancel_job(job=job)
        services.retry_job(job=job)
        services.run_job(job.uid, lambda progress: {"by": "the second worker"})
        return {"by": "the first worker"}

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert job.result == {"by": "the second worker"}


def test_a_lease_renewed_while_the_reaper_looks_keeps_the_job(
    sent: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    past = timezone.now() - timedelta(seconds=1)
    slow = make_job(state=JobState.RUNNING, n_attempts=1, lease_until=past)
    lost = make_job(state=JobState.RUNNING, n_attempts=1, lease_until=past, subject="other")
    later = timezone.now() + LEASE

    def send(job: Job) -> None:  # the first is sent; meanwhile the worker of the other reports
        sent.append(job)
        Job.objects.filter(pk=slow.pk).update(lease_until=later)

    monkeypatch.setattr(lost_jobs, "send", send)
    assert reap_lost_jobs() == 1  # the newest comes first
    slow.refresh_from_db()
    assert (sent, slow.state, slow.lease_until) == ([lost], JobState.RUNNING, later)


def test_a_command_says_at_once_that_the_disk_is_full() -> None:
    with pytest.raises(services.JobError, match="No space left"):
        services.run_here(
            task="tests.nothing",
            subject="s",
            title="Nothing",
            arguments={},
            work=failing(OSError(errno.ENOSPC, "No space left on device")),
        )
    assert Job.objects.get().state == JobState.FAILED


def test_a_missing_file_is_no_passing_problem() -> None:
    job = make_job()
    services.run_job(job.uid, failing(FileNotFoundError(errno.ENOENT, "No such file", "a.jpg")))
    job.refresh_from_db()
    assert job.state == JobState.FAILED


def test_one_person_cannot_flood_the_queue(settings: Any, sent: list[Job]) -> None:
    settings.MAX_OPEN_JOBS = 2
    ada, ben = (User.objects.create_user(name, role=Role.ADMIN) for name in ("ada", "ben"))

    def ask(owner: User | None, subject: str) -> None:
        services.enqueue(
            task="tests.nothing", subject=subject, title="Nothing", arguments={}, owner=owner
        )

    ask(ada, "1")
    ask(ada, "2")
    with pytest.raises(services.JobConflictError, match="You have 2 jobs"):
        ask(ada, "3")
    ask(ben, "4")
    ask(None, "5")
    Job.objects.filter(subject="1").update(state=JobState.SUCCEEDED)
    ask(ada, "6")
    assert [job.subject for job in sent] == ["1", "2", "4", "5", "6"]


def test_nobody_floods_the_queue_by_asking_in_many_places_at_once(
    settings: Any, sent: list[Job]
) -> None:
    settings.MAX_OPEN_JOBS = 1
    ada = User.objects.create_user("ada", role=Role.ADMIN)

    def ask(subject: str) -> None:
        services.enqueue(
            task="tests.nothing", subject=subject, title="Nothing", arguments={}, owner=ada
        )

    def ask_elsewhere() -> None:
        with closing(connection), pytest.raises(services.JobConflictError, match="You have 1"):
            ask("2")

    with ThreadPoolExecutor(1) as elsewhere:
        with transaction.atomic():
            ask("1")
            asking = elsewhere.submit(ask_elsewhere)
            time.sleep(0.2)  # it waits here, or has found no job and is done
        asking.result()
    assert [job.subject for job in sent] == ["1"]


def test_a_job_says_who_holds_it_and_how_many_are_ahead(settings: Any) -> None:
    settings.WORKER_NAME = "cpu on here"
    worker = Worker.objects.create(name="cpu on here", queue="device.cpu", device="cpu")
    job = make_job()
    services.run_job(job.uid, lambda progress: {})
    job.refresh_from_db()
    assert job.held_by == worker
    device = [make_job(task="pooling.tasks.embed", subject=str(n)) for n in range(3)]
    light = make_job(subject="light")
    own = make_job(task="pooling.tasks.embed", subject="own", queue="device.cpu")
    waiting = (*device, light, own)
    assert [job.n_ahead for job in waiting] == [0, 1, 2, 0, 0]
    assert [job.poll_seconds for job in waiting] == [1, 5, 5, 1, 1]  # pages ask anew so often


# ---- work that hangs ----
@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    """Silence is noticed soon once JOB_SILENT_MINUTES is 0; what was ended for it."""
    settings.JOB_SILENT_MINUTES = settings.JOB_LONG_MINUTES = 60
    monkeypatch.setattr(running, "HEARTBEAT_SECONDS", 0.01)
    found: list[str] = []
    monkeypatch.setattr(running, "end_process", lambda: found.append("this one"))
    return found


@pytest.mark.parametrize("in_worker", [False, True])
def test_work_that_hangs_loses_its_job_and_in_a_worker_its_process(
    ended: list[str], in_worker: bool, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(running, "_is_in_worker", lambda: in_worker)
    job = make_job()

    def is_given_up() -> bool:
        return "No sign of life for 0 minutes" in Job.objects.get(pk=job.pk).error

    def work(progress: services.JobProgress) -> dict[str, Any]:
        progress.start(0, 3, "embedding")
        settings.JOB_SILENT_MINUTES = 0
        wait_until(is_given_up)
        lease = Job.objects.get(pk=job.pk).lease_until
        time.sleep(0.2)  # some twenty heartbeats, were there any
        assert Job.objects.get(pk=job.pk).lease_until == lease
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        reap_lost_jobs()
        progress.update(1)
        return {"by": "the one that hung"}

    services.run_job(job.uid, work)
    job.refresh_from_db()
    assert (job.state, job.result) == (JobState.QUEUED, {})
    assert "while: embedding" in job.error
    assert ended == (["this one"] if in_worker else [])


def test_a_phase_that_says_it_is_long_may_be_silent(ended: list[str], settings: Any) -> None:
    job = make_job()

    def work(progress: services.JobProgress) -> dict[str, Any]:
        for begin in (progress.start, progress.update):
            begin(0, 3, "searching", is_long=True)
            settings.JOB_SILENT_MINUTES = 0
            lease = Job.objects.get(pk=job.pk).lease_until
            wait_until(lambda lease=lease: Job.objects.get(pk=job.pk).lease_until > lease)  # type: ignore[misc]
        assert not progress.is_hung
        progress.start(0, 3, "embedding")
        wait_until(lambda: progress.is_hung)
        return {}

    services.run_job(job.uid, work)


def test_a_process_is_a_worker_s_only_within_a_task_that_came_from_the_broker() -> None:
    seen = []

    @shared_task(name="tests.seen")
    def seen_from() -> None:
        seen.append(running._is_in_worker())

    assert not running._is_in_worker()
    seen_from()
    seen_from.apply()
    assert seen == [False, True]


def test_a_job_that_was_cancelled_meanwhile_stores_nothing() -> None:
    stored = []

    def work_that(report: Callable[[services.JobProgress], None]) -> services.Work:
        def work(progress: services.JobProgress) -> dict[str, Any]:
            progress.start(0, 5, "searching")
            services.cancel_job(job=Job.objects.get(pk=progress.job.pk))
            report(progress)
            stored.append(report)
            return {}

        return work

    reports: list[Callable[[services.JobProgress], None]] = [
        lambda progress: progress.update(5),  # the last report is written at once
        lambda progress: progress.hold(),
    ]
    for report in reports:
        job = make_job()
        services.run_job(job.uid, work_that(report))
        job.refresh_from_db()
        assert job.state == JobState.CANCELLED
    assert stored == []


def test_nobody_cancels_a_job_between_holding_it_and_storing() -> None:
    job = make_job()
    cancelled: list[bool] = []

    def cancel() -> None:
        try:
            cancelled.append(services.cancel_job(job=Job.objects.get(pk=job.pk)))
        finally:
            connection.close()

    def work(progress: services.JobProgress) -> dict[str, Any]:
        with transaction.atomic():
            progress.hold()
            thread = threading.Thread(target=cancel)
            thread.start()
            thread.join(0.2)
            assert cancelled == []
        thread.join(60)
        assert cancelled == [True]
        return {}

    services.run_job(job.uid, work)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """What was handed to the broker."""
    found: list[Job] = []
    for module in (services, lost_jobs):
        monkeypatch.setattr(module, "send", found.append)
    return found


def failing(problem: Exception) -> services.Work:
    """Work that ends in a problem."""

    def work(_: services.JobProgress) -> dict[str, Any]:
        raise problem

    return work
