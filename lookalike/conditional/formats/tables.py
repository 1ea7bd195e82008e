"""Small tables: accuracy matrices and known scales."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.io.csv_text import csv_lines, protected, unprotected
from lookalike.io.errors import FormatError


@dataclass(frozen=True)
class AccuracyMatrix:
    """Accuracies of embeddings on conditions.

    Attributes:
        conditions: names of the rows.
        embeddings: names of the columns.
        values: shape (n_conditions, n_embeddings), in [0, 1].
    """

    conditions: tuple[str, ...]
    embeddings: tuple[str, ...]
    values: NDArray[np.float64]


def read_matrix(path: str | Path) -> AccuracyMatrix:
    """Return the matrix of a CSV file: `condition,<embedding>,...` and a row for each condition.

    Raises:
        FormatError: no embedding, a repeated or empty name, a short or long row, or a value
            that is no accuracy in [0, 1].
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    lines = csv_lines(path)
    _, header = next(lines, (1, []))
    names = [unprotected(cell.strip()) for cell in header]
    if len(names) < 2 or names[0].lower() != "condition":
        shown = ",".join(header)
        raise FormatError(path, 1, f"the columns are {shown!r}; needed: condition,<embedding>,...")
    embeddings = names[1:]
    if len(set(embeddings)) != len(embeddings) or "" in embeddings:
        raise FormatError(path, 1, "each embedding needs its own name")
    rows: dict[str, list[float]] = {}
    for line, cells in lines:
        if len(cells) != len(names):
            raise FormatError(path, line, f"{len(cells)} cells where the header names {len(names)}")
        condition = unprotected(cells[0].strip())
        if not condition or condition in rows:
            raise FormatError(path, line, f"the condition {condition!r} is empty or repeated")
        values = [_number(path, line, cell) for cell in cells[1:]]
        for value in values:
            if not 0 <= value <= 1:
                raise FormatError(path, line, f"{value:g} is not an accuracy in [0, 1]")
        rows[condition] = values
    if not rows:
        raise FormatError(path, None, "the matrix has no conditions")
    return AccuracyMatrix(tuple(rows), tuple(embeddings), np.array(list(rows.values())))


def matrix_csv(matrix: AccuracyMatrix) -> str:
    """Return a matrix as the CSV that `read_matrix` reads, without loss."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["condition", *map(protected, matrix.embeddings)])
    for name, values in zip(matrix.conditions, matrix.values, strict=True):
        table.writerow([protected(name), *map(repr, values.tolist())])
    return file.getvalue()


def read_scale(path: str | Path) -> dict[str, float]:
    """Return {image: value} of a CSV file with the columns image and value.

    Raises:
        FormatError: other columns, a short or long row, an image twice, or a value that is no
            finite number.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    lines = csv_lines(path)
    _, header = next(lines, (1, []))
    if header.count("image") != 1 or header.count("value") != 1:
        raise FormatError(path, 1, "the header must name the columns image and value")
    image_at, value_at = header.index("image"), header.index("value")
    scale: dict[str, float] = {}
    for line, cells in lines:
        if len(cells) != len(header):
            raise FormatError(
                path, line, f"{len(cells)} cells where the header names {len(header)}"
            )
        image = unprotected(cells[image_at])
        if not image or image in scale:
            raise FormatError(path, line, f"the image {image!r} is empty or repeated")
        scale[image] = _number(path, line, cells[value_at])
    if not scale:
        raise FormatError(path, None, "the scale has no images")
    return scale


def _number(path: Path, line: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError as error:
        raise FormatError(path, line, f"{cell!r} is not a number") from error
    if not isfinite(value):
        raise FormatError(path, line, f"{cell!r} is not a finite number")
    return value
