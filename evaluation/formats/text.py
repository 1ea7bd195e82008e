"""Rows of the line-based formats: CSV with a header, TREC qrels and TREC runs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.formats.errors import FormatError
from evaluation.formats.tables import Row

LABEL_COLUMNS = (("query", "candidate", "label"), ("query-id", "corpus-id", "score"))
SCORE_COLUMNS = (("query", "candidate", "score"),)

# A cell that a spreadsheet would run as a formula, with the marks that already protect it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def protected(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; `unprotected` undoes it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unprotected(cell: str) -> str:
    """Return what `protected` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


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
        yield Row(line, unprotected(cells[q]), unprotected(cells[c]), cells[v])


def csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of each line that is not blank.

    Raises:
        FormatError: broken quoting, or not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num, cells
        except csv.Error as error:
            raise FormatError(path, reader.line_num, str(error)) from error
        except UnicodeDecodeError as error:
            raise not_utf8(path) from error


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

    Raises:
        FormatError: a line without exactly four fields, or not UTF-8.
    """
    for line, fields in _fields(path, 4, "topic iteration document relevance"):
        yield Row(line, fields[0], fields[2], fields[3])


def trec_run_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of a TREC run: topic, Q0, document, rank, score, name. Ranks are ignored.

    Raises:
        FormatError: a line without exactly six fields, or not UTF-8.
    """
    for line, fields in _fields(path, 6, "topic Q0 document rank score name"):
        yield Row(line, fields[0], fields[2], fields[4])


def trec_run_name(path: Path) -> str:
    """Return the name in the first line of a TREC run."""
    for _, fields in _fields(path, 6, "topic Q0 document rank score name"):
        return fields[5]
    return path.stem


def _fields(path: Path, n_fields: int, names: str) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line, text in enumerate(file, 1):
                fields = text.split()
                if len(fields) not in (0, n_fields):
                    reason = f"{len(fields)} fields where there must be {n_fields} ({names})"
                    raise FormatError(path, line, reason)
                if fields:
                    yield line, fields
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error


def not_utf8(path: Path) -> FormatError:
    """Return the error for the first line that is not UTF-8 (text is decoded in large blocks)."""
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                byte = raw[error.start]
                return FormatError(path, line, f"byte 0x{byte:02x} is not UTF-8")
    return FormatError(path, None, "the file is not UTF-8")
