"""How statements are run: plainly, into arrays, or planned once per connection for key presses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray

RUNS_BEFORE_PREPARING = 2
# A moment is sent as microseconds since 2000; "-infinity" is the least of all.
SENDS = {
    ">i8": "int8send", ">i4": "int4send", ">i2": "int2send", ">f8": "float8send", "?": "boolsend",
    "V16": "uuid_send", ">M8[us]": "timestamptz_send",
}  # fmt: skip


def rows_of(statement: str, *parameters: Any) -> list[Any]:
    """Return all rows of a statement that is run now and then."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def columns_of(
    statement: str, kinds: Mapping[str, str], *parameters: Any
) -> dict[str, NDArray[Any]]:
    """Return all rows of a statement as columns, without a Python object for any cell.

    The rows come in no order: the database may put them together from several parts.

    Args:
        statement: a select; no cell may be null.
        kinds: the columns by name, in the order of the statement; each a key of `SENDS`.
        parameters: of the statement.

    Raises:
        ValueError: some cell is null.
    """
    names = ", ".join(kinds)
    packed = ", ".join(
        f"string_agg({SENDS[kind]}({name}), ''::bytea)" for name, kind in kinds.items()
    )
    # the columns, not the parameters, are put into the text
    whole = f"select count(*), {packed} from ({statement}) as given ({names})"  # noqa: S608
    with prepared_cursor() as cursor:  # bytes come as they are, not as twice as many letters
        cursor.execute(whole, parameters, prepare=False, binary=True)
        [(n, *columns)] = cursor.fetchall()
    found = {}
    for (name, kind), column in zip(kinds.items(), columns, strict=True):
        values = np.frombuffer(column or b"", kind.replace("M8[us]", "i8"))
        if values.size != n:
            raise ValueError(f"{n - values.size} of the {n} cells of {name} are null")
        found[name] = values.astype(values.dtype.newbyteorder("="))
    return found


def numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement with numbers for its named parameters, and the names in their order.

    psycopg does so itself, but anew at each run where a statement has over 4,096 characters.
    """
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[1], f"${len(numbers) + 1}")

    return re.sub(r"%\((\w+)\)s", number, statement), tuple(numbers)


@contextmanager
def prepared_cursor(
    kind: type[psycopg.Cursor[Any]] = psycopg.Cursor,
) -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
    """Yield a cursor that binds parameters on the server and keeps the plans of its statements.

    Django binds on the client, so that PostgreSQL plans every statement anew, which takes longer
    than to run these. It is the same connection and transaction. Behind a pooler that moves
    transactions between connections (Django's DISABLE_SERVER_SIDE_CURSORS) nothing is prepared.

    Args:
        kind: `psycopg.RawCursor` for statements whose parameters are `numbered`.
    """
    connection.ensure_connection()
    raw: psycopg.Connection[tuple[Any, ...]] = connection.connection
    keeps_plans = not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS")
    if keeps_plans and raw.prepare_threshold is None:
        raw.prepare_threshold = RUNS_BEFORE_PREPARING
    with connection.wrap_database_errors, kind(raw) as cursor:
        yield cursor
