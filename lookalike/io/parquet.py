"""Rows of a parquet file with the columns of the CSV formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.io.errors import FormatError
from lookalike.io.line_formats import chosen_columns
from lookalike.io.tables import Row

MAGIC = b"PAR1"


def parquet_rows(path: Path, choices: Sequence[tuple[str, str, str]]) -> Iterator[Row]:
    """Yield the pairs of a parquet file; row numbers stand where other formats have lines.

    Raises:
        FormatError: a broken file, other columns, or an empty cell.
    """
    try:
        with pq.ParquetFile(path) as file:
            columns = chosen_columns(path, file.schema_arrow.names, choices)
            row = 0
            for batch in file.iter_batches(columns=list(columns)):
                lists = [batch.column(name).to_pylist() for name in columns]
                for query, candidate, value in zip(*lists, strict=True):
                    row += 1
                    if query is None or candidate is None or value is None:
                        raise FormatError(path, row, "a cell is empty", unit="row")
                    yield Row(row, str(query), str(candidate), value)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FormatError(path, None, f"not readable as parquet: {error}") from error
