"""What has been decided about the images of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q

from catalog.models import Image, NearDuplicate, Omission, ProductMerge


@dataclass(frozen=True)
class CuratedPair:
    """A pair that looks alike, with what has been decided about it.

    Attributes:
        pair: the finding.
        sides: each image, and why it is left out if it is.
        merge: by which the two are one product, if an admin said so here.
    """

    pair: NearDuplicate
    sides: list[tuple[Image, Omission | None]]
    merge: ProductMerge | None

    @property
    def is_same_product(self) -> bool:
        """Whether both are of one known product."""
        first = self.pair.first.product_id
        return bool(first) and first == self.pair.second.product_id


def curated(pairs: Iterable[NearDuplicate]) -> list[CuratedPair]:
    """Return pairs with what has been decided about them."""
    listed = list(pairs)
    ids = {pk for pair in listed for pk in (pair.first_id, pair.second_id)}
    omissions = {omission.image_id: omission for omission in open_omissions(ids)}
    merges = ProductMerge.objects.filter(
        Q(first__in=ids) & Q(second__in=ids), undone_at=None
    ).order_by("pk")
    merge_of = {frozenset((merge.first_id, merge.second_id)): merge for merge in merges}
    return [
        CuratedPair(
            pair,
            [(image, omissions.get(image.pk)) for image in (pair.first, pair.second)],
            merge_of.get(frozenset((pair.first_id, pair.second_id))),
        )
        for pair in listed
    ]


def open_omissions(image_ids: Iterable[int]) -> list[Omission]:
    """Return which of some images are left out, and why."""
    omissions = Omission.objects.filter(image__in=list(image_ids), undone_at=None)
    return list(omissions.select_related("made_by"))
