"""The PostgreSQL of a data folder."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

import psycopg

from config.running.older_postgres import FIND_DATABASE, bring_up_to_date
from config.running.postgres_account import as_postgres, give_to_account, make_cluster, program
from config.running.services import (
    DATABASE_NAME,
    START_SECONDS,
    ServiceError,
    Services,
    is_alive,
)


def start_postgres(services: Services) -> None:
    """Start it where it does not answer, and wait until the site's database is there."""
    with contextlib.suppress(psycopg.OperationalError):
        _create_database(services)
        return
    prepare_folders(services)
    _drop_stale_pid(services)
    bring_up_to_date(services)
    make_cluster(services.postgres_folder)
    log = services.postgres_folder / "server.log"
    memory = "-c shared_buffers=256MB -c wal_buffers=32MB"  # room for the log of an import
    options = f"-k {services.postgres_sockets} -h '' -N 200 {memory}"
    if sys.platform == "linux":  # after a crash it syncs each of a thousand files one by one else
        options += " -c recovery_init_sync_method=syncfs"
    deadline = time.monotonic() + START_SECONDS
    while True:
        if not is_alive(services.postgres_folder / "postmaster.pid"):  # nor recovers
            _drop_stale_pid(services)
            as_postgres(
                [
                    *(program("pg_ctl"), "-D", str(services.postgres_folder), "-l", str(log)),
                    *("-o", options, "-w", "-t", "60", "start"),
                ],
                log=log,
            )
        try:
            _create_database(services)
        except psycopg.OperationalError as problem:  # children of a killed server still leaving
            if time.monotonic() > deadline:
                raise ServiceError(f"PostgreSQL did not start; see {log}") from problem
            time.sleep(0.1)
        else:
            return


def stop_postgres(services: Services) -> None:
    """Stop it, whoever started it."""
    if not (services.postgres_folder / "postmaster.pid").exists():
        return
    stopped = as_postgres(
        [program("pg_ctl"), "-D", str(services.postgres_folder), "-m", "fast", "-w", "stop"]
    )
    if stopped.returncode != 0:
        raise ServiceError(f"PostgreSQL did not stop: {stopped.stdout}")


def prepare_folders(services: Services) -> None:
    """Make the folders that it works in."""
    for folder in (services.postgres_folder, services.postgres_sockets):
        give_to_account(folder)


def _drop_stale_pid(services: Services) -> None:
    """Remove a pid file that is empty (the disk was full), or names another program's process."""
    path = services.postgres_folder / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError, ValueError):
        lines = path.read_text().splitlines()
        if not lines:
            path.unlink()
            return
        pid = int(lines[0])
        command = Path(f"/proc/{pid}/cmdline")
        if Path("/proc/self").exists() and (
            not command.exists()
            or os.fsencode(services.postgres_folder) not in command.read_bytes()
        ):
            path.unlink()


def _create_database(services: Services) -> None:
    with psycopg.connect(
        host=str(services.postgres_sockets),
        user="postgres",
        dbname="postgres",
        autocommit=True,
        connect_timeout=5,
    ) as connection:
        found = connection.execute(FIND_DATABASE, [DATABASE_NAME]).fetchone()
        if found is None:
            connection.execute(f"create database {DATABASE_NAME}")
