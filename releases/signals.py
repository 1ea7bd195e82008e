"""Protect what releases were made from, and hide labels that a release hides."""

from __future__ import annotations

from typing import Any

from django.db.models import ProtectedError
from django.db.models.signals import post_save, pre_delete
from django.dispatch import receiver

from annotation.models import Campaign, CampaignState
from conditional.models import TripletSet
from releases.blindness.pairs import note_campaign
from releases.models import Release


@receiver(pre_delete, sender=TripletSet)
def keep_released_triplets(instance: TripletSet, **kwargs: Any) -> None:
    """Protect a set of triplets that a release holds.

    Raises:
        ProtectedError: a release holds it.
    """
    triplet_sets = [{"slug": instance.slug}]
    release = Release.objects.filter(info__triplet_sets__contains=triplet_sets).first()
    if release is not None:
        raise ProtectedError(f"“{instance}” is held by {release}; it is kept.", {instance})


@receiver(post_save, sender=Campaign)
def hide_what_judges_are_asked(
    instance: Campaign, update_fields: frozenset[str] | None, **kwargs: Any
) -> None:
    """Hide the labels of a campaign that is opened or gets pairs where a release hides them."""
    is_asked = instance.state in (CampaignState.OPEN, CampaignState.PAUSED)
    if is_asked and (update_fields is None or update_fields & {"state", "n_questions"}):
        note_campaign(campaign=instance)
