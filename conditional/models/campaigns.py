"""Which campaign asks a panel about which set of templates or triplets."""

from __future__ import annotations

from django.db import models

from annotation.models import Campaign
from conditional.models.sets import PanelQuestion, TemplateSet
from conditional.models.triplets import TripletSet


class SetCampaign(models.Model):
    """A campaign about a set: its questions' subjects are templates or triplets of it."""

    campaign = models.OneToOneField(
        Campaign, on_delete=models.CASCADE, primary_key=True, related_name="about"
    )
    template_set = models.ForeignKey(
        TemplateSet,
        on_delete=models.PROTECT,
        related_name="campaigns",
        null=True,
        blank=True,
        help_text="Either this or a triplet set.",
    )
    triplet_set = models.ForeignKey(
        TripletSet, on_delete=models.PROTECT, related_name="campaigns", null=True, blank=True
    )

    class Meta:
        ordering = ["-campaign"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(template_set__isnull=False, triplet_set__isnull=True)
                | models.Q(template_set__isnull=True, triplet_set__isnull=False),
                name="about_templates_or_triplets",
            )
        ]

    def __str__(self) -> str:
        return str(self.campaign)

    @property
    def is_of_triplets(self) -> bool:
        """Whether it asks about triplets, and not about templates."""
        return self.triplet_set_id is not None

    @property
    def asked_set(self) -> TemplateSet | TripletSet:
        """The set that it asks about."""
        asked = self.triplet_set or self.template_set
        assert asked is not None  # noqa: S101 - a constraint of the table
        return asked

    @property
    def questions(self) -> models.QuerySet[PanelQuestion]:
        """The templates or triplets that the panel is asked about, by position."""
        asked = self.campaign.questions.filter(kind="pair").values("subject")
        of_set = self.asked_set
        rows = of_set.questions if isinstance(of_set, TripletSet) else of_set.templates
        found: models.QuerySet[PanelQuestion] = rows.filter(pk__in=asked).order_by("position")
        return found
