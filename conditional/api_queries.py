"""What the API reads of templates and triplets; images by uid."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from conditional.models import (
    RetrievalTemplate,
    Triplet,
    TripletQuestion,
    TripletSet,
)
from conditional.triplets.pictures import image_uids


@dataclass(frozen=True)
class NamedDistractor:
    """An image of a gallery that is not the target, and why it is there."""

    image: uuid.UUID
    kind: str


@dataclass(frozen=True)
class NamedTemplate:
    """A template with its images; the gallery in the order of the draw, without the target."""

    template: RetrievalTemplate
    reference: uuid.UUID
    target: uuid.UUID
    gallery: list[NamedDistractor]


@dataclass(frozen=True)
class NamedTriplet:
    """An answer with its images; who gave it is not told."""

    triplet: Triplet
    anchor: uuid.UUID
    closer: uuid.UUID
    farther: uuid.UUID


@dataclass(frozen=True)
class NamedQuestion:
    """A question about two candidates with its images."""

    question: TripletQuestion
    anchor: uuid.UUID
    first: uuid.UUID
    second: uuid.UUID


def triplet_sets_with_counts() -> QuerySet[TripletSet]:
    """Return the sets of triplets with the number of their answers."""
    sets = TripletSet.objects.select_related("catalog").prefetch_related("scores__embedding_set")
    return sets.annotate(n_answers=Count("triplets"))


def name_templates(rows: Sequence[RetrievalTemplate]) -> list[NamedTemplate]:
    """Join templates with their images."""
    uids = image_uids(pk for row in rows for pk in (row.reference_id, row.target_id, *row.gallery))
    return [
        NamedTemplate(
            row,
            uids[row.reference_id],
            uids[row.target_id],
            [
                NamedDistractor(uids[pk], kind)
                for pk, kind in zip(row.gallery, row.kinds, strict=True)
            ],
        )
        for row in rows
    ]


def name_triplets(rows: Sequence[Triplet]) -> list[NamedTriplet]:
    """Join answers with their images."""
    uids = image_uids(pk for row in rows for pk in (row.anchor_id, row.closer_id, row.farther_id))
    return [
        NamedTriplet(row, uids[row.anchor_id], uids[row.closer_id], uids[row.farther_id])
        for row in rows
    ]


def name_questions(rows: Sequence[TripletQuestion]) -> list[NamedQuestion]:
    """Join questions with their images."""
    uids = image_uids(pk for row in rows for pk in (row.anchor_id, *row.candidates))
    return [
        NamedQuestion(row, uids[row.anchor_id], uids[row.first_id], uids[row.second_id])
        for row in rows
    ]
