"""Sets of retrieval templates and of triplets, over the images of a catalog."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from catalog.models import Catalog, EmbeddingSet, Image
from conditional.types import DistractorKind, Task

TASK_LABELS = {
    Task.FOCUS_ATTRIBUTE: "Focus on an attribute",
    Task.CHANGE_ATTRIBUTE: "Change an attribute",
    Task.FOCUS_OBJECT: "Focus on an object",
    Task.CHANGE_OBJECT: "Change an object",
    Task.COMPOSED: "Composed retrieval",
}
KIND_LABELS = {
    DistractorKind.LACKS_CONDITION: "lacks the condition",
    DistractorKind.LACKS_REFERENCE: "unlike the reference",
    DistractorKind.UNKNOWN: "kind unknown",
}
TASK_CHOICES = [(task.value, label) for task, label in TASK_LABELS.items()]


class TemplateSet(models.Model):
    """Retrieval templates of one task over one catalog, built here or imported. Fixed for good."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    catalog = models.ForeignKey(Catalog, on_delete=models.PROTECT, related_name="template_sets")
    task = models.CharField(max_length=20, choices=TASK_CHOICES)
    source = models.CharField(max_length=40, help_text="catalog, genecis, cirr, …")
    seed = models.BigIntegerField(null=True, blank=True, help_text="Of the draw, if drawn here.")
    recipe = models.JSONField(default=dict, help_text="What the builder was asked for.")
    report = models.JSONField(default=dict, help_text="How it came about: tries, rejections.")
    defects = models.JSONField(default=list, help_text="Entries of the file that were left out.")
    file_name = models.CharField(max_length=300, blank=True)
    file_sha256 = models.CharField(max_length=64, blank=True, help_text="Of the imported file.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class RetrievalTemplate(models.Model):
    """Which image of a gallery is most like the reference, given the condition?

    As `conditional.types.RetrievalTemplate`: the gallery holds the distractors only, in the order
    of the draw or of the file; `answer` is where the target was drawn to stand among them.
    """

    template_set = models.ForeignKey(
        TemplateSet, on_delete=models.CASCADE, related_name="templates"
    )
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    position = models.PositiveIntegerField(help_text="Place in the draw or in the file.")
    condition = models.TextField()
    reference = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    target = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    gallery = ArrayField(models.BigIntegerField(), help_text="Image ids of the distractors.")
    kinds = ArrayField(models.CharField(max_length=20), help_text="One for each distractor.")
    answer = models.PositiveSmallIntegerField(null=True, blank=True)
    boxes = models.JSONField(default=dict, help_text="{role: [left, top, width, height]}")
    facts = models.JSONField(default=dict, help_text="What made the builder choose it.")
    details = models.JSONField(default=dict, help_text="Further keys of the file, by role.")

    class Meta:
        ordering = ["template_set", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["template_set", "position"], name="one_template_per_position"
            )
        ]
        indexes = [models.Index(fields=["template_set", "condition"])]

    def __str__(self) -> str:
        return f"{self.template_set} {self.position}"

    @property
    def candidates(self) -> list[int]:
        """The image ids to choose from: the distractors in their order, then the target."""
        return [*self.gallery, self.target_id]

    @property
    def n_candidates(self) -> int:
        """How many images there are to choose from."""
        return len(self.gallery) + 1

    def box_of(self, place: int | None) -> list[float] | None:
        """Return the box of a candidate, or of the reference for None; None for all of it."""
        if place is None:
            role = "reference"
        else:
            role = "target" if place == len(self.gallery) else f"gallery[{place}]"
        found: list[float] | None = self.boxes.get(role)
        return found


class TripletSet(models.Model):
    """Imported answers to "which of two is more like the anchor?". Fixed for good."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    catalog = models.ForeignKey(Catalog, on_delete=models.PROTECT, related_name="triplet_sets")
    file_name = models.CharField(max_length=300, blank=True)
    file_sha256 = models.CharField(max_length=64, blank=True)
    defects = models.JSONField(default=list, help_text="Rows of the file that were left out.")
    scale = models.JSONField(default=dict, help_text="{image id: known value}, if one is known.")
    figures = models.JSONField(default=dict, help_text="Counted when it was imported.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


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
