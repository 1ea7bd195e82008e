"""Read runs, whichever of the known formats they are in, and tell formats by their content."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lookalike.io.csv_text import not_utf8
from lookalike.io.errors import FormatError
from lookalike.io.line_formats import (
    SCORE_COLUMNS,
    csv_rows,
    jsonl_rows,
    trec_run_name,
    trec_run_rows,
)
from lookalike.io.parquet import MAGIC, parquet_rows, stated_depth
from lookalike.io.tables import Row, Run, scores_from

Format = Literal["parquet", "json", "jsonl", "csv", "trec"]
GZIP = b"\x1f\x8b"
PACKED = (
    "it is packed by gzip; unpack it (the command takes it as it is where its name ends in .gz)"
)
HEAD = 2**16  # bytes of a first line that tell the format


def read_run(path: str | Path) -> Run:
    """Return the scores in a TREC run, CSV, JSONL or parquet file, told by its content.

    The name is the file's stem, or the name that a TREC run carries. A parquet file may state its
    exact depth in its metadata, as `exact_depth`.

    Raises:
        FormatError: a malformed line, a score that is no finite number, a repeated pair, no
            pairs, or a JSON file.
        OSError: if the file cannot be opened.
    """
    file = run_rows(path)
    return file.run(path, file.name, file.rows)


@dataclass(frozen=True)
class RunFile:
    """A run as it stands in its file.

    Attributes:
        rows: its rows, read as they are asked for.
        name: of the run.
        unit: what a row is called: "line" or "row".
        depth: the exact depth that the file states, as of `Run`.
    """

    rows: Iterator[Row]
    name: str
    unit: str
    depth: int | None = None

    def run(self, path: str | Path, name: str, rows: Iterable[Row], *, merge: bool = False) -> Run:
        """Return the run of rows of this file, perhaps with images under other names.

        Args:
            path: of the file.
            name: of the run.
            rows: those of the file.
            merge: as in `scores_from`.

        Raises:
            FormatError: as `scores_from`.
        """
        run = scores_from(path, name, rows, unit=self.unit, merge=merge)
        return replace(run, depth=self.depth)


def run_rows(path: str | Path) -> RunFile:
    """Return a run as it stands in its file.

    Raises:
        FormatError: as `read_run`, for the rows only once they are read.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    kind = sniff(path)
    if kind == "parquet":
        depth = stated_depth(path)
        return RunFile(parquet_rows(path, SCORE_COLUMNS), path.stem, "row", depth)
    if kind == "json":
        raise FormatError(path, 1, "a run is a TREC run, CSV, JSONL or parquet file, not JSON")
    if kind in ("csv", "jsonl"):
        read = csv_rows if kind == "csv" else jsonl_rows
        return RunFile(read(path, SCORE_COLUMNS), path.stem, "line")
    return RunFile(trec_run_rows(path), trec_run_name(path), "line")


def sniff(path: Path) -> Format:
    """Tell a file's format by its first bytes and first line.

    Raises:
        FormatError: if the file is empty, packed, or its first line is not UTF-8.
        OSError: if the file cannot be opened.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            return "parquet"
        file.seek(0)
        if file.read(len(GZIP)) == GZIP:
            raise FormatError(path, None, PACKED)
        file.seek(0)
        first = file.readline(HEAD)  # of a long line its beginning, the last character cut or not
        while first and not first.strip(b" \t\r\n\xef\xbb\xbf"):
            first = file.readline(HEAD)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(first).strip()
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    if not text:
        raise FormatError(path, 1, "the file is empty")
    if text[0] in "[{":
        return "jsonl" if _is_row(text) else "json"
    if path.suffix == ".csv" or len(text.split()) == 1 or "," in text.split()[0]:
        return "csv"
    return "trec"


def _is_row(line: str) -> bool:
    """Whether a first line is an object of plain values, a row of JSONL."""
    try:
        found = json.loads(line)
    except (RecursionError, ValueError):
        return False
    is_row = isinstance(found, dict) and bool(found)
    return is_row and not any(isinstance(value, (dict, list)) for value in found.values())
