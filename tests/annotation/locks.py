"""Wait until another thread stands before a lock that this one holds."""

from __future__ import annotations

from django.db import connection

from tests.waiting import wait_until

WAITING = """
select exists (select from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock')
"""


def wait_for_a_lock() -> None:
    """Return once somebody waits for a lock of this database."""
    wait_until(somebody_waits, pause=0.01)


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select pg_stat_clear_snapshot()")
        cursor.execute(WAITING)
        return bool(cursor.fetchone() == (True,))
