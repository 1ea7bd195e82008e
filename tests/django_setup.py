"""Django on a PostgreSQL and a Valkey of this process's own.

Each folder of tests that need the site imports this first (in its `__init__.py`), so a run of
pure tests alone starts no service, and neither does the process that only hands tests to others.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django
from django.db import connection
from django.db.backends.postgresql.creation import DatabaseCreation
from django.test import TransactionTestCase

from config import embedded, settings
from tests.made_tables import DATABASE, are_current, are_ours, copy_tables

# hundreds of passwords are set and typed; the real hash takes half a second each time
vars(settings)["PASSWORD_HASHERS"] = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if settings.SERVICES.runs_database:
    if not are_ours(settings.DATA_DIR):
        raise SystemExit(
            f"{settings.DATA_DIR} holds the database of a site. Tests and benchmarks make, and "
            "delete, their own: set LOOKALIKE_DATA to another folder."
        )
    if not are_current(settings.DATA_DIR):
        embedded.stop_services(settings.SERVICES)  # of a run that was killed
        shutil.rmtree(settings.DATA_DIR / "postgres", ignore_errors=True)
        copy_tables(settings.DATA_DIR)
    settings.DATABASES["default"]["TEST"] = {"TEMPLATE": DATABASE}

# not named in pyproject.toml: pytest-django would read the settings before tests/conftest.py has
# chosen the data folder
django.setup()
embedded.hold_services(settings.SERVICES)  # the last process to end stops them

DELETE_ALL_ROWS = """
do $$
declare name regclass;
begin
    set local session_replication_role = replica;  -- no foreign keys, no triggers
    for name in select oid from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not in
            ('django_migrations', 'django_content_type', 'auth_permission')
    loop
        execute format('delete from %s', name);
    end loop;
end $$
"""


def delete_all_rows(_test_case: TransactionTestCase) -> None:
    """Empty the database after a test that commits: Django's truncation takes far longer."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE_ALL_ROWS)


def destroy(creation: Any, name: str, _verbosity: int) -> None:
    """Drop a test database even while a heartbeat or a live server still holds a connection."""
    with creation._nodb_cursor() as cursor:
        cursor.execute(f"drop database {connection.ops.quote_name(name)} with (force)")


DatabaseCreation._destroy_test_db = destroy  # type: ignore[attr-defined]
TransactionTestCase._fixture_teardown = delete_all_rows  # type: ignore[attr-defined]
