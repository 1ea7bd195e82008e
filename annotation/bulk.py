"""Write many rows at once with PostgreSQL's COPY."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models
from psycopg import sql


def copy_rows(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert `rows` into the model's table; `columns` are database columns.

    Defaults live in Python, so every column without a database default must be named.
    """
    copy_into(model._meta.db_table, columns, rows)


def copy_into(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert `rows` into a table by name, which may be a temporary one."""
    statement = sql.SQL("copy {} ({}) from stdin").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def refresh_statistics(*tables: type[models.Model]) -> None:
    """Tell the planner at once what was loaded; it would learn of it only minutes later."""
    names = sql.SQL(", ").join(sql.Identifier(model._meta.db_table) for model in tables)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("analyze {}").format(names))
