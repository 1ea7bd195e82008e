"""Frozen releases, how often they were downloaded, and what was submitted to them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models import Campaign
from jobs.models import Job


class Visibility(models.TextChoices):
    """Who may see a release."""

    PUBLIC = "public", "Everybody, without signing in"
    MEMBERS = "members", "Researchers and admins"


class Release(models.Model):
    """A version of a benchmark. The row is made once its files lie whole in place, and no file
    of it changes afterwards: a correction is another version.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, help_text="Of the benchmark, the same in each version.")
    title = models.CharField(max_length=200)
    major = models.PositiveIntegerField()
    minor = models.PositiveIntegerField()
    patch = models.PositiveIntegerField()
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.MEMBERS)
    description = models.TextField(blank=True)
    campaigns = models.ManyToManyField(Campaign, related_name="releases", blank=True)
    info = models.JSONField(default=dict, help_text="release.json.")
    statistics = models.JSONField(default=dict, help_text="statistics.json.")
    entrants = models.JSONField(default=list, help_text="models.json, without the cards.")
    results = models.JSONField(default=dict, help_text="results.json: on public labels.")
    hidden_results = models.JSONField(
        default=dict, help_text="On hidden labels, rounded; empty if none are hidden."
    )
    changes = models.JSONField(default=dict, help_text="Against the version before, as text.")
    seal = models.CharField(max_length=64, help_text="Of the manifest: names the content.")
    archive_sha256 = models.CharField(max_length=64)
    archive_bytes = models.PositiveBigIntegerField()
    doi = models.CharField(
        max_length=100, blank=True, default="", help_text="Under which it was deposited."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["slug", "-major", "-minor", "-patch"]
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "major", "minor", "patch"], name="one_release_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} {self.version}"

    @property
    def version(self) -> str:
        """MAJOR.MINOR.PATCH."""
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def has_hidden_labels(self) -> bool:
        """Whether labels of some queries are kept back."""
        return bool(self.hidden_results)


class ReleasedPair(models.Model):
    """A pair of which a release tells, by content: see `releases.blindness.pairs`."""

    release = models.ForeignKey(
        Release, on_delete=models.CASCADE, related_name="pairs", db_index=False
    )
    pair = models.BigIntegerField(help_text="Both pictures' hashes, in either order, as 64 bits.")
    shows_label = models.BooleanField(help_text="It was judged, and the release says how.")
    hides_label = models.BooleanField(help_text="It was judged, and the release keeps that back.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "pair"], name="one_row_per_released_pair")
        ]
        indexes = [models.Index(fields=["pair"], name="released_pair")]


class ReleasedImage(models.Model):
    """An image that a release names, by content: see `releases.blindness.images`."""

    release = models.ForeignKey(
        Release, on_delete=models.CASCADE, related_name="images", db_index=False
    )
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sha256", "release"], name="one_row_per_released_image")
        ]
        indexes = [models.Index(fields=["release"], name="image_of_release")]


class AskedRelease(models.Model):
    """A campaign that shows its judges an image of a release. Triggers write the rows.

    The release is withheld while the campaign is open or paused.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="asked_by")
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["release", "campaign"]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "campaign"], name="one_row_per_release_and_campaign"
            )
        ]

    def __str__(self) -> str:
        return f"{self.campaign} shows judges images of {self.release}"


class Download(models.Model):
    """How often a file of a release was fetched on one day; of strangers nothing else is kept."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="downloads")
    path = models.CharField(max_length=300, help_text="In the release; empty for the archive.")
    day = models.DateField()
    n = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["release", "day", "path"]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "path", "day"], name="one_count_per_file_and_day"
            )
        ]


class Submission(models.Model):
    """Scores or embeddings that a researcher gave for a release. Private until published."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="submissions")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="submissions"
    )
    name = models.CharField(max_length=200, help_text="As shown on the leaderboard.")
    description = models.TextField(blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    coverage = models.JSONField(default=dict, help_text="Pairs, and how many of them it scores.")
    results = models.JSONField(default=dict, help_text="By measure, on the public labels.")
    by_query = models.JSONField(
        default=dict, help_text="By measure, the value of each query on the public labels."
    )
    hidden_results = models.JSONField(default=dict, help_text="On the hidden ones, rounded.")
    scored_at = models.DateTimeField(null=True, blank=True)
    is_published = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "name"],
                condition=models.Q(is_published=True),
                name="one_published_submission_per_name",
            )
        ]
        indexes = [models.Index(fields=["owner", "created_at"], name="submission_of_owner")]

    def __str__(self) -> str:
        return f"{self.name} on {self.release}"
