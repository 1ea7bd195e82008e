"""How statements are run: plainly, or planned once per connection for those of every key press."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection

RUNS_BEFORE_PREPARING = 2


def rows_of(statement: str, *parameters: Any) -> list[Any]:
    """Return all rows of a statement that is run now and then."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


@contextmanager
def prepared_cursor() -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
    """Yield a cursor that binds parameters on the server and keeps the plans of its statements.

    Django binds on the client, so that PostgreSQL plans every statement anew, which takes longer
    than to run these. It is the same connection and transaction. Behind a pooler that moves
    transactions between connections (Django's DISABLE_SERVER_SIDE_CURSORS) nothing is prepared.
    """
    connection.ensure_connection()
    raw: psycopg.Connection[tuple[Any, ...]] = connection.connection
    keeps_plans = not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS")
    if keeps_plans and raw.prepare_threshold is None:
        raw.prepare_threshold = RUNS_BEFORE_PREPARING
    with connection.wrap_database_errors, psycopg.Cursor(raw) as cursor:
        yield cursor
