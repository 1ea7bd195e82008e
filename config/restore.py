"""Bring back a site from a backup: `python -m config.restore FILE [--force]`.

Everything is checked before anything is touched. Files are laid out beside the old ones, the
database is filled in one transaction, and only when it is about to be committed do the new files
take the place of the old. Until then a failure leaves the site as it was.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import psycopg
import redis

from config import embedded, settings
from config.backup import KEPT, address_of, count_rows, password_of, server_major, summary
from config.backup_file import (
    BROKEN,
    CHUNK,
    DUMP,
    BackupError,
    Manifest,
    copy_hashed,
    verify,
)
from config.running.postgres_programs import MissingProgramError, embedded_folder, folder_with

RESTORING = "restoring"  # where files are laid out
RESTORED = "restored"  # the same folder once the new database is being committed
REPLACED = "replaced"  # where the old ones wait until all is well
MADE_BY_SETUP = ("django_", "auth_permission")  # tables with rows on an empty site, or beginnings
EMPTY_SCHEMA = """begin;
drop schema if exists public cascade;
create schema public authorization pg_database_owner;
grant usage on schema public to public;
"""
READY = "lookalike: ready"


def restore(path: Path, services: embedded.Services, *, force: bool = False) -> Manifest:
    """Put a backup in the place of what is there.

    Raises:
        BackupError: the file is not sound, the site runs or holds something; nothing was changed.
        MissingProgramError: a program of PostgreSQL is missing; nothing was changed.
        OSError: the disk is full; nothing was changed.
    """
    data = services.data_dir
    manifest = verify(path)
    _check_place(manifest, services, force=force)
    programs = _programs(manifest, services)
    shutil.rmtree(data / RESTORING, ignore_errors=True)
    try:
        _lay_out(path, manifest, data / RESTORING)
        _fill_database(data, programs, services)
    except BaseException:
        shutil.rmtree(data / RESTORING, ignore_errors=True)
        raise
    _take_place(data)
    with psycopg.connect(services.database_url) as connection:
        counts = count_rows(connection)
    if counts != manifest.counts:
        wrong = sorted(name for name, _ in counts.items() ^ manifest.counts.items())
        raise BackupError(f"Restored, but with other numbers of rows in {', '.join(set(wrong))}.")
    with suppress(redis.RedisError):  # what it remembers is of another site
        redis.Redis.from_url(services.redis_url.replace("redis+socket", "unix")).flushdb()
    return manifest


def check_stopped(services: embedded.Services) -> None:
    """Refuse while another process uses the embedded servers; call before holding them.

    Raises:
        BackupError: one does.
    """
    lock = services.data_dir / "run" / "users.lock"
    if not lock.exists():
        return
    with lock.open("r") as users:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(_RUNS) from None


_RUNS = "The site is running. Stop its server and all workers, then restore."


def _check_place(manifest: Manifest, services: embedded.Services, *, force: bool) -> None:
    with psycopg.connect(services.database_url) as connection:
        connection.autocommit = True  # each look sees anew who is there
        for _ in range(20):
            others = connection.execute(
                "select count(*) from pg_stat_activity where datname = current_database() "
                "and backend_type = 'client backend' and pid <> pg_backend_pid()"
            ).fetchone()
            if others == (0,):
                break
            time.sleep(0.1)  # who has just hung up is there for a moment
        else:
            raise BackupError(_RUNS)
        counts = count_rows(connection)
    major = server_major(services)
    if major < manifest.server:
        raise BackupError(
            f"The backup was made from PostgreSQL {manifest.server}; this server is PostgreSQL "
            f"{major}. Restore into {manifest.server} or newer."
        )
    if manifest.bucket != settings.OBJECT_STORAGE.get("S3_BUCKET", "") and manifest.bucket:
        raise BackupError(
            f"The pictures of this backup lie in the bucket {manifest.bucket}: set S3_BUCKET and "
            "the variables beside it first."
        )
    has_rows = any(n for name, n in counts.items() if not name.startswith(MADE_BY_SETUP))
    has_files = any(
        (services.data_dir / name).is_dir() and any((services.data_dir / name).iterdir())
        for name in KEPT
    )
    if (has_rows or has_files or (services.data_dir / RESTORED).exists()) and not force:
        raise BackupError(
            f"There is a site in this database and in {services.data_dir}. Restore into an empty "
            "one, or add --force to replace what is there."
        )


def _programs(manifest: Manifest, services: embedded.Services) -> Path:
    if services.runs_database:
        return embedded_folder()
    needed = max(manifest.server, server_major(services))
    return folder_with(["pg_restore", "psql"], needed, or_newer=True)


def _lay_out(path: Path, manifest: Manifest, folder: Path) -> None:
    """Unpack the files, and check them once more."""
    folder.mkdir(mode=0o700, parents=True)
    with zipfile.ZipFile(path) as archive:
        for name, sha256 in manifest.files.items():
            target = (folder / name.removeprefix("files/")).resolve()
            if not target.is_relative_to(folder.resolve()):
                raise BackupError(f"{path} is no backup: it has a file {name}.")
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with archive.open(name) as source, os.fdopen(handle, "wb") as file:
                    is_sound = copy_hashed(source, file) == sha256
            except BROKEN as problem:
                raise BackupError(f"{path} changed while it was read: {problem}") from problem
            if not is_sound:
                raise BackupError(f"{path} changed while it was read, at {name}.")


def _fill_database(data: Path, programs: Path, services: embedded.Services) -> None:
    """Replace what the database holds, and let the new files count when that is certain."""
    done = False
    read = [str(programs / "pg_restore"), "--no-owner", "--no-privileges", "--file=-"]
    write = [str(programs / "psql"), "--no-psqlrc", "--quiet", "--output=/dev/null"]
    with tempfile.TemporaryFile() as errors:
        with (
            suppress(BrokenPipeError),  # psql has stopped at an error and says so itself
            subprocess.Popen(
                [*read, data / RESTORING / DUMP], stdout=subprocess.PIPE, stderr=errors
            ) as reading,
            subprocess.Popen(
                [*write, "--set=ON_ERROR_STOP=1", "--dbname", address_of(services)],
                env=password_of(services),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as writing,
        ):
            done = _transfer(reading, writing, data)
        if not done:
            if (data / RESTORED).exists():
                (data / RESTORED).rename(data / RESTORING)
            errors.seek(0)
            raise BackupError(f"The database was not restored: {errors.read().decode().strip()}")


def _transfer(
    reading: subprocess.Popen[bytes], writing: subprocess.Popen[bytes], data: Path
) -> bool:
    """Feed the dump to psql in one transaction; whether that was committed."""
    script, reply = _pipe(writing.stdin), _pipe(writing.stdout)
    script.write(EMPTY_SCHEMA.encode())
    shutil.copyfileobj(_pipe(reading.stdout), script, CHUNK)
    if reading.wait() != 0:
        return False
    script.write(f"\\echo {READY}\n".encode())
    script.flush()
    if reply.readline().decode().strip() != READY:
        return False
    (data / RESTORING / DUMP).unlink()
    shutil.rmtree(data / RESTORED, ignore_errors=True)  # of a restore that was cut short
    (data / RESTORING).rename(data / RESTORED)
    script.write(b"commit;\n")
    script.close()
    return writing.wait() == 0


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101  (a pipe was asked for)
    return stream


def _take_place(data: Path) -> None:
    """Put the new files where the old ones are."""
    replaced = data / REPLACED
    shutil.rmtree(replaced, ignore_errors=True)
    replaced.mkdir()
    for name in KEPT:
        with suppress(FileNotFoundError):
            (data / name).rename(replaced / name)
        with suppress(FileNotFoundError):
            (data / RESTORED / name).rename(data / name)
    shutil.rmtree(data / RESTORED)
    shutil.rmtree(replaced)


def _manage(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=settings.BASE_DIR, text=True, check=False, **options)


def drill(path: Path) -> int:
    """Restore a backup into a folder of its own, with all checks, and delete it again.

    The site may go on working: the drill has a database and a broker of its own.

    Returns:
        The exit status of the restore.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lookalike-drill-") as folder:
        others = {"DATABASE_URL", "REDIS_URL", "LOOKALIKE_DATA"}
        given = {name: value for name, value in os.environ.items() if name not in others}
        done = subprocess.run(
            [sys.executable, "-m", "config.restore", str(path)],
            cwd=settings.BASE_DIR,
            env=given | {"LOOKALIKE_DATA": folder},
            check=False,
        )
    seconds = time.monotonic() - started
    verdict = "passed" if done.returncode == 0 else "FAILED"
    sys.stdout.write(f"Drill {verdict} in {seconds:.0f} s; the restored site is deleted.\n")
    return done.returncode


def main() -> int:
    """Restore a backup; return the exit status."""
    parser = argparse.ArgumentParser(prog="script/restore", description="Restore a site.")
    parser.add_argument("file", type=Path, help="what script/backup wrote")
    parser.add_argument("--force", action="store_true", help="replace a site that holds something")
    parser.add_argument(
        "--drill", action="store_true", help="restore into a folder of its own, check, delete it"
    )
    options = parser.parse_args()
    os.umask(0o077)
    if options.drill:
        return drill(options.file.absolute())
    try:
        check_stopped(settings.SERVICES)
        embedded.hold_services(settings.SERVICES)
        manifest = restore(options.file.absolute(), settings.SERVICES, force=options.force)
    except (BackupError, MissingProgramError, embedded.ServiceError, OSError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    except psycopg.Error as problem:
        sys.stderr.write(f"The database does not answer as it should: {problem}\n")
        return 1
    sys.stdout.write(f"Restored, with as many rows as then. {summary(manifest)}\n")
    if "files/secret-key" not in manifest.files:
        sys.stdout.write("Its SECRET_KEY was set by a variable: set the same one again.\n")
    if _manage("migrate", "--verbosity", "0").returncode != 0:
        return 1
    if "check_storage" in _manage("help", "--commands", capture_output=True).stdout.split():
        return _manage("check_storage").returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
