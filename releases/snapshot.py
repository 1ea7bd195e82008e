"""One consistent view of the database, read in blocks while judging goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

BLOCK = 16_384  # rows as Python objects are large
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Snapshot:
    """A transaction of its own on a connection of its own: it sees one moment, whatever others
    write meanwhile, and the job's progress is written beside it.
    """

    wrapper: BaseDatabaseWrapper

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a small table."""
        with self.wrapper.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def blocks(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[list[Row]]:
        """Yield the rows of a large table, BLOCK at a time, by a cursor on the server."""
        with self.wrapper.chunked_cursor() as cursor:
            cursor.execute(statement, parameters)
            while block := cursor.fetchmany(BLOCK):
                yield block


@contextmanager
def snapshot() -> Iterator[Snapshot]:
    """Open a consistent, read-only view of the database as it is now."""
    wrapper = connection.copy()
    try:
        wrapper.set_autocommit(False)
        with wrapper.cursor() as cursor:
            cursor.execute("set transaction isolation level repeatable read read only")
            cursor.execute("set local work_mem = '64MB'")  # rows are sorted in memory
        yield Snapshot(wrapper)
    finally:
        wrapper.close()
