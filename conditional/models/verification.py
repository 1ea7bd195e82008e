"""People check templates: campaigns, their panel, and what was answered and decided."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from conditional.models.sets import RetrievalTemplate, TemplateSet


class VerificationState(models.TextChoices):
    """Whether a campaign takes answers."""

    OPEN = "open", "Open"
    CLOSED = "closed", "Closed"


class Choice(models.TextChoices):
    """What a judge said of a template."""

    PICK = "pick", "One image"
    NONE = "none", "None of them"
    SEVERAL = "several", "Several"
    BAD = "bad_condition", "Bad condition"
    WITHDRAWN = "withdrawn", "Taken back"


class Verification(models.Model):
    """A template set put to a panel: everybody answers every template, blindly."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    template_set = models.ForeignKey(
        TemplateSet, on_delete=models.PROTECT, related_name="verifications"
    )
    state = models.CharField(
        max_length=10, choices=VerificationState, default=VerificationState.OPEN
    )
    seed = models.BigIntegerField(default=0, help_text="Of templates, orders and galleries.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)
    templates = models.ManyToManyField(RetrievalTemplate, related_name="verifications")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether answers are taken."""
        return self.state == VerificationState.OPEN


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
    """What a judge did, never changed; the last one of a template that is not undone counts."""

    uuid = models.UUIDField(unique=True, help_text="Made by the browser.")
    verifier = models.ForeignKey(Verifier, on_delete=models.PROTECT, related_name="answers")
    template = models.ForeignKey(RetrievalTemplate, on_delete=models.PROTECT, related_name="+")
    choice = models.CharField(max_length=15, choices=Choice)
    picked = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Place among the template's candidates."
    )
    device = models.CharField(max_length=10)
    shown_at = models.DateTimeField(help_text="By the browser's clock.")
    decided_at = models.DateTimeField(help_text="By the browser's clock.")
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["verifier", "template", "-id"])]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(choice=Choice.PICK, picked__isnull=False)
                | (~models.Q(choice=Choice.PICK) & models.Q(picked__isnull=True)),
                name="a_pick_names_an_image",
            )
        ]


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
