"""Where the database and the broker are, and what is said of one that does not work."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil

from config.env import StartError

DATABASE_NAME = "lookalike"
START_SECONDS = 90
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

    @property
    def postgres_folder(self) -> Path:
        """Where our PostgreSQL keeps its data."""
        return self.data_dir / "postgres"

    @property
    def postgres_sockets(self) -> Path:
        """The folder of our PostgreSQL's socket."""
        return socket_folder(self.data_dir) / "pg"


def service_urls(data_dir: Path, *, database_url: str | None, redis_url: str | None) -> Services:
    """Return the URLs to use; starts nothing."""
    sockets = socket_folder(data_dir)
    postgres = f"postgresql://postgres@/{DATABASE_NAME}?host={quote(str(sockets / 'pg'))}"
    valkey = f"redis+socket://{sockets / 'valkey.sock'}"
    return Services(
        data_dir=data_dir,
        database_url=database_url or postgres,
        redis_url=redis_url or valkey,
        runs_database=database_url is None,
        runs_broker=redis_url is None,
    )


def socket_folder(data_dir: Path) -> Path:
    """Return a folder whose socket paths fit the kernel's limit."""
    near = data_dir / "run"
    if len(os.fsencode(near / "pg" / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
        return near
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"lookalike-{os.getuid()}-{digest}"


def is_alive(pid_file: Path) -> bool:
    """Whether the process lives whose number a file holds."""
    with contextlib.suppress(OSError, ValueError, IndexError, psutil.NoSuchProcess):
        process = psutil.Process(int(pid_file.read_text().split()[0]))
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False
