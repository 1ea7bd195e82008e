"""A catalog's own attributes as instances (for attribute tasks) and as scenes (object tasks).

A catalog does not say what an image is not. A column that is declared complete does: where its
cell names values, the column's other values are absent. An empty cell says nothing.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lookalike.conditional.types import Instance, Scene

SOURCE = "catalog"
TYPE_MARK = ": "


@dataclass(frozen=True)
class CatalogRow:
    """What a catalog says of one image."""

    image: str
    product: str | None
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class Column:
    """How to read one attribute of a catalog.

    Attributes:
        name: of the attribute.
        separator: stands between several values of a cell; None for one value.
        is_complete: a cell that names values names all of them, so the others are absent.
        path_separator: keep only what stands after the last one ("Men/Tops/Tees" is "Tees").
        unknown: values that say nothing (codes, "other"); read as if they were not there, and
            the rest of such a cell is not taken as complete.
        text: what to call the attribute in a condition; by default its name.
    """

    name: str
    separator: str | None = None
    is_complete: bool = True
    path_separator: str | None = None
    unknown: frozenset[str] = frozenset()
    text: str = ""


@dataclass(frozen=True)
class CatalogFacts:
    """Instances of a catalog with the words of its attributes, and what was left out.

    Attributes:
        instances: one for each usable row.
        types: {text of the column: its values}.
        texts: {value: how to say it}.
        left_out: {reason: number of rows}.
    """

    instances: tuple[Instance, ...]
    types: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str]
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class CatalogScenes:
    """Scenes of a catalog: the set of an image's attribute values.

    Attributes:
        scenes: one for each row that names values in every column.
        texts: {category: how to say it}.
        left_out: {reason: number of rows}.
    """

    scenes: tuple[Scene, ...]
    texts: Mapping[str, str]
    left_out: Mapping[str, int]


def split_cell(cell: str, column: Column) -> tuple[frozenset[str], bool]:
    """Return the values of a cell, and whether it names all that there are.

    HTML entities are resolved first: "Lycra&reg;;Spandex" are two values, not three.
    """
    text = html.unescape(cell).strip()
    parts = text.split(column.separator) if column.separator else [text]
    if column.path_separator:
        parts = [part.rsplit(column.path_separator, 1)[-1] for part in parts]
    named = frozenset(part.strip() for part in parts) - {""}
    known = named - column.unknown
    return known, bool(known) and known == named and column.is_complete


class _Reader:
    """Reads cells of the columns, with one spelling for values that differ in case only.

    The most frequent spelling is kept; of equally frequent ones the first in order.
    """

    def __init__(self, rows: Sequence[CatalogRow], columns: Sequence[Column]) -> None:
        self.rows, self.columns = rows, columns
        self._cells: dict[tuple[str, str], tuple[frozenset[str], bool]] = {}
        seen: dict[str, Counter[str]] = {column.name: Counter() for column in columns}
        for column in columns:
            cells = Counter(row.attributes.get(column.name, "") for row in rows)
            for cell, n in cells.items():
                for value in split_cell(cell, column)[0]:
                    seen[column.name][value] += n
        self._spelling: dict[str, dict[str, str]] = {}
        for name, counts in seen.items():
            chosen = self._spelling.setdefault(name, {})
            for value, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
                chosen.setdefault(value.casefold(), value)

    def read(self, row: CatalogRow, column: Column) -> tuple[frozenset[str], bool]:
        """Return the values of a row, and whether they are all of them."""
        cell = row.attributes.get(column.name, "")
        key = (column.name, cell)
        if key not in self._cells:
            spelling = self._spelling[column.name]
            values, is_complete = split_cell(cell, column)
            spelt = frozenset(spelling[value.casefold()] for value in values)
            self._cells[key] = (spelt, is_complete)
        return self._cells[key]

    def vocabulary(self, column: Column) -> frozenset[str]:
        """Return every value of a column."""
        return frozenset(self._spelling[column.name].values())


def catalog_instances(
    rows: Sequence[CatalogRow], *, same: Sequence[Column], columns: Sequence[Column]
) -> CatalogFacts:
    """Turn rows into instances.

    Args:
        rows: of the catalog.
        same: the columns that make two images the same kind of object, e.g. the category; with
            the colour here and the category among `columns`, change templates read "same colour,
            other category". Rows without a value in one of them are left out.
        columns: the attributes to ask for.

    Raises:
        ValueError: no columns to ask for, a column in both lists, or two columns with one text.
    """
    texts_of_columns = [column.text or column.name for column in columns]
    if not columns or len(set(texts_of_columns)) != len(columns):
        raise ValueError("at least one column is needed, each with its own text")
    both = {column.name for column in same} & {column.name for column in columns}
    if both:
        raise ValueError(f"{sorted(both)[0]!r} cannot be kept and asked for at once")
    reader = _Reader(rows, [*same, *columns])
    instances: list[Instance] = []
    left_out: Counter[str] = Counter()
    for row in rows:
        kinds = [reader.read(row, column)[0] for column in same]
        missing = [column.name for column, kind in zip(same, kinds, strict=True) if not kind]
        if missing:
            left_out[f"no {missing[0]}"] += 1
            continue
        object_name = ", ".join(" + ".join(sorted(kind)) for kind in kinds) or "image"
        instances.append(_instance(row, object_name, columns, reader))
    types: dict[str, tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    for column, text in zip(columns, texts_of_columns, strict=True):
        found = sorted(reader.vocabulary(column))
        types[text] = tuple(_value(text, value) for value in found)
        texts |= {_value(text, value): value for value in found}
    return CatalogFacts(tuple(instances), types, texts, dict(left_out))


def catalog_scenes(rows: Sequence[CatalogRow], columns: Sequence[Column]) -> CatalogScenes:
    """Turn rows into scenes: every value of every column is a category that fills the image.

    A scene says of every category whether it is there, so rows with an empty or incomplete cell
    are left out.

    Raises:
        ValueError: no columns, or one that is not complete.
    """
    if not columns or not all(column.is_complete for column in columns):
        raise ValueError("scenes need at least one column, and only complete ones")
    reader = _Reader(rows, columns)
    scenes: list[Scene] = []
    texts: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for row in rows:
        shown: dict[str, str] = {}
        for column in columns:
            found, is_complete = reader.read(row, column)
            if not is_complete:
                left_out[f"no complete {column.name}"] += 1
                break
            shown |= {_value(column.text or column.name, value): value for value in found}
        else:
            texts |= shown
            scenes.append(Scene(row.image, dict.fromkeys(shown, 1.0), row.product))
    return CatalogScenes(tuple(scenes), texts, dict(left_out))


def _instance(
    row: CatalogRow, object_name: str, columns: Sequence[Column], reader: _Reader
) -> Instance:
    positive: set[str] = set()
    negative: set[str] = set()
    for column in columns:
        text = column.text or column.name
        found, is_complete = reader.read(row, column)
        positive |= {_value(text, value) for value in found}
        if is_complete:
            absent = reader.vocabulary(column) - found
            negative |= {_value(text, value) for value in absent}
    return Instance(
        image=row.image,
        name=row.image,
        object_name=object_name,
        positive=frozenset(positive),
        negative=frozenset(negative),
        product=row.product,
    )


def _value(type_text: str, value: str) -> str:
    """Return a value that is told apart from the same word in another column."""
    return f"{type_text}{TYPE_MARK}{value}"
