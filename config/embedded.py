"""PostgreSQL and Valkey from wheels, for a data folder that names no servers of its own.

The servers listen on Unix sockets inside the data folder only, so two checkouts never meet.
Every process that uses them holds a shared lock on one file; the last one to leave stops them.
The kernel drops the lock of a killed process, so nothing has to be cleaned up by hand, and the
next start asks the servers themselves whether they are alive.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.running.postgres import start_postgres, stop_postgres
from config.running.services import ServiceError, Services, is_alive, service_urls
from config.running.valkey import client_of, start_valkey

__all__ = [
    "ServiceError",
    "Services",
    "are_running",
    "hold_services",
    "reach",
    "service_urls",
    "start_services",
    "stop_services",
]


def hold_services(services: Services) -> None:
    """Start what is ours and not running, and keep it up until this process ends.

    Raises:
        ServiceError: ours does not start, or the one given by URL does not answer.
    """
    reach(services)
    if not (services.runs_database or services.runs_broker):
        return
    run_dir = services.data_dir / "run"
    run_dir.mkdir(parents=True, exist_ok=True)
    users = (run_dir / "users.lock").open("w")
    fcntl.flock(users, fcntl.LOCK_SH)
    start_services(services)
    holder = os.getpid()

    def leave() -> None:
        if os.getpid() != holder:  # a fork inherits the lock, but not the duty
            return
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            users.close()  # somebody else still works
            return
        stop_services(services)
        users.close()

    atexit.register(leave)


def reach(services: Services) -> None:
    """Ask the servers that are not ours whether they answer.

    Raises:
        ServiceError: one does not.
    """
    if not services.runs_database:
        try:
            psycopg.connect(services.database_url, connect_timeout=5).close()
        except psycopg.Error as problem:
            reason = str(problem).strip().splitlines()[0]
            raise ServiceError(
                f"The database does not answer: start it, or correct DATABASE_URL ({reason})."
            ) from None
    if not services.runs_broker:
        url = services.redis_url.replace("redis+socket", "unix", 1)
        try:
            with redis.Redis.from_url(url, socket_timeout=5, retry=Retry(NoBackoff(), 0)) as client:
                client.ping()
        except (redis.RedisError, ValueError) as problem:
            raise ServiceError(
                f"The broker does not answer: start it, or correct REDIS_URL ({problem})."
            ) from None


def start_services(services: Services) -> None:
    """Start what is ours and does not answer; quick when all is well."""
    with _locked(services.data_dir / "run" / "start.lock"):
        if services.runs_broker:
            start_valkey(services)
        if services.runs_database:
            start_postgres(services)


def are_running(services: Services) -> bool:
    """Whether the processes of what is ours live; quick, since it asks them nothing."""
    files = {
        services.postgres_folder / "postmaster.pid": services.runs_database,
        services.data_dir / "valkey" / "pid": services.runs_broker,
    }
    return all(is_alive(path) for path, is_ours in files.items() if is_ours)


def stop_services(services: Services) -> None:
    """Stop the embedded servers, whoever started them."""
    if services.runs_database:
        stop_postgres(services)
    if services.runs_broker:
        with contextlib.suppress(redis.ConnectionError, redis.TimeoutError):
            client_of(services).shutdown()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
