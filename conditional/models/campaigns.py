"""Which campaign asks a panel about which set of templates or triplets."""

from __future__ import annotations

from django.db import models

from annotation.models import Campaign
from conditional.models.sets import TemplateSet
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
