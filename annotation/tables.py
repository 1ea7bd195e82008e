"""Read CSV files whose rows people have to find again. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

SHOWN = 20  # problems told at once


class TableError(Exception):
    """The file cannot be read; the message names the file and the rows, `problems` each row."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        shown = "; ".join(problems[:SHOWN])
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        super().__init__(f"{name}: {shown}{more}")
        self.problems = list(problems)


def read_rows(
    path: Path, columns: Sequence[str], problems: list[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each good row's number and its fields, and put what is wrong with others aside.

    Rows are numbered as an editor numbers lines, the header being row 1. Blank rows and other
    columns are passed over; a byte order mark does no harm.

    Args:
        path: a CSV file in UTF-8.
        columns: those that every row must fill.
        problems: receives a sentence for each row that is too short or leaves a field empty.
        optional: those that come after `columns`, "" where they are absent.

    Raises:
        TableError: the file cannot be read, is not UTF-8, is not CSV, or lacks a column or has
            it twice.
    """
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        places = _places(path, header, columns)
        extra = [header.index(name) if name in header else None for name in optional]
        for fields in reader:
            row = reader.line_num
            if not any(field.strip() for field in fields):
                continue
            if len(fields) <= max(places):
                problems.append(f"row {row} has {len(fields)} fields, the first has {len(header)}")
                continue
            values = tuple(fields[place].strip() for place in places)
            empty = [name for name, value in zip(columns, values, strict=True) if not value]
            if empty:
                problems.append(f"row {row}: {', '.join(empty)} is empty")
                continue
            yield row, values + tuple(_field(fields, place) for place in extra)
    except csv.Error as problem:
        raise TableError(str(path), [f"row {reader.line_num}: {problem}"]) from None


def _places(path: Path, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    missing = [name for name in columns if name not in header]
    repeated = [name for name in columns if header.count(name) > 1]
    if missing or repeated:
        wrong = f"the columns {missing} are missing" if missing else f"{repeated} stand twice"
        raise TableError(str(path), [f"{wrong}; the first row is {list(header)}"])
    return [header.index(name) for name in columns]


def _field(fields: Sequence[str], place: int | None) -> str:
    return fields[place].strip() if place is not None and place < len(fields) else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise TableError(str(path), [problem.strerror or str(problem)]) from None
    except UnicodeDecodeError as problem:
        row = problem.object[: problem.start].count(b"\n") + 1
        raise TableError(str(path), [f"row {row} is not UTF-8"]) from None
