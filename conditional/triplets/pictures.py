"""Triplets with their pictures, for people who may see everything."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from catalog.models import Image
from conditional.models import Triplet, TripletQuestion


@dataclass
class ShownPicture:
    """A picture of a triplet: what it is there, and a note beneath it."""

    role: str
    uid: uuid.UUID
    note: str = ""
    is_closer: bool = False


@dataclass(frozen=True)
class ShownTriplet:
    """A triplet with its pictures, the anchor first; for people who may see everything.

    `said` are the models by the role of the picture that they put closer.
    """

    condition: str
    pictures: list[ShownPicture]
    note: str = ""
    said: Sequence[tuple[str, list[str]]] = ()


def shown_answers(triplets: Iterable[Triplet]) -> list[ShownTriplet]:
    """Join answers with their pictures."""
    rows = list(triplets)
    uids = image_uids(pk for row in rows for pk in (row.anchor_id, row.closer_id, row.farther_id))
    return [
        ShownTriplet(
            row.condition,
            [
                ShownPicture("Anchor", uids[row.anchor_id]),
                ShownPicture("Closer", uids[row.closer_id], is_closer=True),
                ShownPicture("Farther", uids[row.farther_id]),
            ],
        )
        for row in rows
    ]


def shown_questions(questions: Iterable[TripletQuestion]) -> list[ShownTriplet]:
    """Join questions with their pictures, and with who said what where they were suggested."""
    rows = list(questions)
    uids = image_uids(pk for row in rows for pk in (row.anchor_id, *row.candidates))
    return [_question(row, uids) for row in rows]


def _question(row: TripletQuestion, uids: Mapping[int, uuid.UUID]) -> ShownTriplet:
    specs_by_role: dict[str, list[str]] = {"A": [], "B": []}
    for spec, margin in row.facts.get("margins", {}).items():
        if margin:
            specs_by_role["A" if margin > 0 else "B"].append(spec)
    pictures = [ShownPicture("Anchor", uids[row.anchor_id])]
    for (role, specs), pk in zip(specs_by_role.items(), row.candidates, strict=True):
        note = f"{role}: {counted(len(specs), 'model')}" if specs else ""
        pictures.append(ShownPicture(role, uids[pk], note))
    disagreement = row.facts.get("disagreement")
    note = "" if disagreement is None else f"disagreement {disagreement:.2f}"
    return ShownTriplet(
        row.condition, pictures, note, [one for one in specs_by_role.items() if one[1]]
    )


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def image_uids(wanted: Iterable[int]) -> dict[int, uuid.UUID]:
    """Return the uids of images by id."""
    return dict(Image.objects.filter(pk__in=set(wanted)).values_list("pk", "uid"))
