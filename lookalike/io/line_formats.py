"""Rows of the line-based formats: CSV with a header, JSONL, TREC qrels and TREC runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lookalike.io.csv_text import csv_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.pair_columns import OF_A_RELEASE, RANK, Columns, Value, chosen_columns
from lookalike.io.pair_objects import expanded
from lookalike.io.tables import Row
from lookalike.io.text_files import not_decodable, open_text, text_lines

N_RUN_FIELDS = 6
N_HEAD = 1000  # lines that tell which format of labels it is


class LabelLines(NamedTuple):
    """A format of lines of labels.

    Attributes:
        title: its name in messages.
        names: of its fields.
        candidate: place of the candidate among them.
        label: place of the label.
    """

    title: str
    names: str
    candidate: int
    label: int

    @property
    def n_fields(self) -> int:
        """How many fields every line has."""
        return len(self.names.split())


QRELS = LabelLines("TREC qrels", "topic iteration document relevance", 2, 3)
XINFAP = LabelLines("xinfAP qrels", "topic 0 document stratum relevance", 2, 4)
PRELS = LabelLines("TREC prels", "topic document relevance algorithm probability", 1, 2)


def csv_rows(path: Path, value: Value) -> Iterator[Row]:
    """Yield the pairs of a CSV file whose header names query, candidate and label or score.

    Other columns are ignored.

    Raises:
        FormatError: no such header, a short or long line, broken quoting, or not UTF-8.
    """
    lines = csv_lines(path)
    number, header = next(lines, (1, []))
    columns = chosen_columns(path, header, value, line=number)
    q, c, v = (header.index(name) for name in columns)
    r = header.index(RANK) if header.count(RANK) == 1 else None
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason)
        if cells[v] or columns != OF_A_RELEASE:
            rank = None if r is None else cells[r]
            yield Row(line, unprotected(cells[q]), unprotected(cells[c]), cells[v], rank)


def jsonl_rows(path: Path, value: Value) -> Iterator[Row]:
    """Yield the pairs of a file with one JSON object a line.

    An object is one pair, a query with a list or object of its candidates, or, as
    `lookalike.io.pair_objects` describes, {query: {candidate: value}}.

    Raises:
        FormatError: a line that is no such object, an empty cell, or not UTF-8.
    """
    columns: Columns | None = None
    try:
        with open_text(path) as file:
            for line, text in text_lines(path, file):
                if not text.strip():
                    continue
                held = _json_object(path, line, text)
                pairs = expanded(held, value)
                if pairs is not None:
                    yield from (Row(line, *pair) for pair in pairs)
                    continue
                columns = columns or chosen_columns(path, list(held), value, line=line)
                if row := object_row(path, line, held, columns):
                    yield row
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error


def object_row(path: Path, line: int, held: Mapping[str, object], columns: Columns) -> Row | None:
    """Return the pair of a JSON object; None for one of a release that has no label.

    Raises:
        FormatError: a key is missing, or a name is neither text nor a number.
    """
    if missing := [name for name in columns if name not in held]:
        raise FormatError(path, line, f"it lacks {', '.join(missing)}")
    query, candidate, value = (held[name] for name in columns)
    if value is None and columns == OF_A_RELEASE:
        return None
    for name, one in zip(columns, (query, candidate), strict=False):
        if not isinstance(one, (str, int)) or isinstance(one, bool):
            raise FormatError(path, line, f"the {name} is {one!r}, no name")
    rank = "" if held.get(RANK, 0) is None else held.get(RANK)
    return Row(line, str(query), str(candidate), value, rank)


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


def trec_qrels_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of a file of TREC labels: qrels, or of five fields xinfAP qrels or prels.

    The first lines tell the format, and all lines must have its fields. Lines that begin with #
    are comments.

    Raises:
        FormatError: a line of another number of fields or of a run, or not UTF-8.
    """
    form = _label_lines(path)
    for line, fields in _fields(path, form.title, form.names):
        yield Row(line, fields[0], fields[form.candidate], fields[form.label])


def _label_lines(path: Path) -> LabelLines:
    """Return the format of a file's lines.

    Raises:
        FormatError: the first line has no known number of fields.
    """
    head = list(islice(_all_fields(path), N_HEAD))
    line, fields = head[0] if head else (1, [])
    if len(fields) >= N_RUN_FIELDS and fields[1] == "Q0":
        raise FormatError(path, line, "this is a line of a run, not of labels")
    if len(fields) != XINFAP.n_fields:
        return QRELS
    if all(fields[1] == "0" for _, fields in head if len(fields) == XINFAP.n_fields):
        return XINFAP
    return PRELS if _is_probability(fields[4]) else QRELS


def trec_run_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of a TREC run: topic, Q0, document, rank, score, name.

    Lines that begin with # are ignored.

    Raises:
        FormatError: a line of more or fewer than six fields, or not UTF-8.
    """
    for line, fields in _fields(path, "a TREC run", "topic Q0 document rank score name"):
        yield Row(line, fields[0], fields[2], fields[4], fields[3])


def trec_run_name(path: Path) -> str:
    """Return the name in the first line of a TREC run."""
    for _, fields in _all_fields(path):
        return fields[-1]
    return path.stem


def _fields(path: Path, title: str, names: str) -> Iterator[tuple[int, list[str]]]:
    n_fields = len(names.split())
    for line, fields in _all_fields(path):
        if len(fields) != n_fields:
            reason = f"{len(fields)} fields where there must be {n_fields} ({names}: {title})"
            raise FormatError(path, line, reason)
        yield line, fields


def _all_fields(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with open_text(path) as file:
            for line, text in text_lines(path, file):
                fields = text.split()
                if fields and not fields[0].startswith("#"):
                    yield line, fields
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error


def _is_probability(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
