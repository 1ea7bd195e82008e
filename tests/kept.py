"""What is made once in a process, and put back as rows and files for each test that asks for it."""

from __future__ import annotations

import copy
import functools
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, ParamSpec, TypeVar

from django.core.cache import cache
from django.db import connection, transaction

P = ParamSpec("P")
T = TypeVar("T")
Rows = dict[str, list[str]]  # table -> its rows as JSON


@dataclass(frozen=True)
class Kept(Generic[T]):
    found: T
    rows: Rows
    files: TemporaryDirectory[str] | None


def kept(make: Callable[P, T], folder: Callable[[], Path] | None = None) -> Callable[P, T]:
    """Let a function that adds and changes rows, and adds files to one folder, run only once.

    Later calls with the same arguments lead to the same rows and files, ids and times included,
    and return a copy of what it returned. Files that lie elsewhere have to be where the later
    tests look for them.
    """
    made: dict[str, Kept[T]] = {}

    @functools.wraps(make)
    def make_or_put_back(*args: P.args, **kwargs: P.kwargs) -> T:
        key = repr((args, kwargs))
        if key not in made:
            before = all_rows()
            found = make(*args, **kwargs)
            added = {
                table: [row for row in rows if row not in before[table]]
                for table, rows in all_rows().items()
            }
            files = None
            if folder is not None:
                files = TemporaryDirectory()
                shutil.copytree(folder(), files.name, dirs_exist_ok=True)
            rows = {table: rows for table, rows in added.items() if rows}
            made[key] = Kept(copy.deepcopy(found), rows, files)
            return found
        one = made[key]
        cache.clear()  # of what earlier tests made of the same rows
        put_back(one.rows)
        if folder is not None and one.files is not None:
            shutil.copytree(one.files.name, folder(), dirs_exist_ok=True)
        return copy.deepcopy(one.found)

    return make_or_put_back


def all_rows() -> Rows:
    with connection.cursor() as cursor:
        found = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"select to_jsonb(one)::text from {quoted(table)} one")  # noqa: S608
            found[table] = [row for (row,) in cursor.fetchall()]
        return found


def put_back(rows_of: Rows) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")  # no triggers, any order
        for table, rows in rows_of.items():
            key, generated = columns_of(table)
            records = f"[{','.join(rows)}]"
            cursor.execute(
                f"delete from {quoted(table)} where {key} in (select {key}"  # noqa: S608
                f" from jsonb_populate_recordset(null::{quoted(table)}, %s::jsonb))",
                [records],
            )
            names = ", ".join(quoted(name) for name in json.loads(rows[0]) if name not in generated)
            cursor.execute(
                f"insert into {quoted(table)} ({names}) overriding system value"  # noqa: S608
                f" select {names} from jsonb_populate_recordset(null::{quoted(table)}, %s::jsonb)",
                [records],
            )
        cursor.execute("set local session_replication_role = origin")


@functools.cache
def columns_of(table: str) -> tuple[str, set[str]]:
    """Return the name of the primary key, and those that the database computes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select column_name from information_schema.columns where table_schema = 'public'"
            " and is_generated = 'ALWAYS' and table_name = %s",
            [table],
        )
        generated = {name for (name,) in cursor.fetchall()}
        return str(connection.introspection.get_primary_key_column(cursor, table)), generated


def quoted(name: str) -> Any:
    return connection.ops.quote_name(name)
