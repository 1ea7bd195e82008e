"""A database of an older major version of PostgreSQL, moved into one of ours."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg

from config.running.postgres_account import as_postgres, give_to_account, make_cluster, program
from config.running.postgres_programs import (
    EMBEDDED_MAJOR,
    MissingProgramError,
    embedded_folder,
    folder_with,
)
from config.running.services import DATABASE_NAME, ServiceError, Services

FIND_DATABASE = "select 1 from pg_database where datname = %s"


def bring_up_to_date(services: Services) -> None:
    """Move the database of an older PostgreSQL into one of ours, by dump and restore.

    The old folder stays as postgres-MAJOR. May be killed anywhere and called again.
    """
    data, fresh = services.postgres_folder, services.data_dir / "postgres-new"
    if not (data / "PG_VERSION").exists():
        if fresh.exists() and any(services.data_dir.glob("postgres-[0-9]*")):  # all but renamed
            fresh.rename(data)
        return
    major = int((data / "PG_VERSION").read_text())
    if major == EMBEDDED_MAJOR:
        return
    if major > EMBEDDED_MAJOR:
        raise ServiceError(
            f"{data} was made by PostgreSQL {major}, and this is Lookalike with PostgreSQL "
            f"{EMBEDDED_MAJOR}: start the newer version that made it."
        )
    try:
        older = folder_with(["pg_ctl", "postgres"], major)
    except MissingProgramError:
        raise ServiceError(
            f"{data} was made by PostgreSQL {major}, whose server is not on this machine. Install "
            f"it (on Debian: postgresql-{major}) and start again; or back up with the version of "
            "Lookalike that made it (script/backup FILE), move the folder away, and restore "
            "(script/restore FILE)."
        ) from None
    sys.stderr.write(f"Moving the database from PostgreSQL {major} to {EMBEDDED_MAJOR}…\n")
    shutil.rmtree(fresh, ignore_errors=True)
    give_to_account(fresh)
    make_cluster(fresh)
    sockets = services.postgres_sockets
    with (
        passing_server(older, data, sockets, port=5433),
        passing_server(embedded_folder(), fresh, sockets, port=5434),
    ):
        _copy_database(sockets, 5433, 5434)
    data.rename(services.data_dir / f"postgres-{major}")
    fresh.rename(data)
    sys.stderr.write(f"Done. The old one is kept in {services.data_dir}/postgres-{major}.\n")


@contextlib.contextmanager
def passing_server(programs: Path, data: Path, sockets: Path, port: int) -> Iterator[None]:
    """Run a server under a port of its own, so that nobody else finds it."""
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w"]
    log = data / "server.log"
    options = f"-k {sockets} -h '' -p {port}"
    started = as_postgres([*control, "-l", str(log), "-o", options, "start"], log=log)
    if started.returncode != 0:
        raise ServiceError(f"PostgreSQL did not start on {data}; see {log}")
    try:
        yield
    finally:
        as_postgres([*control, "-m", "fast", "stop"])


def _copy_database(sockets: Path, source: int, target: int) -> None:
    """Dump the site's database of one server into another, all of it or an error."""
    create, dump, psql = (program(name) for name in ("createdb", "pg_dump", "psql"))
    with psycopg.connect(host=str(sockets), port=source, user="postgres", dbname="postgres") as old:
        if old.execute(FIND_DATABASE, [DATABASE_NAME]).fetchone() is None:
            return
    at = ["--host", str(sockets), "--username", "postgres"]
    subprocess.run([create, *at, "--port", str(target), DATABASE_NAME], check=True)
    with subprocess.Popen(
        [dump, *at, "--port", str(source), DATABASE_NAME], stdout=subprocess.PIPE
    ) as reading:
        written = subprocess.run(
            [
                *(psql, *at, "--port", str(target), "--dbname", DATABASE_NAME),
                *("--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1"),
            ],
            stdin=reading.stdout,
            check=False,
        )
    if reading.returncode != 0 or written.returncode != 0:
        raise ServiceError("The database could not be moved; the old one is untouched.")
