"""Background work as rows of our own, so that a killed worker's job is taken over."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from jobs.queues import queue_of


class JobState(models.TextChoices):
    """Where a job stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    SUCCEEDED = "succeeded", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)
SILENT_AFTER = timedelta(seconds=20)
MANY_LINES = 8


class Worker(models.Model):
    """A process that does jobs on one device, as it last reported itself."""

    name = models.CharField(max_length=150, unique=True)
    queue = models.CharField(max_length=150, help_text="The Celery queue that it alone reads.")
    device = models.CharField(max_length=20, help_text="cpu, mps, cuda:0, …")
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now, help_text="Its last heartbeat.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_alive(self) -> bool:
        """Whether it has been heard of lately."""
        return self.seen_at > timezone.now() - SILENT_AFTER


class Job(models.Model):
    """One piece of work that a Celery task does, perhaps over several attempts.

    The row is the truth; the broker only carries its id. A running job has a lease that its
    worker renews; when the lease runs out, the reaper puts the job back in the queue.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.CharField(max_length=100, help_text="Celery task that does the work.")
    subject = models.CharField(
        max_length=200, help_text="What it works on; one open job per task and subject."
    )
    title = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    n_done = models.PositiveBigIntegerField(default=0)
    n_total = models.PositiveBigIntegerField(null=True, blank=True)
    note = models.CharField(max_length=300, blank=True, help_text="What is being done now.")
    rate = models.FloatField(null=True, blank=True, help_text="Units a second, lately.")
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True, help_text="For people: what went wrong, what to do.")
    traceback = models.TextField(blank=True)
    n_attempts = models.PositiveSmallIntegerField(default=0, help_text="In all; names the holder.")
    n_forgiven = models.PositiveSmallIntegerField(
        default=0,
        help_text="Of these, before it last kept a part of its work or was tried again by hand.",
    )
    worker = models.CharField(max_length=200, blank=True, help_text="host:process")
    held_by = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    queue = models.CharField(
        max_length=150, blank=True, help_text="A worker's own queue; empty leaves it to the task."
    )
    lease_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="While running: lost after this. While queued: not sent again before this.",
    )
    request_id = models.CharField(
        max_length=64, blank=True, help_text="Of the request that started it, for the logs."
    )
    is_dismissed = models.BooleanField(
        default=False, db_default=False, help_text="Failed, and nobody need look at it any more."
    )
    is_refused = models.BooleanField(
        default=False, db_default=False, help_text="Failed by what it was given to work on."
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "lease_until"]), models.Index(fields=["subject"])]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "subject"],
                condition=models.Q(state__in=OPEN_STATES),
                name="one_open_job_per_subject",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_open(self) -> bool:
        """Whether the job still has something to do."""
        return self.state in OPEN_STATES

    @property
    def n_tries(self) -> int:
        """Attempts that count against the limit."""
        return self.n_attempts - self.n_forgiven

    @property
    def error_parts(self) -> tuple[str, str]:
        """The error, and apart from it its further lines where they would fill the page."""
        head, _, rest = self.error.partition("\n")
        return (head, rest) if rest.count("\n") >= MANY_LINES else (self.error, "")

    @property
    def share_done(self) -> float | None:
        """The part done, 0 to 1, or None while the total is unknown."""
        if not self.n_total:
            return None
        return min(1.0, self.n_done / self.n_total)

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end at the recent rate, or None when unknown."""
        if not self.rate or self.n_total is None:
            return None
        return max(0.0, (self.n_total - self.n_done) / self.rate)

    @cached_property
    def n_ahead(self) -> int:
        """Queued jobs that the same workers take before this one."""
        before = Job.objects.filter(state=JobState.QUEUED, queue=self.queue, pk__lt=self.pk)
        mine = queue_of(self.task)
        of_task = before.order_by().values_list("task").annotate(n=models.Count("pk"))
        return sum(n for task, n in of_task if queue_of(task) == mine)

    @property
    def needs_another_file(self) -> bool:
        """Whether it was refused for its upload, which stays what it is: no try can help."""
        return self.is_refused and self.task == "evaluation.tasks.add_run"

    @property
    def poll_seconds(self) -> int:
        """How often a page asks anew how far it is; rarely while others are ahead of it."""
        return 5 if self.state == JobState.QUEUED and self.n_ahead else 1
