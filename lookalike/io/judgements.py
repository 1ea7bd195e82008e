"""The table judgements of a release: the votes that count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lookalike.io.column_table import ColumnTable, column_names

COLUMNS = ("query_id", "image_id", "annotator", "answer", "is_counted")


def holds_judgements(path: str | Path) -> bool:
    """Whether a CSV or parquet file has the columns of a release's judgements.

    Raises:
        FormatError: it begins like parquet and is none.
        OSError: if the file cannot be opened.
    """
    return set(COLUMNS) <= set(column_names(path))


def counted_answers(path: str | Path) -> Iterator[tuple[int, tuple[str, str, str, str]]]:
    """Yield line or row, and (query, image, judge, answer) of each vote that counts.

    Raises:
        FormatError: a row too short, or an empty cell.
        OSError: if the file cannot be opened.
    """
    for line, (query, image, judge, answer, counts) in ColumnTable(path, COLUMNS):
        if counts == "True":
            yield line, (query, image, judge, answer)
