"""Write labels and tables as a stream: each function takes an iterable and keeps nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TextIO

from lookalike.io.csv_text import protected

Labels = Iterable[tuple[str, str, int]]
_REMEMBERED = 65_536


def write_csv(
    out: TextIO,
    rows: Iterable[Sequence[object]],
    header: Sequence[str] = ("query", "candidate", "label"),
) -> None:
    """Write rows as CSV, safe to open in a spreadsheet.

    Text that a spreadsheet would run as a formula gets a leading apostrophe, which the readers
    of this package take off again. Numbers are written as they are, in full precision.

    Raises:
        ValueError: a row whose length is not the header's.
    """
    for piece in csv_pieces(rows, header):
        out.write(piece)


class _Line:
    """A file for csv.writer that holds the last line."""

    text = ""

    def write(self, text: str, /) -> None:
        """Keep the line."""
        self.text = text


def vsd_pieces(labels: Labels) -> Iterator[str]:
    """Yield (query, candidate, label) as a VSD annotations file, one entry a line.

    Raises:
        ValueError: a label outside {0, 1}.
    """
    before = "[\n"
    encode = lru_cache(_REMEMBERED)(json.JSONEncoder(ensure_ascii=False).encode)
    for query, candidate, label in labels:
        key = f"[{encode(query)}, {encode(candidate)}]"
        yield f'{before}{{"key": {key}, "value": {_binary(query, candidate, label)}}}'
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def csv_pieces(rows: Iterable[Sequence[object]], header: Sequence[str]) -> Iterator[str]:
    """Yield the text of `write_csv` line by line, for a streamed download."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(header)
    yield line.text
    safe = lru_cache(_REMEMBERED)(protected)  # names repeat, and a look-up is cheaper than a match
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under a header of {len(header)}")
        writer.writerow([safe(cell) if isinstance(cell, str) else cell for cell in row])
        yield line.text


def trec_qrels_pieces(labels: Labels, *, graded: bool = False) -> Iterator[str]:
    """Yield (query, candidate, label), or grade, as TREC qrels, line by line.

    Raises:
        ValueError: a label outside {0, 1}, or an id that is empty or holds white space.
    """
    for query, candidate, label in labels:
        value = int(label) if graded else _binary(query, candidate, label)
        yield f"{_solid(query)} 0 {_solid(candidate)} {value}\n"


def _binary(query: str, candidate: str, label: int) -> int:
    if label not in (0, 1):
        raise ValueError(f"label {label!r} of {query!r}, {candidate!r} is neither 0 nor 1")
    return int(label)


def _solid(name: str) -> str:
    if not name or name.split() != [name]:
        raise ValueError(f"TREC files cannot hold the id {name!r}: it is empty or has white space")
    return name
