"""Write and read the parquet tables of a release; the same rows give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.io.errors import FormatError
from lookalike.io.parquet import n_values
from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import ALL_TABLES

ROWS = 65_536  # of one row group: what is held in memory at a time


class TableWriter(pq.ParquetWriter):
    """A parquet file that grows by blocks of columns, in constant memory."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, schema, compression="zstd")

    def add(self, columns: Mapping[str, Sequence[Any] | pa.Array]) -> None:
        """Append rows, given as one sequence for each column of the schema."""
        arrays = [_as_type(columns[field.name], field.type) for field in self.schema]
        block = pa.Table.from_arrays(arrays, schema=self.schema)
        if block.num_rows:
            self.write_table(block, row_group_size=ROWS)


def _as_type(values: Sequence[Any] | pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values if values.type == kind else values.cast(kind)
    return pa.array(values, kind)


def write_table(folder: Path, name: str, columns: Mapping[str, Any]) -> None:
    """Write a table of a release that is in memory as columns."""
    table = ALL_TABLES[name].graded() if "grade" in columns else ALL_TABLES[name]
    with TableWriter(folder / table.path, table.schema) as writer:
        writer.add(columns)


def write_rows(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table of a release that is in memory as rows."""
    columns = ALL_TABLES[name].schema.names
    write_table(folder, name, {column: [row[column] for row in rows] for column in columns})


def read_table(
    path: Path,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    graded: pa.Schema | None = None,
) -> pa.Table:
    """Read a table, or some of its columns; text comes dictionary-encoded.

    Args:
        path: the file.
        schema: its columns.
        columns: those wanted, all if None.
        graded: the columns that it may have instead.

    Raises:
        ReleaseError: missing, not parquet, of other columns, or far larger unpacked.
    """
    try:
        if graded is not None and pq.read_schema(path).names == graded.names:
            schema = graded
        names = list(columns or schema.names)
        texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            if file.schema_arrow.names != schema.names:
                raise ReleaseError(
                    f"{path}: the columns are {', '.join(file.schema_arrow.names)}; "
                    f"expected: {', '.join(schema.names)}"
                )
            n_values(path, file.metadata, names)
            return file.read(columns=names)
    except FileNotFoundError:
        raise ReleaseError(f"{path} is missing") from None
    except FormatError as problem:
        raise ReleaseError(str(problem)) from problem
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
        raise ReleaseError(f"{path} is not readable as parquet: {problem}") from problem


def numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return a column of numbers or truths without nulls; `to_numpy` would load pandas for it."""
    if pa.types.is_boolean(column.type):
        return numbers(column.cast(pa.uint8())).astype(np.bool_)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    arrays = [np.from_dlpack(chunk) for chunk in chunks if len(chunk)]
    return np.concatenate(arrays) if arrays else np.zeros(0, column.type.to_pandas_dtype())


def coded(column: pa.ChunkedArray) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names of a text column in ascending order, and each row's code."""
    if not len(column):
        return (), np.zeros(0, np.int64)
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    codes = numbers(whole.indices).astype(np.int64)
    names = whole.dictionary.to_pylist()
    used = np.unique(codes)
    ordered = sorted(used.tolist(), key=names.__getitem__)
    place = np.zeros(len(names), np.int64)
    place[ordered] = np.arange(len(ordered))
    return tuple(names[code] for code in ordered), place[codes]


def column_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return a column as Python values; much faster than pyarrow where it can be."""
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in column_values(chunk)]
    if pa.types.is_dictionary(column.type) and not column.null_count:
        names = column.dictionary.to_pylist()
        codes = numbers(column.indices).tolist()
        return list(map(names.__getitem__, codes))
    kind = column.type
    is_plain = any(
        of(kind) for of in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    )
    if is_plain and not column.null_count:
        plain: list[Any] = numbers(column).tolist()
        return plain
    held: list[Any] = column.to_pylist()
    return held


def rows_of(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Return some columns of a table as rows of Python values."""
    return zip(*(column_values(table[name]) for name in columns), strict=True)


def codes_in(names: Sequence[str], column: pa.ChunkedArray) -> Ints:
    """Return where the values of a text column stand in a list of names, -1 if nowhere."""
    found, codes = coded(column)
    place = {name: row for row, name in enumerate(names)}
    at = np.array([place.get(name, -1) for name in found], np.int64)
    return at[codes] if found else codes


def named(names: Sequence[str] | pa.StringArray, codes: Ints) -> pa.Array:
    """Return a text column from codes, without a Python string for each row."""
    texts = names if isinstance(names, pa.StringArray) else pa.array(list(names), pa.string())
    return texts.take(pa.array(codes.astype(np.int32)))
