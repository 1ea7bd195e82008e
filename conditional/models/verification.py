"""Templates or triplets put to a panel, and what was answered and decided."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from conditional.models.sets import PanelQuestion, RetrievalTemplate, TemplateSet
from conditional.models.triplets import TripletQuestion, TripletSet


class VerificationState(models.TextChoices):
    """Whether a campaign takes answers."""

    OPEN = "open", "Open"
    CLOSED = "closed", "Closed"


class Choice(models.TextChoices):
    """What a judge said of a template or a triplet."""

    PICK = "pick", "One image"
    NONE = "none", "None of them"
    SEVERAL = "several", "Several"
    BAD = "bad_condition", "Bad condition"
    CANT_TELL = "cant_tell", "Can’t tell"
    WITHDRAWN = "withdrawn", "Taken back"


class Verification(models.Model):
    """A set of templates or of triplets put to a panel: everybody answers all of it, blindly."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    template_set = models.ForeignKey(
        TemplateSet,
        on_delete=models.PROTECT,
        related_name="verifications",
        null=True,
        blank=True,
        help_text="Either this or a triplet set.",
    )
    triplet_set = models.ForeignKey(
        TripletSet, on_delete=models.PROTECT, related_name="verifications", null=True, blank=True
    )
    state = models.CharField(
        max_length=10, choices=VerificationState, default=VerificationState.OPEN
    )
    seed = models.BigIntegerField(default=0, help_text="Of templates, orders and galleries.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)
    guidelines = models.TextField(blank=True, help_text="Markdown; judges read it.")
    templates = models.ManyToManyField(RetrievalTemplate, related_name="verifications")
    triplets = models.ManyToManyField(TripletQuestion, related_name="verifications")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(template_set__isnull=False, triplet_set__isnull=True)
                | models.Q(template_set__isnull=True, triplet_set__isnull=False),
                name="templates_or_triplets",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether answers are taken."""
        return self.state == VerificationState.OPEN

    @property
    def is_of_triplets(self) -> bool:
        """Whether it asks about triplets, and not about templates."""
        return self.triplet_set_id is not None

    @property
    def noun(self) -> str:
        """What it asks about, in the plural."""
        return "triplets" if self.is_of_triplets else "templates"

    @property
    def asked_set(self) -> TemplateSet | TripletSet:
        """The set that it asks about."""
        asked = self.triplet_set or self.template_set
        assert asked is not None  # noqa: S101 - a constraint of the table
        return asked

    @property
    def questions(self) -> models.QuerySet[PanelQuestion]:
        """What the panel is asked."""
        return self.triplets.all() if self.is_of_triplets else self.templates.all()

    @property
    def answered_field(self) -> str:
        """Which field of an answer names the question."""
        return "triplet" if self.is_of_triplets else "template"


class Verifier(models.Model):
    """One judge of a verification."""

    verification = models.ForeignKey(Verification, on_delete=models.CASCADE, related_name="panel")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="verifying"
    )
    number = models.PositiveSmallIntegerField(help_text="On the panel, from 0; seeds the orders.")

    class Meta:
        ordering = ["verification", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["verification", "annotator"], name="one_verifier_per_person"
            ),
            models.UniqueConstraint(
                fields=["verification", "number"], name="one_verifier_per_number"
            ),
        ]


class VerifierAnswer(models.Model):
    """What a judge did, never changed; the last one of a question that is not undone counts."""

    uuid = models.UUIDField(unique=True, help_text="Made by the browser.")
    verifier = models.ForeignKey(Verifier, on_delete=models.PROTECT, related_name="answers")
    template = models.ForeignKey(
        RetrievalTemplate, on_delete=models.PROTECT, related_name="+", null=True
    )
    triplet = models.ForeignKey(
        TripletQuestion, on_delete=models.PROTECT, related_name="+", null=True
    )
    choice = models.CharField(max_length=15, choices=Choice)
    picked = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Place among the question's candidates."
    )
    device = models.CharField(max_length=10)
    shown_at = models.DateTimeField(help_text="By the browser's clock.")
    decided_at = models.DateTimeField(help_text="By the browser's clock.")
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["verifier", "template", "-id"]),
            models.Index(fields=["verifier", "triplet", "-id"], name="answers_about_triplets"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(choice=Choice.PICK, picked__isnull=False)
                | (~models.Q(choice=Choice.PICK) & models.Q(picked__isnull=True)),
                name="a_pick_names_an_image",
            ),
            models.CheckConstraint(
                condition=models.Q(template__isnull=False, triplet__isnull=True)
                | models.Q(template__isnull=True, triplet__isnull=False),
                name="one_question_an_answer",
            ),
        ]

    @property
    def question_id(self) -> int:
        """The id of the template or triplet that is answered."""
        found = self.triplet_id if self.template_id is None else self.template_id
        assert found is not None  # noqa: S101 - a constraint of the table
        return found


class TemplateRuling(models.Model):
    """What an admin ruled where the panel had no majority; the last one counts."""

    verification = models.ForeignKey(Verification, on_delete=models.CASCADE, related_name="rulings")
    template = models.ForeignKey(RetrievalTemplate, on_delete=models.PROTECT, related_name="+")
    passes = models.BooleanField()
    note = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    ruled_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
