"""Rows of the line-based formats: CSV with a header, JSONL, TREC qrels and TREC runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from lookalike.io.csv_text import csv_lines, not_utf8, text_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.tables import Row

OF_A_RELEASE = ("query_id", "image_id", "label")  # where a pair may have no label
LABEL_COLUMNS = (
    *(("query", "candidate", "label"), ("query-id", "corpus-id", "score")),
    OF_A_RELEASE,
    ("query", "filepath", "label"),  # FiftyOne
)
SCORE_COLUMNS = (("query", "candidate", "score"), ("query_id", "image_id", "score"))
N_RUN_FIELDS = 6


def csv_rows(path: Path, choices: Sequence[tuple[str, str, str]]) -> Iterator[Row]:
    """Yield the pairs of a CSV file whose header names one of the column triples.

    Other columns are ignored.

    Raises:
        FormatError: no such header, a short or long line, broken quoting, or not UTF-8.
    """
    lines = csv_lines(path)
    _, header = next(lines, (1, []))
    columns = chosen_columns(path, header, choices)
    q, c, v = (header.index(name) for name in columns)
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason)
        if cells[v] or columns != OF_A_RELEASE:
            yield Row(line, unprotected(cells[q]), unprotected(cells[c]), cells[v])


def jsonl_rows(path: Path, choices: Sequence[tuple[str, str, str]]) -> Iterator[Row]:
    """Yield the pairs of a file with one JSON object a line that has one of the column triples.

    Raises:
        FormatError: a line that is no such object, an empty cell, or not UTF-8.
    """
    columns: tuple[str, str, str] | None = None
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line, text in text_lines(path, file):
                if not text.strip():
                    continue
                found = _json_object(path, line, text)
                columns = columns or chosen_columns(path, list(found), choices)
                if missing := [name for name in columns if name not in found]:
                    raise FormatError(path, line, f"it lacks {', '.join(missing)}")
                query, candidate, value = (found[name] for name in columns)
                if value is None and columns == OF_A_RELEASE:
                    continue
                for name, one in zip(columns, (query, candidate), strict=False):
                    if not isinstance(one, (str, int)) or isinstance(one, bool):
                        raise FormatError(path, line, f"the {name} is {one!r}, no name")
                yield Row(line, str(query), str(candidate), value)
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error


def _json_object(path: Path, line: int, text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(path, line, f"not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise FormatError(
            path, line, "the JSON is nested too deep, or a number too long"
        ) from error
    if not isinstance(found, dict):
        raise FormatError(path, line, "it is no JSON object")
    return found


def chosen_columns(
    path: Path, header: Sequence[str], choices: Sequence[tuple[str, str, str]]
) -> tuple[str, str, str]:
    """Return the first triple of columns that the header has in full, each once.

    Raises:
        FormatError: if there is none.
    """
    for columns in choices:
        if all(header.count(name) == 1 for name in columns):
            return columns
    wanted = " or ".join(",".join(columns) for columns in choices)
    raise FormatError(path, 1, f"the columns are {','.join(header)!r}; needed: {wanted}")


def trec_qrels_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of a TREC qrels file: topic, iteration, document, relevance.

    Lines that begin with # are comments, and further fields are ignored.

    Raises:
        FormatError: a line of fewer than four fields or of a run, or not UTF-8.
    """
    for line, fields in _fields(path, 4, "topic iteration document relevance"):
        if len(fields) >= N_RUN_FIELDS and fields[1] == "Q0":
            raise FormatError(path, line, "this is a line of a run, not of labels")
        yield Row(line, fields[0], fields[2], fields[3])


def trec_run_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of a TREC run: topic, Q0, document, rank, score, name. Ranks are ignored.

    So are further fields, and lines that begin with #.

    Raises:
        FormatError: a line of fewer than six fields, or not UTF-8.
    """
    for line, fields in _fields(path, N_RUN_FIELDS, "topic Q0 document rank score name"):
        yield Row(line, fields[0], fields[2], fields[4])


def trec_run_name(path: Path) -> str:
    """Return the name in the first line of a TREC run."""
    for _, fields in _fields(path, N_RUN_FIELDS, "topic Q0 document rank score name"):
        return fields[5]
    return path.stem


def _fields(path: Path, n_fields: int, names: str) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line, text in text_lines(path, file):
                fields = text.split()
                if not fields or fields[0].startswith("#"):
                    continue
                if len(fields) < n_fields:
                    reason = f"{len(fields)} fields where there must be {n_fields} ({names})"
                    raise FormatError(path, line, reason)
                yield line, fields
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
