"""What the API reads of templates, triplets and what panels said of them; images by uid."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Manager, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conditional.models import (
    RetrievalTemplate,
    Triplet,
    TripletQuestion,
    TripletSet,
    Verification,
    Verifier,
    VerifierAnswer,
)
from conditional.triplets.queries import image_uids


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


@dataclass(frozen=True)
class NamedAnswer:
    """What one judge says of a template or a triplet now; the picked image, None for no image."""

    answer: VerifierAnswer
    question: uuid.UUID
    picked: uuid.UUID | None


def triplet_sets_with_counts() -> QuerySet[TripletSet]:
    """Return the sets of triplets with the number of their answers."""
    sets = TripletSet.objects.select_related("catalog").prefetch_related("scores__embedding_set")
    return sets.annotate(n_answers=Count("triplets"))


def verifications_with_counts() -> QuerySet[Verification]:
    """Return what was put to panels, with the number of judges and of what they are asked."""
    asked = (Verification.templates.through.objects, Verification.triplets.through.objects)
    n_templates, n_triplets = map(_how_many, asked)
    return Verification.objects.select_related("template_set", "triplet_set").annotate(
        n_judges=_how_many(Verifier.objects), n_questions=n_templates + n_triplets
    )


def _how_many(rows: Manager[Any]) -> Coalesce:
    """Return the number of rows of a table that belong to a verification."""
    own = rows.filter(verification=OuterRef("pk")).order_by().values("verification")
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), 0)


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


def name_answers(rows: Sequence[VerifierAnswer]) -> list[NamedAnswer]:
    """Join answers with what they are about and the image they pick."""
    asked = [(row, row.template or row.triplet) for row in rows]
    picked = [
        None if question is None or row.picked is None else question.candidates[row.picked]
        for row, question in asked
    ]
    uids = image_uids(pk for pk in picked if pk is not None)
    return [
        NamedAnswer(row, question.uid, None if pk is None else uids[pk])
        for (row, question), pk in zip(asked, picked, strict=True)
        if question is not None
    ]
