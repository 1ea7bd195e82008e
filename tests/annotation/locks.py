"""Wait until another thread stands before a lock that this one holds."""

from __future__ import annotations

import time

from django.db import connection

WAITING = """
select exists (select from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock')
"""


def wait_for_a_lock(seconds: float = 30) -> None:
    """Return once somebody waits for a lock of this database; fail after so many seconds."""
    deadline = time.monotonic() + seconds
    with connection.cursor() as cursor:
        while True:
            cursor.execute("select pg_stat_clear_snapshot()")
            cursor.execute(WAITING)
            if cursor.fetchone() == (True,):
                return
            assert time.monotonic() < deadline, "nobody waits for a lock"
            time.sleep(0.01)
