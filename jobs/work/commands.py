"""What the commands that do background work share: progress, one JSON object, exit codes."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from jobs.errors import JobConflictError, JobError
from jobs.models import OPEN_STATES, Job
from jobs.services import Work, cancel_job, require_success, run_here, run_job
from jobs.work.lost_jobs import lost_job
from lookalike.core.errors import Refused


class JobCommand(BaseCommand):
    """A command whose work is a job: progress on stderr, the result on stdout.

    A subclass calls `run_work` and then `report`. With --json stdout is one JSON object and
    nothing else. An expected failure is a CommandError, so the exit code is not 0.
    """

    requires_system_checks = []  # the work needs no page; checking them takes a second

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add --json; a subclass that adds its own calls this too."""
        parser.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run; what is refused, or a file that cannot be read, is a CommandError."""
        try:
            return super().execute(*args, **options)
        except (Refused, OSError) as problem:
            raise CommandError(str(problem)) from problem

    def run_work(
        self, *, task: str, subject: str, title: str, arguments: dict[str, Any], work: Work
    ) -> dict[str, Any]:
        """Do the work in this process and return the job's result.

        The same job left by a command or worker that was killed is taken over. Ctrl-C cancels.

        Raises:
            CommandError: the work failed, is being done elsewhere, or was interrupted.
        """
        named = {"task": task, "subject": subject}
        with _shown(title) as on_change, _stoppable():
            try:
                try:
                    job = run_here(
                        **named, title=title, arguments=arguments, work=work, on_change=on_change
                    )
                except JobConflictError:
                    lost = lost_job(**named)
                    if lost is None:
                        raise
                    job = _take_over(lost, arguments, work, on_change)
            except JobError as problem:
                raise CommandError(str(problem)) from problem
            except KeyboardInterrupt:
                for job in Job.objects.filter(**named, state__in=OPEN_STATES):
                    cancel_job(job=job)
                raise CommandError(
                    "Interrupted. What is done is kept; the same command goes on from there."
                ) from None
        return dict(job.result)

    def report(self, result: dict[str, Any], *, as_json: bool, lines: list[str]) -> None:
        """Write the result to stdout: one JSON object, or `lines` for people."""
        if as_json:
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(lines))


def _take_over(job: Job, arguments: dict[str, Any], work: Work, on_change: Any) -> Job:
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=job.pk, n_attempts=job.n_attempts).update(
        arguments=arguments, lease_until=past
    )
    run_job(job.uid, work, on_change=on_change, tries_again=False)
    require_success(job)
    return job


@contextmanager
def _shown(title: str) -> Iterator[Any]:
    """Draw a progress bar on stderr; what is yielded takes the job at each change."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        row = bar.add_task(title, total=None, rate="")

        def on_change(job: Job) -> None:
            bar.update(
                row,
                description=job.note or title,
                completed=job.n_done,
                total=job.n_total,
                rate=f"{job.rate:.1f}/s" if job.rate else "",
            )

        yield on_change


@contextmanager
def _stoppable() -> Iterator[None]:
    """Treat a polite request to end (SIGTERM) like Ctrl-C, so that the job is not left open."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not the main thread: tests and servers keep their own handling
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
