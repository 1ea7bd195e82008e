"""Training runs, the text spaces that come of some, and the notions that are said in them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from catalog.models import Catalog, Projection
from jobs.models import Job
from lookalike.core.dataclass_json import from_json
from lookalike.learning.lit.space import ZeroShot


class Family(models.TextChoices):
    """What a training run ends in."""

    SPACE = "space", "Text space"
    EMBEDDING = "embedding", "Embedding"
    COMBINER = "combiner", "Combiner"


class TrainingRun(models.Model):
    """A model that was asked for: from what it is learned, how far that is, what came of it.

    Its checkpoints lie in the data folder under its uid until it is done; what is drawn at a step
    depends on seed and step alone, so a run that was killed ends in the same bytes.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    family = models.CharField(max_length=12, choices=Family.choices, default=Family.SPACE)
    catalog = models.ForeignKey(Catalog, on_delete=models.PROTECT, related_name="training_runs")
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    recipe = models.JSONField(help_text="Parent, columns, seed and what else its family has.")
    figures = models.JSONField(default=dict, help_text="Accuracies on products held out.")
    curve = models.JSONField(default=list, help_text="[step, loss], thinned out.")
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def family_name(self) -> str:
        """What it ends in, within a sentence."""
        name = Family(self.family).label
        return name if self.family == Family.COMBINER else name.lower()

    @property
    def spec(self) -> str:
        """What names its model, once it is learned."""
        return f"learned:{self.slug}"

    @property
    def projections(self) -> models.QuerySet[Projection]:
        """What was learned: the model itself, and heads on it."""
        return Projection.objects.filter(slug=self.slug).order_by("head")

    @property
    def scores(self) -> list[ZeroShot]:
        """How well captions find each attribute's values; those that were learned come first."""
        scores = [from_json(ZeroShot, row) for row in self.figures.get("attributes", [])]
        return sorted(scores, key=lambda score: not score.was_captioned)


class TextSpace(models.Model):
    """Where pictures and texts meet: a learned map of pictures' vectors, and one of texts'."""

    run = models.OneToOneField(TrainingRun, on_delete=models.CASCADE, related_name="space")
    projection = models.OneToOneField(Projection, on_delete=models.PROTECT, related_name="+")
    encoder_spec = models.CharField(max_length=300)
    encoder_fingerprint = models.CharField(max_length=64)
    texts_sha256 = models.CharField(max_length=64, help_text="Of the file of the texts' map.")

    class Meta:
        ordering = ["projection__name"]

    def __str__(self) -> str:
        return self.projection.name

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return self.projection.slug

    @property
    def catalog(self) -> Catalog:
        """From whose captions it was learned."""
        return self.run.catalog


class Notion(models.Model):
    """What similar shall mean: prompts that differ in nothing else, and the map made of them."""

    space = models.ForeignKey(TextSpace, on_delete=models.PROTECT, related_name="notions")
    projection = models.OneToOneField(Projection, on_delete=models.PROTECT, related_name="notion")
    prompts = ArrayField(models.TextField())
    recipe = models.JSONField(help_text="Words, template, method, directions, seed.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["space", "projection__name"]

    def __str__(self) -> str:
        return self.projection.name

    @property
    def slug(self) -> str:
        """Its name in addresses, beside that of its space."""
        return self.projection.head

    @property
    def spec(self) -> str:
        """What names it among models."""
        return self.projection.spec


class PictureKind(models.TextChoices):
    """What a picture of a notion shows."""

    MAP = "map", "Map"
    SALIENCY = "saliency", "Saliency"


class NotionPicture(models.Model):
    """A picture that was drawn of a notion; drawn again, it takes its own place."""

    notion = models.ForeignKey(Notion, on_delete=models.CASCADE, related_name="pictures")
    kind = models.CharField(max_length=10, choices=PictureKind.choices)
    content = models.BinaryField(help_text="A JPEG.")
    card = models.JSONField(default=dict, help_text="All that decides what it shows.")
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["notion", "kind"]
        constraints = [
            models.UniqueConstraint(fields=["notion", "kind"], name="one_picture_of_a_kind")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.notion}"
