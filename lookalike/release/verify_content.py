"""How a file of a release differs from the one that its data give."""

from __future__ import annotations

import math
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.io.parquet import n_values
from lookalike.release.documents import DOCUMENTS
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MTEB_PATHS

TOLERANCE = 1e-9
WORDED = {*DOCUMENTS, "bias.json"} - {"LICENSE.txt"}  # files whose words this program chooses
_SHOWN = 60  # characters of a line in a message
_NUMBER = re.compile(r"\d+(?:[.,:-]\d+)*")
_DECIMAL = re.compile(rb"(?<![\w.])(-?\d+(?:\.\d+(?:e-?\d+)?|e-\d+))(?![\w.])")
_STYLE = re.compile(r"<style.*?</style>", re.DOTALL)


def difference(path: str, held: Path, made: Path, *, compare_words: bool) -> str:
    """Return how a file differs from what the data give, "" if it does not.

    Numbers may end in other digits: another processor adds in another order.

    Args:
        path: of the file in its release.
        held: the file of the release.
        made: the file made again.
        compare_words: whether documents are compared word by word; otherwise by their numbers.
    """
    if path.endswith(".parquet"):
        # pictures are not made again; the columns beside them are
        columns = pq.read_schema(made).names if path in MTEB_PATHS else pq.read_schema(held).names
        n_values(held, pq.read_metadata(held), columns)
        return _table_difference(pq.read_table(held, columns=columns), pq.read_table(made))
    if path in WORDED and not compare_words:
        return _number_difference(held, made)
    if path.endswith(".json") and not path.startswith("vsd/"):
        mine, theirs = (Folder(file.parent).json(file.name) for file in (held, made))
        place = _value_difference(mine, theirs, "")
        return f"is not what the data give at {place}" if place else ""
    return _line_difference(held, made)


def _line_difference(held: Path, made: Path) -> str:
    """Compare two texts line by line, but for the last digits of decimals."""
    with held.open("rb") as one, made.open("rb") as other:
        for number, (mine, theirs) in enumerate(zip_longest(one, other), 1):
            if mine is None or theirs is None:
                end = "ends before" if mine is None else "goes on in"
                return f"is not what the data give: it {end} line {number}"
            if mine != theirs and not _same_but_for_digits(mine, theirs):
                shown, right = _excerpts(mine.decode(errors="replace"), theirs.decode())
                return (
                    f"is not what the data give, first in line {number}: {shown!r} where they "
                    f"give {right!r}"
                )
    return ""


def _excerpts(held: str, made: str) -> tuple[str, str]:
    """Return both lines from shortly before the first character that differs."""
    first = next((at for at, (a, b) in enumerate(zip(held, made, strict=False)) if a != b), 0)
    start = max(first - _SHOWN // 3, 0)
    return held[start : start + _SHOWN].strip(), made[start : start + _SHOWN].strip()


def _same_but_for_digits(held: bytes, made: bytes) -> bool:
    mine, theirs = _DECIMAL.split(held), _DECIMAL.split(made)  # words and decimals by turns
    return mine[::2] == theirs[::2] and all(
        _same(float(a), float(b)) for a, b in zip(mine[1::2], theirs[1::2], strict=True)
    )


def _number_difference(held: Path, made: Path) -> str:
    """Compare the numbers that two documents show, in their order."""
    shown, right = (
        _NUMBER.findall(_STYLE.sub("", path.read_text(encoding="utf-8"))) for path in (held, made)
    )
    if shown == right:
        return ""
    for number, (mine, theirs) in enumerate(zip(shown, right, strict=False), 1):
        if mine != theirs:
            return f"shows {mine} as its number {number:,} where the data give {theirs}"
    return f"shows {len(shown):,} numbers where the data give {len(right):,}"


def _table_difference(held: pa.Table, made: pa.Table) -> str:
    if held.schema != made.schema:
        return "has other columns than the data give"
    if held.num_rows != made.num_rows:
        return f"has {held.num_rows:,} rows where the data give {made.num_rows:,}"
    for name in held.schema.names:
        if held[name].equals(made[name]):
            continue
        mine, theirs = held[name].to_pylist(), made[name].to_pylist()
        for row, (a, b) in enumerate(zip(mine, theirs, strict=True), 1):
            if not _same(a, b):
                return f"has {a!r} for {name} in row {row:,} where the data give {b!r}"
    return ""


def _value_difference(held: Any, made: Any, place: str) -> str:
    """Return the place of the first value that differs, "" if there is none."""
    if isinstance(held, dict) and isinstance(made, dict):
        if held.keys() != made.keys():
            names = sorted(held.keys() ^ made.keys())
            return f"{place}/{names[0]}"
        places = (_value_difference(held[name], made[name], f"{place}/{name}") for name in held)
        return next(filter(None, places), "")
    if isinstance(held, list) and isinstance(made, list):
        if len(held) != len(made):
            return f"{place}/{min(len(held), len(made))}"
        pairs = enumerate(zip(held, made, strict=True))
        places = (_value_difference(a, b, f"{place}/{row}") for row, (a, b) in pairs)
        return next(filter(None, places), "")
    return "" if _same(held, made) else place or "/"


def _same(held: object, made: object) -> bool:
    if isinstance(held, float) and isinstance(made, float):
        return math.isclose(held, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return held == made and type(held) is type(made)
