"""One consistent view of the database, for a job that reads much while others write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import JsonbLoader
from pyarrow import csv

_BLOCK = 2**22  # bytes of text turned into columns at a time
Row = TypeVar("Row", bound=NamedTuple)


@dataclass(frozen=True)
class Snapshot:
    """A transaction of its own on a connection of its own: it sees one moment, whatever others
    write meanwhile, and the job's progress is written beside it.
    """

    wrapper: BaseDatabaseWrapper

    def rows(self, kind: type[Row], statement: str, parameters: Sequence[Any]) -> list[Row]:
        """Return the rows of a small table.

        Args:
            kind: a NamedTuple with the columns of the statement, in their order.
            statement: a select; JSON comes parsed.
            parameters: of the statement.

        Raises:
            TypeError: the statement gives other columns.
        """
        with self.wrapper.cursor() as cursor:
            cursor.execute(statement, parameters)
            names = tuple(column.name for column in cursor.description)
            if names != kind._fields:
                raise TypeError(f"{kind.__name__} is made of {kind._fields}, not of {names}")
            return [kind._make(row) for row in cursor.fetchall()]

    def values(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        """Return the only column of a small table."""
        with self.wrapper.cursor() as cursor:
            cursor.execute(statement, parameters)
            return [value for (value,) in cursor.fetchall()]

    def columns(
        self, statement: str, parameters: Sequence[Any], kinds: Mapping[str, pa.DataType]
    ) -> pa.Table:
        """Return the rows of a large table as columns, without a Python object for any cell.

        They come by COPY, a few MiB of text at a time; empty text and null are told apart only
        in columns that are not text.

        Args:
            statement: a select.
            parameters: of the statement.
            kinds: the columns that the statement gives, in its order.
        """
        schema = pa.schema(list(kinds.items()))
        parts: list[pa.Table] = [schema.empty_table()]
        with self.wrapper.connection.cursor() as cursor:
            copy = f"copy ({statement}) to stdout with (format csv)"
            with cursor.copy(copy, parameters) as rows:
                parts += [_parsed(text, schema) for text in _joined(rows)]
        return pa.concat_tables(parts).unify_dictionaries()


def _joined(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Yield rows as PostgreSQL sends them, each of them whole, in larger pieces."""
    held, n_bytes = [], 0
    for row in rows:
        held.append(row)
        n_bytes += len(row)
        if n_bytes >= _BLOCK:
            yield b"".join(held)
            held, n_bytes = [], 0
    if held:
        yield b"".join(held)


def _parsed(text: bytes, schema: pa.Schema) -> pa.Table:
    return csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=schema.names, use_threads=False),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=schema, true_values=["t"], false_values=["f"], null_values=[""]
        ),
    )


@contextmanager
def snapshot() -> Iterator[Snapshot]:
    """Open a consistent, read-only view of the database as it is now."""
    wrapper = connection.copy()
    try:
        wrapper.set_autocommit(False)
        with wrapper.cursor() as cursor:
            cursor.execute("set transaction isolation level repeatable read read only")
            cursor.execute("set local work_mem = '64MB'")  # rows are sorted in memory
        wrapper.connection.adapters.register_loader("jsonb", JsonbLoader)
        yield Snapshot(wrapper)
    finally:
        wrapper.close()
