"""Triplets drawn from attributes: the closer image has the anchor's value, the farther one not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lookalike.conditional.triplets import TripletTable
from lookalike.conditional.types import Triplet
from lookalike.core.arrays import Bools, Ints
from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import stream
from lookalike.learning.lit.captions import UNKNOWN


@dataclass(frozen=True)
class ConditionTriplets:
    """As many triplets of each condition, those of one after those of another.

    Attributes:
        names: of the conditions.
        rows: of anchor, closer and farther image, shape (n, 3).
        conditions: shape (n,), places in `names`.
    """

    names: tuple[str, ...]
    rows: Ints
    conditions: Ints

    def table(self, swapped: Bools | None = None) -> TripletTable:
        """Return them for the WS-CSL criterion, images named by their rows."""
        triplets = [
            Triplet(f"{anchor:08d}", f"{closer:08d}", f"{farther:08d}", self.names[condition])
            for (anchor, closer, farther), condition in zip(
                self.rows.tolist(), self.conditions.tolist(), strict=True
            )
        ]
        return TripletTable.of(triplets, None if swapped is None else swapped.tolist())


def draw_triplets(codes: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return anchor, closer and farther image of triplets about one attribute.

    Args:
        codes: number of each image's value, UNKNOWN where there is none.
        n: how many are wanted.
        rng: of the draw.

    Returns:
        Shape (n, 3), rows; the closer image has the anchor's value and is another image.

    Raises:
        Refused: no value has two images, or there is one value.
    """
    known = np.flatnonzero(codes != UNKNOWN)
    values, counts = np.unique(codes[known], return_counts=True)
    if len(values) < 2 or counts.max() < 2:
        raise Refused("attribute", "triplets need two values, one of them on two images")
    anchors = rng.choice(known[np.isin(codes[known], values[counts >= 2])], n)
    found = np.empty((n, 3), np.int64)
    found[:, 0] = anchors
    for value in values:
        own, others = known[codes[known] == value], known[codes[known] != value]
        rows = np.flatnonzero(codes[anchors] == value)
        if not rows.size:
            continue
        place = np.searchsorted(own, anchors[rows])
        found[rows, 1] = own[(place + rng.integers(1, len(own), rows.size)) % len(own)]
        found[rows, 2] = rng.choice(others, rows.size)
    return found


def draw_conditions(
    codes: Mapping[str, Ints], seen: Bools, n: int, *, seed: int, purpose: str
) -> ConditionTriplets:
    """Return as many triplets of each attribute, all three images among those that are seen.

    Source: Ye, Shi and Zhan (CVPR 2022), section 5: the same number for each condition.

    Args:
        codes: values of all images by attribute, as `draw_triplets`.
        seen: which images may occur, shape (n_images,).
        n: of each attribute.
        seed: of the draw.
        purpose: of the draw; another purpose draws others.

    Raises:
        Refused: as `draw_triplets`; the attribute is named.
    """
    drawn = []
    for name, own in codes.items():
        try:
            rng = stream(seed, f"{purpose} {name}")
            drawn.append(draw_triplets(np.where(seen, own, UNKNOWN), n, rng))
        except Refused as problem:
            raise Refused("attribute", f"{name!r}: {problem.message}") from problem
    return ConditionTriplets(
        tuple(codes), np.concatenate(drawn), np.repeat(np.arange(len(codes)), n)
    )


def half_reversed(triplets: ConditionTriplets, rng: np.random.Generator) -> Bools:
    """Return which half of each condition's triplets is shown with its candidates swapped.

    Source: Ye, Shi and Zhan (CVPR 2022): on such a test an embedding in which all images fall
    together is right half the time, and not never.

    Returns:
        Shape (n,); of an odd number one less than the other half.
    """
    swapped = np.zeros(len(triplets.rows), np.bool_)
    for condition in range(len(triplets.names)):
        own = np.flatnonzero(triplets.conditions == condition)
        swapped[rng.permutation(own)[: len(own) // 2]] = True
    return swapped
