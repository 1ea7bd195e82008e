"""Triplets for a Combiner from a catalog's own attributes, said as captions say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools
from lookalike.core.errors import Refused
from lookalike.learning.captions.mining import CaptionTable, Mined, Rules, mine
from lookalike.learning.captions.relations import CaptionRow
from lookalike.learning.lit.captions import UNKNOWN, Attributes


@dataclass(frozen=True)
class Phrases:
    """How a caption says an attribute, and how a condition asks for the same value again.

    Attributes:
        value: {} for the attribute and another for its value.
        same: {} for the attribute.
        text: {} for a condition, to be read as a text.
    """

    value: str = "whose {} is {}"
    same: str = "of the same {}"
    text: str = "a photo of something {}"


def catalog_rows(
    attributes: Attributes, subject: str, chosen: Bools, phrases: Phrases
) -> list[CaptionRow]:
    """Return what captions made of a catalog's columns say, "a bag whose colour is red".

    Such captions are known word by word, so nothing is lost by not parsing them.

    Args:
        attributes: of all images.
        subject: the column that says what an image shows; every other one gives an object.
        chosen: the images that captions are made of, shape (n_images,).
        phrases: as `Phrases`.

    Returns:
        Rows by image and column, an image named by its row; unknown values give none.

    Raises:
        Refused: there is no such column.
    """
    if subject not in attributes.columns:
        raise Refused("subject", f"there is no column {subject!r}: {', '.join(attributes.columns)}")
    at = attributes.columns.index(subject)
    rows = []
    for image in np.flatnonzero(chosen).tolist():
        codes = attributes.codes[image].tolist()
        for place, (name, code) in enumerate(zip(attributes.columns, codes, strict=True)):
            if place == at or UNKNOWN in (codes[at], code):
                continue
            shown, value = attributes.values[at][codes[at]], attributes.values[place][code]
            said = phrases.value.format(name, value).removesuffix(f" {value}")
            rows.append(CaptionRow(str(image), f"{shown} {said} {value}", shown, said, value))
    return rows


def mined_triplets(
    rows: Sequence[CaptionRow], n: int, seed: int
) -> tuple[list[tuple[str, str, str]], Mined]:
    """Return reference, target and condition of triplets mined as the paper does, and the draw.

    Raises:
        Refused: as `CaptionTable`.
    """
    table = CaptionTable(rows, Rules())
    found = mine(table, range(n), seed)
    return [
        (rows[one.reference].image, rows[one.target].image, table.condition(one))
        for one in found.triplets
    ], found


def same_value_triplets(
    rows: Sequence[CaptionRow], columns: Sequence[str], n: int, seed: int, phrases: Phrases
) -> list[tuple[str, str, str]]:
    """Return triplets whose target has the reference's subject and value; ours, not the paper's.

    Mining asks for another object, so it never shows what "of the same colour" means. Here a row
    is drawn and another image whose caption says the same; numbers without one give no triplet.

    Args:
        rows: as `catalog_rows`.
        columns: the attributes.
        n: how often is drawn.
        seed: from 0.
        phrases: as `Phrases`.
    """
    column_of = {phrases.value.format(name, "").strip(): name for name in columns}
    alike: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        alike.setdefault(row[2:], []).append(row.image)
    found = []
    for rng in _numbered(n, seed):
        row = rows[int(rng.integers(len(rows)))]
        images = alike[row[2:]]
        target = images[int(rng.integers(len(images)))]
        if target != row.image:
            found.append((row.image, target, phrases.same.format(column_of[row.relation])))
    return found


def _numbered(n: int, seed: int) -> Iterable[np.random.Generator]:
    return (np.random.default_rng([seed, number, 1]) for number in range(n))
