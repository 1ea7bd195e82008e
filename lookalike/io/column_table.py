"""Some columns of a CSV or parquet file, row by row, and errors that name the place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.io.csv_text import csv_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.parquet import MAGIC, n_values, values_of


class ColumnTable:
    """The wanted columns of a CSV or parquet file, and errors that name the place in it.

    Args:
        path: the file.
        columns: that are wanted; others are ignored.
        may_be_empty: columns whose cells may be empty.
        shipped: the names of these columns in a release.

    Raises:
        FormatError: as rows are read: a missing column, a row too short, an empty cell.
        OSError: if the file cannot be opened.
    """

    def __init__(
        self,
        path: str | Path,
        columns: tuple[str, ...],
        may_be_empty: tuple[str, ...] = (),
        shipped: tuple[str, ...] = (),
    ) -> None:
        self.path, self.columns, self.may_be_empty = Path(path), columns, may_be_empty
        self.shipped = shipped
        with self.path.open("rb") as file:
            self.is_parquet = file.read(len(MAGIC)) == MAGIC
        self.unit = "row" if self.is_parquet else "line"

    def __iter__(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the number of each line or row and its cells."""
        read = _parquet_rows if self.is_parquet else _csv_rows
        for line, cells in read(self.path, self.columns, self.shipped):
            for name, cell in zip(self.columns, cells, strict=True):
                if not cell and name not in self.may_be_empty:
                    raise self.refused(line, f"the {name} is empty")
            yield line, cells

    def refused(self, line: int, reason: str) -> FormatError:
        """Return the error for one line."""
        return FormatError(self.path, line, reason, unit=self.unit)


def column_names(path: str | Path) -> list[str]:
    """Return the columns that a parquet file or the first line of a CSV file names.

    Raises:
        FormatError: it begins like parquet and is none.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    with path.open("rb") as file:
        is_parquet = file.read(len(MAGIC)) == MAGIC
    if not is_parquet:
        try:
            return next(csv_lines(path), (1, []))[1]
        except FormatError:  # the reader of the rows says what is wrong
            return []
    try:
        return list(pq.read_schema(path).names)
    except pa.ArrowException as error:
        raise FormatError(path, None, f"not readable as parquet: {error}") from error


def _csv_rows(
    path: Path, columns: tuple[str, ...], shipped: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    lines = csv_lines(path)
    _, header = next(lines, (1, []))
    columns = _chosen(path, header, columns, shipped)
    at = [header.index(name) for name in columns]
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason)
        yield line, tuple(unprotected(cells[i]) for i in at)


def _parquet_rows(
    path: Path, columns: tuple[str, ...], shipped: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    try:
        with pq.ParquetFile(path) as file:
            columns = _chosen(path, file.schema_arrow.names, columns, shipped)
            n_values(path, file.metadata, columns)
            row = 0
            for batch in file.iter_batches(columns=list(columns)):
                for cells in zip(*(values_of(batch.column(n)) for n in columns), strict=True):
                    row += 1
                    yield row, tuple("" if cell is None else str(cell) for cell in cells)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(path, None, f"not readable as parquet: {error}") from error


def _chosen(
    path: Path, header: list[str], columns: tuple[str, ...], shipped: tuple[str, ...]
) -> tuple[str, ...]:
    if shipped and all(header.count(name) == 1 for name in shipped):
        return shipped
    for name in columns:
        if header.count(name) != 1:
            reason = f"the columns are {','.join(header)!r}; needed once each: {','.join(columns)}"
            raise FormatError(path, 1, reason)
    return columns
