"""What releases were made from stays."""

from __future__ import annotations

from typing import Any

from django.db.models import ProtectedError
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from conditional.models import TripletSet
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
