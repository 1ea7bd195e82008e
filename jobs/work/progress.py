"""What running work holds: how far it is, that its lease is kept, and whether it must stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from jobs.errors import JobLostError
from jobs.models import Job, JobState

LEASE = timedelta(seconds=20)
WRITE_SECONDS = 0.3  # progress is not written more often


class JobProgress:
    """The `Progress` of a running job: says how far it is, and learns that it must stop.

    Work that neither reports nor asks for long is taken for hung: its lease is no longer
    renewed, and another worker gets the job. A phase that cannot report often says `is_long`.
    """

    def __init__(self, job: Job, on_change: Callable[[Job], None] | None = None) -> None:
        self.job = job
        self._on_change = on_change
        self._lost = threading.Event()
        self._seen: list[tuple[float, int]] = [(time.monotonic(), job.n_done)]
        self._written = 0.0
        self._moved = time.monotonic()
        self._is_long = False

    def start(self, n_done: int, n_total: int | None, note: str, *, is_long: bool = False) -> None:
        """Begin a phase of the work: what was done before it does not count as speed.

        Args:
            n_done: units done already.
            n_total: units in all; None while that is unknown.
            note: what is being done now.
            is_long: it may go on for hours without a word, as a search does.
        """
        self._seen = [(time.monotonic(), n_done)]
        self.job.rate = None
        self.job.n_total = n_total
        self._written = 0.0
        self.update(n_done, n_total, note, is_long=is_long)

    def update(
        self,
        n_done: int,
        n_total: int | None = None,
        note: str | None = None,
        *,
        is_long: bool | None = None,
    ) -> None:
        """Record progress (at most every 0.3 s); `is_long` as in `start`, None leaves it.

        Raises:
            JobLostError: the job was cancelled, or another worker holds it.
        """
        self.check()
        now = time.monotonic()
        self.job.n_done = n_done
        if n_total is not None:
            self.job.n_total = n_total
        if note is not None:
            self.job.note = note[:300]
        if is_long is not None:
            self._is_long = is_long
        self._seen = [*self._seen[-20:], (now, n_done)]
        (t0, n0) = self._seen[0]
        if now > t0 and n_done > n0:
            self.job.rate = (n_done - n0) / (now - t0)
        if now - self._written >= WRITE_SECONDS or n_done == self.job.n_total:
            self.hold()
        if self._on_change is not None:
            self._on_change(self.job)

    def note(self, text: str) -> None:
        """Say what is being done now; the units done stay as they are."""
        self.update(self.job.n_done, note=text)

    def hold(self) -> None:
        """Make sure that the job is still ours; to be called just before its work is stored.

        In a transaction nobody can cancel the job or take it over until the transaction ends.

        Raises:
            JobLostError: the job was cancelled, or another worker holds it.
        """
        self._written = time.monotonic()
        self.renew()
        self.check()

    def forgive(self) -> None:
        """Say that something was stored from which the next attempt goes on.

        Attempts before this one no longer count: work that gets on between the losses of its
        workers, such as restarts of a site, is not what kills them.
        """
        if self.job.n_tries > 1:
            self.job.n_forgiven = self.job.n_attempts - 1
            Job.objects.filter(pk=self.job.pk, n_attempts=self.job.n_attempts).update(
                n_forgiven=self.job.n_forgiven
            )

    def renew(self) -> None:
        """Write progress and lease; notice when the job has been cancelled or taken over."""
        job = self.job
        n_kept = Job.objects.filter(
            pk=job.pk, state=JobState.RUNNING, n_attempts=job.n_attempts
        ).update(
            n_done=job.n_done,
            n_total=job.n_total,
            note=job.note,
            rate=job.rate,
            lease_until=timezone.now() + LEASE,
        )
        if n_kept == 0:
            self._lost.set()

    def check(self) -> None:
        """Raise JobLostError if the job was cancelled or is held by another worker."""
        self._moved = time.monotonic()
        if self._lost.is_set():
            raise JobLostError(str(self.job.uid))

    @property
    def silent_minutes(self) -> int:
        """How long the work may be silent now before it is taken for hung."""
        return settings.JOB_LONG_MINUTES if self._is_long else settings.JOB_SILENT_MINUTES

    @property
    def is_hung(self) -> bool:
        """Whether the work has been silent for longer than it may be."""
        return time.monotonic() - self._moved > 60 * self.silent_minutes

    def give_up(self) -> str:
        """Let the lease run out and the work stop at its next step; return why, for people."""
        self._lost.set()
        reason = f"No sign of life for {self.silent_minutes} minutes"
        doing = f"{reason} while: {self.job.note}." if self.job.note else f"{reason}."
        Job.objects.filter(
            pk=self.job.pk, state=JobState.RUNNING, n_attempts=self.job.n_attempts
        ).update(error=doing)
        return doing
