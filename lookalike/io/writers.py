"""Write labels and runs as a stream: each function takes an iterable and keeps nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from lookalike.io.csv_text import protected

Labels = Iterable[tuple[str, str, int]]
_REMEMBERED = 65_536


class TextOut(Protocol):
    """Anything that takes text: an open file, sys.stdout, io.StringIO."""

    def write(self, text: str, /) -> object:
        """Take the next piece of text."""


def write_vsd(out: TextOut, labels: Labels) -> None:
    """Write (query, candidate, label) as a VSD annotations file, one entry a line.

    Raises:
        ValueError: a label outside {0, 1}.
    """
    for piece in vsd_pieces(labels):
        out.write(piece)


def write_csv(
    out: TextOut,
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


def write_trec_qrels(out: TextOut, labels: Labels) -> None:
    """Write (query, candidate, label) as TREC qrels.

    Raises:
        ValueError: a label outside {0, 1}, or an id that is empty or holds white space.
    """
    for piece in trec_qrels_pieces(labels):
        out.write(piece)


def write_trec_run(
    out: TextOut, ranked: Iterable[tuple[str, str, int]], name: str, depth: int
) -> None:
    """Write (query, candidate, rank) as a TREC run that trec_eval orders by these ranks.

    Source: trec_eval ignores the rank column and compares scores as float32, so the score
    written is depth + 1 - rank, which float32 holds exactly below 2**24. Real scores belong in
    a parquet or CSV file.

    Args:
        out: where to.
        ranked: rows; ranks count from 1.
        name: the run's name, without white space.
        depth: the largest rank that can occur.

    Raises:
        ValueError: a rank outside [1, depth], depth >= 2**24, an id or name that is empty or
            holds white space.
    """
    for piece in trec_run_pieces(ranked, name, depth):
        out.write(piece)


class _Line:
    """Takes what a csv.writer writes: one whole line at a time."""

    text = ""

    def write(self, text: str, /) -> None:
        """Keep the line."""
        self.text = text


def vsd_pieces(labels: Labels) -> Iterator[str]:
    """Yield the text of `write_vsd` piece by piece, for a streamed download."""
    before = "[\n"
    encode = lru_cache(_REMEMBERED)(json.JSONEncoder(ensure_ascii=False).encode)
    for query, candidate, label in labels:
        key = f"[{encode(query)}, {encode(candidate)}]"
        yield f'{before}{{"key": {key}, "value": {_binary(query, candidate, label)}}}'
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def csv_pieces(
    rows: Iterable[Sequence[object]], header: Sequence[str], *, is_safe: bool = False
) -> Iterator[str]:
    """Yield the text of `write_csv` line by line, for a streamed download.

    Args:
        rows: the cells.
        header: the names of the columns.
        is_safe: the text of the rows went through `protected` already.
    """
    line = _Line()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(header)
    yield line.text
    safe: dict[str, str] = {}  # names repeat, and a look-up is cheaper than a match
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under a header of {len(header)}")
        if is_safe:
            writer.writerow(row)
            yield line.text
            continue
        cells: list[object] = []
        for cell in row:
            if isinstance(cell, str):
                kept = safe.get(cell)
                if kept is None:
                    if len(safe) >= _REMEMBERED:
                        safe.clear()
                    kept = safe[cell] = protected(cell)
                cells.append(kept)
            else:
                cells.append(cell)
        writer.writerow(cells)
        yield line.text


def trec_qrels_pieces(labels: Labels) -> Iterator[str]:
    """Yield the text of `write_trec_qrels` line by line, for a streamed download."""
    for query, candidate, label in labels:
        value = _binary(query, candidate, label)
        yield f"{_solid(query)} 0 {_solid(candidate)} {value}\n"


def trec_run_pieces(ranked: Iterable[tuple[str, str, int]], name: str, depth: int) -> Iterator[str]:
    """Yield the text of `write_trec_run` line by line, for a streamed download."""
    if depth >= 1 << 24:
        raise ValueError(f"depth {depth} is not below 2**24, where float32 loses integers")
    _solid(name)
    for query, candidate, rank in ranked:
        if not 1 <= rank <= depth:
            raise ValueError(f"rank {rank} of {query!r}, {candidate!r} is not in [1, {depth}]")
        yield f"{_solid(query)} Q0 {_solid(candidate)} {rank} {depth + 1 - rank} {name}\n"


def _binary(query: str, candidate: str, label: int) -> int:
    if label not in (0, 1):
        raise ValueError(f"label {label!r} of {query!r}, {candidate!r} is neither 0 nor 1")
    return int(label)


def _solid(name: str) -> str:
    if not name or name.split() != [name]:
        raise ValueError(f"TREC files cannot hold the id {name!r}: it is empty or has white space")
    return name
