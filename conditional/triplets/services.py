"""Triplets as rows, and how people answered them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from conditional.models import Triplet as Row
from conditional.models import TripletSet
from lookalike.conditional.triplet_scores import Agreement, human_ceiling, human_figures
from lookalike.conditional.triplets import TripletTable, group_questions
from lookalike.conditional.types import Triplet
from lookalike.core.errors import Refused

MIN_VOTES = 3
BATCH = 5000


def people_figures(
    triplets: Sequence[Triplet], swapped: Sequence[bool], scale: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return how people answered: votes, majorities, ceiling, and accuracy on a known scale.

    Raises:
        Refused: the scale lacks an image.
    """
    table = TripletTable.of(triplets, swapped)
    questions = group_questions(table)
    figures: dict[str, Any] = {
        "n_triplets": len(table),
        "n_questions": len(questions),
        "n_images": len(table.images),
        "n_workers": len({one.worker for one in triplets} - {""}),
        "n_human_ties": int((questions.majority == 0).sum()),
        "n_often": int((questions.n_votes >= MIN_VOTES).sum()),
        "ceiling": known(human_ceiling(questions)),
        "ceiling_often": known(human_ceiling(questions, MIN_VOTES)),
        "conditions": {
            name: int((table.conditions == code).sum())
            for code, name in enumerate(table.condition_names)
        },
    }
    if scale is not None:
        missing = [image for image in table.images if image not in scale]
        if missing:
            raise Refused("scale", f"no value for {len(missing):,} images (first: {missing[0]!r}).")
        values = np.array([scale[image] for image in table.images])
        every, often = human_figures(table, values), human_figures(table, values, MIN_VOTES)
        figures["scale"] = {
            "all_votes": agreement_figures(every.single),
            "single_votes": agreement_figures(often.single),
            "majority": agreement_figures(often.majority),
            "n_questions": often.n_questions,
        }
    return figures


def triplet_rows(
    triplet_set: TripletSet,
    triplets: Sequence[Triplet],
    swapped: Sequence[bool],
    id_of: Mapping[str, int] | None = None,
) -> list[Row]:
    """Return the unsaved rows of answers.

    Args:
        id_of: {image as the triplets name it: id of its row}; by default names are ids.
    """
    image_id: Callable[[str], int] = int if id_of is None else id_of.__getitem__
    return [
        Row(
            triplet_set=triplet_set,
            position=position,
            anchor_id=image_id(one.anchor),
            closer_id=image_id(one.closer),
            farther_id=image_id(one.farther),
            condition=one.condition[:200],
            worker=one.worker[:200],
            is_swapped=is_swapped,
        )
        for position, (one, is_swapped) in enumerate(zip(triplets, swapped, strict=True))
    ]


def agreement_figures(agreement: Agreement) -> dict[str, Any]:
    """Return an agreement as it is stored."""
    return {
        "accuracy": known(agreement.accuracy),
        "without_ties": known(agreement.decided),
        "n": agreement.n,
        "n_ties": agreement.n_ties,
    }


def known(value: float) -> float | None:
    """Return a figure, or None where it is undefined."""
    return None if isnan(value) else float(value)
