"""What commands share: one JSON object, progress apart from it, and no job left open."""

from __future__ import annotations

import os
import signal
import socket
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs import services
from jobs.models import Job, JobState
from jobs.services import JobError, JobProgress, Work
from jobs.work.commands import JobCommand

pytestmark = pytest.mark.django_db


class Counting(JobCommand):
    """Does the work it was given."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)

    def handle(self, *args: object, **options: Any) -> None:
        result = self.run_work(
            task="t", subject="s", title="Count", arguments={"n": 3}, work=self.work
        )
        self.report(result, as_json=options["json"], lines=[f"{result['n']} counted", "Done"])


def count(progress: JobProgress) -> dict[str, Any]:
    for i in range(4):
        progress.update(i, 3, "Counting")
    return {"n": 3, "words": "ü"}


def test_json_stands_alone_on_stdout_and_progress_on_stderr(capsys: pytest.CaptureFixture[str]):
    call_command(Counting(count), "--json")
    out, err = capsys.readouterr()
    assert out == '{"n": 3, "words": "ü"}\n'
    assert "Counting" in err
    assert Job.objects.get().state == JobState.SUCCEEDED


def test_words_for_people_without_json(capsys: pytest.CaptureFixture[str]):
    call_command(Counting(count))
    assert capsys.readouterr().out == "3 counted\nDone\n"


def test_an_expected_failure_is_a_command_error_in_the_same_words():
    def fail(progress: JobProgress) -> dict[str, Any]:
        raise JobError("There is no such thing; look elsewhere.")

    with pytest.raises(CommandError, match="There is no such thing; look elsewhere"):
        call_command(Counting(fail))
    assert Job.objects.get().state == JobState.FAILED


def test_a_bug_is_not_hidden():
    def fail(progress: JobProgress) -> dict[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call_command(Counting(fail))
    assert Job.objects.get().state == JobState.FAILED


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Take Ctrl-C as a program of a terminal does; one begun in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_polite_end_stops_a_command_that_ignores_ctrl_c():
    def work(progress: JobProgress) -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            progress.update(1, 3)
        return {}

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(CommandError, match="goes on from there"):
            call_command(Counting(work))
    finally:
        signal.signal(signal.SIGINT, before)
    assert Job.objects.get().state == JobState.CANCELLED


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_cancels_the_job_and_says_how_to_go_on(sign: signal.Signals, interruptible: None):
    before = signal.getsignal(signal.SIGTERM)

    def work(progress: JobProgress) -> dict[str, Any]:
        os.kill(os.getpid(), sign)
        for _ in range(1000):
            progress.update(1, 3)
        return {}

    with pytest.raises(CommandError, match="goes on from there"):
        call_command(Counting(work))
    assert Job.objects.get().state == JobState.CANCELLED
    assert signal.getsignal(signal.SIGTERM) == before


def running(worker: str, lease: timedelta) -> Job:
    return Job.objects.create(
        task="t",
        subject="s",
        title="Count",
        state=JobState.RUNNING,
        n_attempts=1,
        worker=worker,
        lease_until=timezone.now() + lease,
    )


@pytest.mark.parametrize(
    ("worker", "lease"),
    [
        (f"{socket.gethostname()}:4194304", timedelta(seconds=20)),  # no such process
        ("elsewhere:1", timedelta(seconds=-1)),  # its lease has run out
    ],
)
def test_the_job_of_a_process_that_is_gone_is_taken_over(worker: str, lease: timedelta):
    job = running(worker, lease)
    call_command(Counting(count))
    job.refresh_from_db()
    assert (job.state, job.n_attempts, job.arguments) == (JobState.SUCCEEDED, 2, {"n": 3})


def test_a_job_taken_over_is_not_left_to_a_worker_when_it_fails():
    def fail(progress: JobProgress) -> dict[str, Any]:
        raise MemoryError

    job = running("elsewhere:1", timedelta(seconds=-1))
    with pytest.raises(CommandError, match="Out of memory"):
        call_command(Counting(fail))
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "Out of memory.")


def test_a_command_killed_before_its_work_began_is_taken_over(monkeypatch: pytest.MonkeyPatch):
    def is_killed(*_: object, **__: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as dying:
        dying.setattr(services, "this_process", lambda: f"{socket.gethostname()}:4194304")
        dying.setattr(services, "run_job", is_killed)
        with pytest.raises(SystemExit):
            call_command(Counting(count))
    job = Job.objects.get()
    assert job.state == JobState.QUEUED
    call_command(Counting(count))
    job.refresh_from_db()
    assert (job.state, job.n_attempts) == (JobState.SUCCEEDED, 1)


def test_a_job_that_waits_for_a_worker_is_left_alone():
    job = Job.objects.create(task="t", subject="s", title="Count")
    with pytest.raises(CommandError, match="already queued or running"):
        call_command(Counting(count))
    job.refresh_from_db()
    assert (job.state, job.n_attempts) == (JobState.QUEUED, 0)


@pytest.mark.parametrize(
    "worker", [f"{socket.gethostname()}:{os.getpid()}", "elsewhere:1"], ids=["here", "elsewhere"]
)
def test_the_job_of_a_living_process_is_left_alone(worker: str):
    job = running(worker, timedelta(seconds=20))
    with pytest.raises(CommandError, match="already queued or running"):
        call_command(Counting(count))
    job.refresh_from_db()
    assert (job.state, job.n_attempts) == (JobState.RUNNING, 1)
