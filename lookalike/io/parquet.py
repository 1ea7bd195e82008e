"""Rows of a parquet file with the columns of the CSV formats.

What a file states of itself in its footer is asked before anything of it is unpacked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.core.unpacking import why_too_much
from lookalike.io.arrow_text import column_texts, plain_array
from lookalike.io.errors import FormatError
from lookalike.io.pair_columns import OF_A_RELEASE, RANK, Value, chosen_columns
from lookalike.io.tables import Row

MAGIC = b"PAR1"
DEPTH = b"exact_depth"  # in the metadata of a run's file: `Run.depth`
MAX_NAME = 4096  # characters of an id, which may be a path
_AS_THEY_ARE = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string),
    *(pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null, pa.types.is_nested),
)
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4}  # bytes of a number in memory; 8 of all others


def parquet_rows(path: Path, value: Value) -> Iterator[Row]:
    """Yield the pairs of a parquet file; row numbers stand where other formats have lines.

    Raises:
        FormatError: a broken file, other columns, an empty cell, an id of endless length, or
            one that would unpack to more than any honest file does.
    """
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            columns = chosen_columns(path, schema.names, value)
            ranks = (RANK,) if schema.names.count(RANK) == 1 else ()
            n_values(path, file.metadata, columns)
        for name in columns:
            if pa.types.is_nested(schema.field(name).type):
                raise FormatError(path, None, f"{name} holds lists, not one value a row")
        with pq.ParquetFile(path, read_dictionary=texts_in(schema, columns)) as file:
            row = 0
            for batch in file.iter_batches(columns=[*columns, *ranks]):
                lists = [
                    checked_names(path, row, name, values_of(batch.column(name)))
                    for name in columns
                ]
                given = batch.column(RANK).to_pylist() if ranks else repeat(None)
                for query, candidate, cell, rank in zip(*lists, given, strict=False):
                    row += 1
                    if cell is None and columns == OF_A_RELEASE:
                        continue
                    if query is None or candidate is None or cell is None:
                        raise FormatError(path, row, "a cell is empty", unit="row")
                    yield Row(row, str(query), str(candidate), cell, _or_empty(rank, ranks))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FormatError(path, None, f"not readable as parquet: {error}") from error


def _or_empty(rank: object, ranks: Sequence[str]) -> object:
    """Return a rank, "" for an empty cell of a column of ranks."""
    return "" if rank is None and ranks else rank


def stated_depth(path: Path) -> int | None:
    """Return the exact depth that a run's file states, None if it states none.

    Raises:
        FormatError: not readable as parquet, or the depth is not a whole number from 1 on.
    """
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(path, None, f"not readable as parquet: {error}") from error
    text = metadata.get(DEPTH)
    if text is None:
        return None
    if not text.isdigit() or int(text) < 1:
        reason = f"the exact depth {text.decode(errors='replace')!r} is not a whole number above 0"
        raise FormatError(path, None, reason)
    return int(text)


def with_depth(schema: pa.Schema, depth: int | None) -> pa.Schema:
    """Return a run's schema that states its exact depth."""
    return schema if depth is None else schema.with_metadata({DEPTH: str(depth)})


def n_values(path: Path, stated: pq.FileMetaData, columns: Collection[str]) -> dict[str, int]:
    """Return how many values each column holds in all, by the footer.

    Raises:
        FormatError: to unpack these columns would take far more than the file's size.
    """
    n_of, n_bytes = dict.fromkeys(columns, 0), 0
    for group in map(stated.row_group, range(stated.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            name = column.path_in_schema.partition(".")[0]
            if name in n_of:
                n_of[name] += column.num_values
                n_plain = column.num_values * _WIDTHS.get(column.physical_type, 8)
                n_bytes += max(column.total_uncompressed_size, n_plain)
    if reason := why_too_much(n_bytes, path.stat().st_size):
        raise FormatError(path, None, reason)
    return n_of


def texts_in(schema: pa.Schema, columns: Collection[str]) -> list[str]:
    """Return the columns of text, to be read as codes: a long text repeated is then kept once."""
    return [name for name in columns if pa.types.is_string(schema.field(name).type)]


def values_of(column: pa.Array) -> list[Any]:
    """Return a column as Python values, those of equal codes being one object.

    Numbers, decimals included, are numbers; bytes, dates and other types are the text that they
    mean (`lookalike.io.arrow_text`).
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        names = values_of(column.dictionary)
        return [None if code is None else names[code] for code in column.indices.to_pylist()]
    plain: list[Any] = plain_array(column).to_pylist()
    if pa.types.is_decimal(kind):
        number = int if kind.scale <= 0 else float
        return [None if value is None else number(value) for value in plain]
    if any(test(kind) for test in _AS_THEY_ARE):
        return plain
    texts = column_texts(column)
    if texts is None:
        return plain
    return [None if value is None else text for value, text in zip(plain, texts, strict=True)]


def checked_names(path: Path, n_before: int, what: str, names: list[Any]) -> list[Any]:
    """Return values of a column as they are.

    Args:
        path: of the file.
        n_before: rows before these.
        what: the column.
        names: texts among them are ids.

    Raises:
        FormatError: an id has more than MAX_NAME characters.
    """
    for row, name in enumerate(names, n_before + 1):
        if isinstance(name, str) and len(name) > MAX_NAME:
            reason = f"the {what} has {len(name):,} characters; at most {MAX_NAME:,} are read"
            raise FormatError(path, row, reason, unit="row")
    return names
