"""Captions made of a catalog's own attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools, Ints
from lookalike.core.errors import Refused
from lookalike.learning.notions.prompts import check_template

MOST_VALUES = 200  # a column with more names images rather than properties
FEWEST_IMAGES = 2  # that a column's values are spread over
UNKNOWN = -1


def default_template(column: str) -> str:
    """Return the caption for a column's values, where nobody has written one.

    >>> default_template("sole_colour")
    'a photo of something whose sole colour is {}'
    """
    return f"a photo of something whose {column.replace('_', ' ')} is {{}}"


@dataclass(frozen=True)
class Attributes:
    """What is known of each image, by column.

    Attributes:
        columns: their names.
        values: of each column, in alphabetical order.
        codes: shape (n_images, n_columns), the number of an image's value, or UNKNOWN.
        templates: of each column.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: Ints
    templates: tuple[str, ...]

    def texts(self, column: int) -> list[str]:
        """Return a caption for each value of a column."""
        template = self.templates[column]
        return [template.replace("{}", value) for value in self.values[column]]


def read_attributes(
    rows: Sequence[Mapping[str, str]],
    columns: Sequence[str] = (),
    templates: Mapping[str, str] | None = None,
) -> Attributes:
    """Return the attributes of images as numbers.

    Args:
        rows: of each image, {column: value}; a column that is absent or empty is not known.
        columns: which to use; all that can be captioned if empty.
        templates: {column: caption with {} where its value goes}.

    Raises:
        Refused: there are no such columns, one has a single value or too many, or a template
            has no gap.
    """
    found = {name: sorted({row[name] for row in rows if row.get(name)}) for name in _names(rows)}
    unknown = [name for name in (*columns, *(templates or {})) if name not in found]
    if unknown:
        there_is = f"there is {', '.join(found)}" if found else "images have no attribute at all"
        raise Refused("columns", f"no image has {unknown[0]!r}; {there_is}")
    for name in columns:
        if not 2 <= len(found[name]) <= MOST_VALUES:
            n = f"{len(found[name]):,} value{'s' if len(found[name]) > 1 else ''}"
            raise Refused("columns", f"{name!r} has {n}; 2 to {MOST_VALUES} can be learnt")
    chosen = tuple(columns) or tuple(name for name in found if 2 <= len(found[name]) <= MOST_VALUES)
    if not chosen:
        raise Refused("columns", "no attribute has two values or more, so nothing can be said")
    wanted = {name: (templates or {}).get(name, default_template(name)) for name in chosen}
    for name, template in wanted.items():
        check_template(f"template of {name}", template)
    codes = np.full((len(rows), len(chosen)), UNKNOWN, np.int64)
    for place, name in enumerate(chosen):
        number = {value: n for n, value in enumerate(found[name])}
        codes[:, place] = [number.get(row.get(name, ""), UNKNOWN) for row in rows]
    values = tuple(tuple(found[name]) for name in chosen)
    return Attributes(chosen, values, codes, tuple(wanted.values()))


def _names(rows: Sequence[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


@dataclass(frozen=True)
class CaptionDraw:
    """Captions for some images: what each says, as one or two (column, value).

    Attributes:
        columns: shape (n, 2); UNKNOWN where a caption says one thing only.
        values: likewise.
    """

    columns: Ints
    values: Ints

    def keys(self) -> list[tuple[int, ...]]:
        """Return of each caption what tells it from others."""
        rows = np.hstack([self.columns, self.values]).tolist()
        return [tuple(row) for row in rows]

    def are_true(self, codes: Ints) -> Bools:
        """Return which caption (column) is true of which image (row)."""
        true = np.ones((len(codes), len(self.columns)), bool)
        for part in range(2):
            said = self.columns[:, part] != UNKNOWN
            true &= ~said | (codes[:, self.columns[:, part]] == self.values[:, part])
        return true


def draw_captions(codes: Ints, rng: np.random.Generator) -> CaptionDraw:
    """Draw a caption for each image: one known attribute of it, or two with equal chance.

    Args:
        codes: of the images, shape (n, n_columns), each with a known attribute.
        rng: of the draw.
    """
    chance = np.where(codes != UNKNOWN, rng.random(codes.shape), -1.0)
    order = np.argsort(-chance, axis=1, kind="stable")
    columns = np.full((len(codes), 2), UNKNOWN, np.int64)
    columns[:, : min(2, codes.shape[1])] = order[:, :2]
    alone = (rng.random(len(codes)) < 0.5) | ((codes != UNKNOWN).sum(axis=1) < 2)
    columns[alone, 1] = UNKNOWN
    columns[~alone] = np.sort(columns[~alone], axis=1)
    rows = np.arange(len(codes))[:, None]
    values = np.where(columns == UNKNOWN, UNKNOWN, codes[rows, columns])
    return CaptionDraw(columns, values)


def caption_text(attributes: Attributes, key: tuple[int, ...]) -> str:
    """Return the words of a caption, by what `CaptionDraw.keys` says of it."""
    first, second, value, other = key
    text = attributes.texts(first)[value]
    return text if second == UNKNOWN else f"{text}, {attributes.texts(second)[other]}"
