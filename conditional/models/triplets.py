"""Triplets over the images of a catalog: what is asked, what was answered, what models score."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from catalog.models import Catalog, EmbeddingSet, Image
from conditional.models.sets import PanelQuestion


class TripletSource(models.TextChoices):
    """Where a set of triplets comes from."""

    FILE = "file", "Imported"
    SUGGESTED = "suggested", "Suggested"
    CAMPAIGN = "campaign", "Judged here"


class TripletSet(models.Model):
    """Questions "which of two is more like the anchor?" and answers to them. Fixed for good.

    A suggested set has questions only; the questions behind the answers of another set are
    stored when they are first put to a panel.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    catalog = models.ForeignKey(Catalog, on_delete=models.PROTECT, related_name="triplet_sets")
    source = models.CharField(max_length=10, choices=TripletSource, default=TripletSource.FILE)
    seed = models.BigIntegerField(null=True, blank=True, help_text="Of the draw, if suggested.")
    recipe = models.JSONField(default=dict, help_text="What it was made from, and how.")
    report = models.JSONField(default=dict, help_text="How it came about.")
    file_name = models.CharField(max_length=300, blank=True)
    file_sha256 = models.CharField(max_length=64, blank=True)
    defects = models.JSONField(default=list, help_text="Rows of the file that were left out.")
    scale = models.JSONField(default=dict, help_text="{image id: known value}, if one is known.")
    figures = models.JSONField(default=dict, help_text="Counted when it was stored.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return where it is shown."""
        return reverse("conditional:triplets", args=[self.slug])

    @property
    def n_questions(self) -> int:
        """How many questions it holds, or its answers are about."""
        return int(self.figures.get("n_questions", 0))


class TripletQuestion(PanelQuestion):
    """Which of two candidates is closer to the anchor?

    The first candidate is the one with the smaller id, so that nothing tells which is closer.
    """

    triplet_set = models.ForeignKey(TripletSet, on_delete=models.CASCADE, related_name="questions")
    condition = models.TextField(blank=True)
    anchor = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    first = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    facts = models.JSONField(default=dict, help_text="Why it was suggested.")

    class Meta:
        ordering = ["triplet_set", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["triplet_set", "position"], name="one_question_per_place"
            ),
            models.UniqueConstraint(
                fields=["triplet_set", "anchor", "first", "second", "condition"],
                name="no_question_twice",
            ),
            models.CheckConstraint(
                condition=models.Q(first__lt=models.F("second")), name="candidates_by_id"
            ),
        ]

    @property
    def compared_id(self) -> int:
        """The anchor."""
        return self.anchor_id

    @property
    def candidates(self) -> list[int]:
        """The two image ids."""
        return [self.first_id, self.second_id]

    def box_of(self, place: int | None) -> list[float] | None:
        """Return None: triplets show whole images."""
        return None


class Triplet(models.Model):
    """One person's answer: to the anchor, `closer` is more similar than `farther`."""

    triplet_set = models.ForeignKey(TripletSet, on_delete=models.CASCADE, related_name="triplets")
    position = models.PositiveIntegerField(help_text="Among the rows that were taken.")
    anchor = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    closer = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    farther = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    condition = models.CharField(max_length=200, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    is_swapped = models.BooleanField(default=False, help_text="Reversed on purpose in the file.")

    class Meta:
        ordering = ["triplet_set", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["triplet_set", "position"], name="one_triplet_per_position"
            )
        ]


class TripletScore(models.Model):
    """What one embedding set scores on a triplet set, by one metric."""

    triplet_set = models.ForeignKey(TripletSet, on_delete=models.CASCADE, related_name="scores")
    embedding_set = models.ForeignKey(EmbeddingSet, on_delete=models.CASCADE, related_name="+")
    metric = models.CharField(max_length=10)
    figures = models.JSONField()
    scored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["triplet_set", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["triplet_set", "embedding_set", "metric"], name="one_score_per_metric"
            )
        ]


class TripletAlignment(models.Model):
    """How well several embedding sets cover the conditions of a triplet set (WS-CSL)."""

    triplet_set = models.ForeignKey(TripletSet, on_delete=models.CASCADE, related_name="alignments")
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    metric = models.CharField(max_length=10)
    seed = models.BigIntegerField(help_text="Of the parts to fit on and to score on.")
    inputs = models.JSONField(help_text="Hashes of the triplets and of every embedding set.")
    inputs_sha256 = models.CharField(max_length=64)
    result = models.JSONField(help_text="As `lookalike.conditional.criterion.Criterion.as_json`.")
    scored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["triplet_set", "-scored_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["triplet_set", "inputs_sha256"], name="one_alignment_per_input"
            )
        ]
