"""Sets of retrieval templates over the images of a catalog, and what any judge is asked."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.urls import reverse
from django.utils import timezone

from catalog.models import Catalog, Image
from lookalike.conditional.crops import Dilation
from lookalike.conditional.types import DistractorKind, Task

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
BASELINE_LABELS = {
    "image": "Image only", "text": "Text only", "image_text": "Image + text",
    "notion": "Image, by the condition’s notion", "combiner": "Image + text, by the Combiner",
}  # fmt: skip
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
    split = ArrayField(
        models.BigIntegerField(),
        default=list,
        help_text="Image ids that templates without a gallery look among.",
    )
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
        return reverse("conditional:set", args=[self.slug])

    @property
    def crops(self) -> Dilation:
        """How its boxes are cut out, as `lookalike.conditional.crops.crop_box` knows it."""
        return "symmetric" if self.recipe.get("crops") == "symmetric" else "paper"


class TemplateScore(models.Model):
    """What one model scores on a set by one baseline; scoring again replaces it."""

    template_set = models.ForeignKey(TemplateSet, on_delete=models.CASCADE, related_name="scores")
    model = models.CharField(max_length=300, help_text="Spec of the model or embedding set.")
    baseline = models.CharField(max_length=10, help_text="image, text or image_text")
    is_normalised = models.BooleanField(
        default=False, help_text="Features were scaled to length 1 before they were combined."
    )
    figures = models.JSONField(
        help_text="As `conditional.template_sets.recall_services.compute_figures`."
    )
    scored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["template_set", "model", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["template_set", "model", "baseline", "is_normalised"],
                name="one_score_per_baseline",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model}, {self.baseline_label}"

    @property
    def baseline_label(self) -> str:
        """What the query is made of, in words."""
        label = BASELINE_LABELS[self.baseline]
        return f"{label}, normalised" if self.is_normalised else label


class PanelQuestion(models.Model):
    """What a judge is asked: which of some candidates fits an image, maybe given a condition.

    Its kinds are `annotation.task_kinds.Subject`.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    position = models.PositiveIntegerField(help_text="Place in the draw or in the file.")
    condition = models.TextField()

    class Meta:
        abstract = True

    @property
    def crops(self) -> Dilation:
        """How boxes are cut out."""
        return "paper"


class RetrievalTemplate(PanelQuestion):
    """Which image of a gallery is most like the reference, given the condition?

    As `lookalike.conditional.types.RetrievalTemplate`: the gallery holds the distractors only, in
    the order of the draw or of the file; `answer` is where the target was drawn to stand
    among them.
    """

    template_set = models.ForeignKey(
        TemplateSet, on_delete=models.CASCADE, related_name="templates"
    )
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
    def compared_id(self) -> int:
        """The reference."""
        return self.reference_id

    @property
    def candidates(self) -> list[int]:
        """The image ids to choose from: the distractors in their order, then the target.

        Without a gallery of its own: all images of the split but the reference.
        """
        if self.gallery:
            return [*self.gallery, self.target_id]
        but = (self.reference_id, self.target_id)
        return [*(pk for pk in self.template_set.split if pk not in but), self.target_id]

    @property
    def n_candidates(self) -> int:
        """How many images there are to choose from."""
        return len(self.candidates)

    @property
    def crops(self) -> Dilation:
        """How boxes are cut out, which its set says."""
        return self.template_set.crops

    def box_of(self, place: int | None) -> list[float] | None:
        """Return the box of a candidate, or of the reference for None; None for all of it."""
        if not self.boxes:
            return None
        if place is None:
            role = "reference"
        else:
            role = "target" if place == len(self.gallery) else f"gallery[{place}]"
        box: list[float] | None = self.boxes.get(role)
        return box
