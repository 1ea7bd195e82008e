"""Read runs, whichever of the known formats they are in, and tell formats by their content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lookalike.io.array_runs import array_rows
from lookalike.io.errors import FormatError
from lookalike.io.json_text import JsonText, read_json
from lookalike.io.line_formats import (
    csv_rows,
    jsonl_rows,
    object_row,
    trec_run_name,
    trec_run_rows,
)
from lookalike.io.pair_columns import (
    QUERY,
    Columns,
    Value,
    chosen_columns,
    is_header,
    plain_column,
)
from lookalike.io.pair_objects import nested_pairs
from lookalike.io.parquet import MAGIC, parquet_rows, stated_depth
from lookalike.io.repaired_ids import RepairedIds
from lookalike.io.tables import Row, Run, scores_from
from lookalike.io.text_files import EXCEL_HINT, head_lines, separator_of
from lookalike.io.vector_arrays import NPZ

Format = Literal["parquet", "npz", "json", "jsonl", "csv", "trec"]
GZIP = b"\x1f\x8b"
PACKED = (
    "it is packed by gzip; unpack it (the command takes it as it is where its name ends in .gz)"
)


def read_run(path: str | Path, *, lower_is_better: bool = False, depth: int | None = None) -> Run:
    """Return the scores in a TREC run, CSV, JSON, JSONL, parquet or .npz file, told by its content.

    A .npz holds ranked lists as faiss returns them, or a matrix of scores (`io.array_runs`).

    The name is the file's stem, or the name that a TREC run carries. A parquet file may state its
    exact depth in its metadata, as `exact_depth`. Where a file has a column of ranks, pairs
    without a rank stand below the exact depth. Ids that differ only in spaces at their ends or in
    `.0` are one id; notes of the run say so, and name ids that look damaged.

    Args:
        path: the file.
        lower_is_better: its scores are distances: the run has their negatives.
        depth: the exact depth of a file that does not state it, as of `Run`.

    Raises:
        FormatError: a malformed line, a score that is no finite number, a repeated pair, or
            no pairs.
        OSError: if the file cannot be opened.
    """
    file, ids = run_rows(path), RepairedIds()
    rows = ids.rows(file.rows)
    run = file.run(path, file.name, rows, lower_is_better=lower_is_better, depth=depth)
    return replace(run, notes=(*run.notes, *ids.notes(file.unit)))


@dataclass(frozen=True)
class RunFile:
    """A run as it stands in its file.

    Attributes:
        rows: its rows, read as they are asked for.
        name: of the run.
        unit: the word for a row: "line", "row" or "entry".
        depth: the exact depth that the file states, as of `Run`.
    """

    rows: Iterator[Row]
    name: str
    unit: str
    depth: int | None = None

    def run(
        self,
        path: str | Path,
        name: str,
        rows: Iterable[Row],
        *,
        merge: bool = False,
        lower_is_better: bool = False,
        depth: int | None = None,
    ) -> Run:
        """Return the run of rows of this file, perhaps with images under other names.

        Args:
            path: of the file.
            name: of the run.
            rows: those of the file.
            merge: as in `scores_from`.
            lower_is_better: likewise.
            depth: the exact depth; a smaller one that the file states counts.

        Raises:
            FormatError: as `scores_from`.
        """
        run = scores_from(
            path, name, rows, unit=self.unit, merge=merge, lower_is_better=lower_is_better
        )
        known = [of for of in (run.depth, self.depth, depth) if of is not None]
        return replace(run, depth=min(known, default=None))


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
        return RunFile(parquet_rows(path, "score"), path.stem, "row", depth)
    if kind == "npz":
        rows, depth = array_rows(path)
        return RunFile(rows, path.stem, "row", depth)
    if kind == "json":
        return RunFile(_json_rows(path), path.stem, "entry")
    if kind in ("csv", "jsonl"):
        read = csv_rows if kind == "csv" else jsonl_rows
        return RunFile(read(path, "score"), path.stem, "line")
    return RunFile(trec_run_rows(path), trec_run_name(path), "line")


def _json_rows(path: Path) -> Iterator[Row]:
    file = read_json(path)
    if isinstance(file.value, list):
        return record_rows(file, "score")
    return (Row(place, *pair) for place, pair in enumerate(nested_pairs(file, "score"), 1))


def record_rows(file: JsonText, value: Value) -> Iterator[Row]:
    """Yield the pairs of a JSON array of objects, as data frames write their records.

    Raises:
        FormatError: an entry is no object with these keys.
    """
    columns: Columns | None = None
    for line, held in file.entries():
        if not isinstance(held, dict):
            raise FormatError(file.path, line, "it is no JSON object")
        columns = columns or chosen_columns(file.path, list(held), value, line=line)
        if row := object_row(file.path, line, held, columns):
            yield row


def sniff(path: Path) -> Format:
    """Tell a file's format by its first bytes and first lines.

    Raises:
        FormatError: if the file is empty, packed, or its first lines are no text.
        OSError: if the file cannot be opened.
    """
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    if head == MAGIC:
        return "parquet"
    if head == NPZ:
        return "npz"
    if head.startswith(GZIP):
        raise FormatError(path, None, PACKED)
    lines = head_lines(path)
    if not lines:
        raise FormatError(path, 1, "the file is empty")
    first = lines[0].strip()
    if first[0] in "[{":
        return "jsonl" if _begins_jsonl(first, lines[1:]) else "json"
    separator = separator_of(first)
    if is_header(first.split(separator)) or EXCEL_HINT.match(first):
        return "csv"
    if path.suffix == ".csv" or len(first.split()) == 1 or "," in first.split()[0]:
        return "csv"
    return "trec"


def _begins_jsonl(first: str, others: Sequence[str]) -> bool:
    """Whether a first line is a row of JSONL: an object by itself, of one pair or one query."""
    try:
        held = json.loads(first)
    except (RecursionError, ValueError):
        return False
    if not isinstance(held, dict) or not held:
        return False
    is_query = any(plain_column(name) in QUERY for name in held)
    return is_query or bool(others) or not any(isinstance(v, (dict, list)) for v in held.values())
