"""Rows and vectors of a file, with images under the names of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lookalike.core.arrays import Float32s
from lookalike.io.errors import FormatError, InputError
from lookalike.io.image_names import UnknownImageError
from lookalike.io.matched_names import MatchedNames
from lookalike.io.tables import Row
from lookalike.io.vectors import VectorTable

MAX_ROWS = 10_000_000
NameOf = Callable[[str], str]


def named_rows(rows: Iterator[Row], name_of: NameOf, path: Path, unit: str) -> Iterator[Row]:
    """Yield the rows of a file with images under their own names.

    Args:
        rows: as given.
        name_of: the name of an image; raises UnknownImageError for other names.
        path: of the file.
        unit: of a row's number: "line" or "row".

    Raises:
        FormatError: a name that stands for no image, or more than MAX_ROWS rows.
    """
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            reason = f"more than {MAX_ROWS:,} scores; keep the top of each query’s list and "
            raise FormatError(path, row.line, f"{reason}the pairs to be judged", unit=unit)
        try:
            query = name_of(row.query) if row.query else ""
            candidate = name_of(row.candidate) if row.candidate else ""
        except UnknownImageError as problem:
            raise FormatError(path, row.line, str(problem), unit=unit) from problem
        yield row._replace(query=query, candidate=candidate)


def rows_by_name(
    path: str | Path, table: VectorTable, names: Iterable[str], *, needs_all: bool = False
) -> dict[str, int]:
    """Return the row of each vector, under the names that other files give to its image.

    Names and ids may be written differently (`MatchedNames`); vectors that no name
    means have their own id.

    Args:
        path: of the vectors, for messages.
        table: of the vectors.
        names: of images, in other files: labels, metadata, votes.
        needs_all: whether each name must have a vector.

    Returns:
        {name or id: row}, in the order of the file.

    Raises:
        InputError: two vectors of one id, a name that fits two ids or the other way round, or,
            if all are needed, a name without a vector.
    """
    wanted = list(dict.fromkeys(names))
    matched = MatchedNames(wanted, "the other files").match(table.ids, str(path))
    named = rows_by_image(path, table, lambda name: matched.get(name, name))
    absent = [name for name in wanted if name not in named]
    if absent and needs_all:
        missing = f"{absent[0]!r} ({len(absent):,} are missing)"
        raise InputError(f"{path} has no vector of {missing}")
    return named


def vectors_by_name(path: str | Path, table: VectorTable, names: Sequence[str]) -> Float32s:
    """Return the vectors of images by the names that another file gives to them.

    Returns:
        Shape (len(names), d).

    Raises:
        InputError: as `rows_by_name`, and a name without a vector.
    """
    row_of = rows_by_name(path, table, names, needs_all=True)
    return table.vectors[[row_of[name] for name in names]]


def rows_by_image(path: str | Path, table: VectorTable, name_of: NameOf) -> dict[str, int]:
    """Return the row of each image's vector; the same vector twice is one.

    Raises:
        FormatError: a name that stands for no image, or two vectors of one image.
    """
    row_of: dict[str, int] = {}
    for row, name in enumerate(table.ids):
        try:
            image = name_of(name)
        except UnknownImageError as problem:
            raise FormatError(path, row + 1, str(problem), unit="row") from problem
        first = row_of.setdefault(image, row)
        if first != row and (table.vectors[first] != table.vectors[row]).any():
            reason = f"{name!r} has another vector in row {first + 1}"
            raise FormatError(path, row + 1, reason, unit="row")
    return row_of
