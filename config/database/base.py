"""PostgreSQL as Django has it, except that a new connection waits while the server is away.

A restart takes it away for a second or two. Whoever needs a connection then waits instead of
failing: nothing has been sent to the server yet, so nothing can be done twice. An outage is
waited for once, not by each request anew, so that a long one does not hold every thread.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg
from django.db.backends.postgresql import base

AGAIN_SECONDS = 0.05


class Outage:
    """Since when the server has been away, as far as this process knows."""

    def __init__(self) -> None:
        self.patience = 0.0  # seconds; a web process has some (config/wsgi.py)
        self.began: float | None = None

    def is_to_be_waited_for(self) -> bool:
        """Note that the server is away; return whether it may still come back in time."""
        if self.began is None:
            self.began = time.monotonic()
        return time.monotonic() < self.began + self.patience


outage = Outage()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of Django's."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, and wait as long as patience lasts."""
        while True:
            try:
                connection = super().get_new_connection(conn_params)
            except psycopg.OperationalError:
                if not outage.is_to_be_waited_for():
                    raise
                time.sleep(AGAIN_SECONDS)
            else:
                outage.began = None
                return connection
