"""Rows and vectors of a file, with images under the names of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lookalike.io.errors import FormatError
from lookalike.io.image_names import UnknownImageError
from lookalike.io.tables import Row
from lookalike.io.vectors import VectorTable

MAX_ROWS = 10_000_000
NameOf = Callable[[str], str]


def named_rows(rows: Iterator[Row], name_of: NameOf, path: Path, unit: str) -> Iterator[Row]:
    """Yield the rows of a file with images under their own names.

    Args:
        rows: as given.
        name_of: the name of an image; raises UnknownImageError for what is none.
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
