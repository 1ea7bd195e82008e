"""Read CSV files whose rows people have to find again. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from lookalike.io.errors import InputError
from lookalike.io.text_files import decode_text, separator_of

SHOWN = 20  # problems told at once
MOST = 10_000  # problems; then the file is given up


class TableError(InputError):
    """The file cannot be read; the message names the file and the rows, `problems` each row."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        shown = "; ".join(problems[:SHOWN])
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        super().__init__(f"{name}: {shown}{more}")
        self.problems = list(problems)


def read_rows(
    path: str | Path, columns: Sequence[str], problems: list[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the rows of a file; as `parse_rows`, which see.

    Raises:
        TableError: also if the file cannot be read.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise TableError(str(path), [problem.strerror or str(problem)]) from None
    return parse_rows(str(path), content, columns, problems, optional)


def parse_rows(
    name: str,
    content: bytes,
    columns: Sequence[str],
    problems: list[str],
    optional: Sequence[str] = (),
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each good row's number and its fields, and collect the faults of the others.

    Rows are numbered as an editor numbers lines, the header being row 1. Blank rows and other
    columns are passed over; a byte order mark does no harm.

    Args:
        name: of the file, for messages.
        content: CSV with any usual separator, in UTF-8, or in UTF-16 with a mark.
        columns: those that every row must fill.
        problems: receives a sentence for each row that is too short or leaves a field empty.
        optional: those that come after `columns`, "" where they are absent.

    Raises:
        TableError: the content is not UTF-8, is not CSV, lacks a column or has it twice, or
            too many rows are wrong.
    """
    text = _text(name, content)
    separator = separator_of(text.lstrip().partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        places = _places(name, header, columns)
        extra = [header.index(column) if column in header else None for column in optional]
        for fields in reader:
            row = reader.line_num
            if len(problems) >= MOST:
                raise TableError(name, problems)
            if not any(field.strip() for field in fields):
                continue
            if len(fields) <= max(places):
                problems.append(f"row {row} has {len(fields)} fields, the first has {len(header)}")
                continue
            values = tuple(fields[place].strip() for place in places)
            empty = [column for column, value in zip(columns, values, strict=True) if not value]
            if empty:
                problems.append(f"row {row}: {', '.join(empty)} is empty")
                continue
            yield row, values + tuple(_field(fields, place) for place in extra)
    except csv.Error as problem:
        raise TableError(name, [f"row {reader.line_num}: {problem}"]) from None


def _places(name: str, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    missing = [column for column in columns if column not in header]
    repeated = [column for column in columns if header.count(column) > 1]
    if missing or repeated:
        wrong = f"{_listed(missing)} missing" if missing else f"{_listed(repeated)} there twice"
        quoted = ", ".join(f"“{column}”" for column in header)
        raise TableError(name, [f"{wrong}; its header is: {quoted or 'empty'}"])
    return [header.index(column) for column in columns]


def _listed(columns: Sequence[str]) -> str:
    *others, last = columns
    return f"the columns {', '.join(others)} and {last} are" if others else f"the column {last} is"


def _field(fields: Sequence[str], place: int | None) -> str:
    return fields[place].strip() if place is not None and place < len(fields) else ""


def _text(name: str, content: bytes) -> str:
    try:
        return decode_text(content)
    except UnicodeDecodeError as problem:
        row = content[: problem.start].count(b"\n") + 1
        raise TableError(name, [f"row {row} is not UTF-8"]) from None
