"""PostgreSQL's programs run by an account that may run them, on folders that belong to it."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

from config.running.postgres_programs import MissingProgramError, embedded_folder
from config.running.services import ServiceError

ACCOUNT = "pgserver"  # runs PostgreSQL when we are root
ACCOUNT_SECONDS = 10


def program(name: str) -> str:
    """Return the path of a program of our PostgreSQL."""
    try:
        return str(embedded_folder() / name)
    except MissingProgramError as problem:
        raise ServiceError(str(problem)) from problem


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


def as_postgres(command: list[str], *, log: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program; what it prints is in the answer, or in the log where one is given."""
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


def give_to_account(folder: Path) -> None:
    """Make a folder that the account alone can read."""
    folder.mkdir(parents=True, exist_ok=True)
    owner = _owner()
    if owner is not None:
        _let_through(folder)
        _let_through(Path(program("postgres")))
        shutil.chown(folder, owner, owner)
    folder.chmod(0o700)


def _let_through(path: Path) -> None:
    """Let other accounts walk through (not list) the folders above `path`."""
    for parent in path.parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode | 0o001)


def make_cluster(data: Path) -> None:
    """Let initdb fill a folder, unless it has done so before."""
    if (data / "PG_VERSION").exists() and (data / "global" / "pg_control").exists():
        return
    for leftover in data.iterdir():  # an initdb that was killed half-way
        subprocess.run(["rm", "-rf", str(leftover)], check=True)
    done = as_postgres(
        [
            *(program("initdb"), "-D", str(data), "-U", "postgres", "--auth=trust"),
            *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
        ]
    )
    if done.returncode != 0:
        raise ServiceError(f"PostgreSQL could not create {data}: {done.stdout}")
