"""Back up a site to one file: `python -m config.backup FILE`; `--verify FILE` checks one.

The site may go on working. Files of the data folder are named by their content and never change,
so most are copied first, at leisure. Then a snapshot of the database is taken while nobody may
delete the rows that name files; what came since the first pass is copied before they may again;
and the snapshot is dumped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config import embedded, settings
from config.backup_file import (
    DUMP,
    MANIFEST,
    BackupError,
    Manifest,
    copy_hashed,
    verify,
)
from config.running.postgres_programs import MissingProgramError, embedded_folder, folder_with
from lookalike import __version__

# of the data folder; what is not named here is made anew where it is missing
KEPT = (
    *("blobs", "embeddings", "projections", "runs", "results", "sources", "releases"),
    *("demo", "uploads", "demo-logins.json", "secret-key"),
)
CHANGING = ("uploads",)  # files that grow under their name, and soon go
LEFT_OUT = ("embeddings/merged", "releases/.building")
WRITING = (".writing-", ".arriving-")  # beginnings of names of unfinished files
# whose rows name files; a file goes only after its row
NAMING_FILES = (
    *("catalog_image", "catalog_embeddingshard", "evaluation_run", "evaluation_result"),
    *("catalog_projection", "learning_textspace", "pooling_poolsource", "releases_release"),
)
LOCK_SECONDS = 120
_TABLES = (
    "select relname from pg_class where relnamespace = 'public'::regnamespace "
    "and relkind in ('r', 'p') order by 1"
)


def back_up(target: Path, services: embedded.Services) -> Manifest:
    """Write a backup; `target` is a whole one or is left as it was.

    Raises:
        BackupError: it cannot be made.
        MissingProgramError: there is no pg_dump for this database.
        OSError: the disk is full, or a folder may not be read or written.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")  # 0600
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            with zipfile.ZipFile(file, "w", strict_timestamps=False) as archive:
                manifest = _write(archive, services)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except psycopg.Error as problem:
        raise BackupError(f"The database does not answer as it should: {problem}") from problem
    finally:
        temporary.unlink(missing_ok=True)
    return manifest


def _write(archive: zipfile.ZipFile, services: embedded.Services) -> Manifest:
    data, seen, hashes = services.data_dir, dict[str, tuple[int, int, int]](), dict[str, str]()
    folder = (
        embedded_folder()
        if services.runs_database
        else folder_with(["pg_dump"], server_major(services), or_newer=True)
    )
    _copy_new(archive, data, [name for name in KEPT if name not in CHANGING], seen, hashes)
    with psycopg.connect(services.database_url) as view:
        view.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        view.read_only = True
        with _files_stay(services):
            snapshot = view.execute("select pg_export_snapshot()").fetchone()
            made_at = datetime.now(UTC).isoformat(timespec="seconds")
            _copy_new(archive, data, list(KEPT), seen, hashes)
        hashes[DUMP] = _dump(archive, folder / "pg_dump", services, str(snapshot and snapshot[0]))
        manifest = Manifest(
            version=__version__,
            made_at=made_at,
            server=view.info.server_version // 10_000,
            bucket=settings.OBJECT_STORAGE.get("S3_BUCKET", ""),
            counts=count_rows(view),
            files=hashes,
        )
    archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
    return manifest


@contextmanager
def _files_stay(services: embedded.Services) -> Iterator[None]:
    """Keep rows that name files from being written or deleted; judges write none of them.

    The locks are taken all at once or not at all, so that nobody ever waits for us in a circle.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    with psycopg.connect(services.database_url) as connection:
        here = {name for (name,) in connection.execute(_TABLES)}
        tables = sql.SQL(", ").join(sql.Identifier(name) for name in NAMING_FILES if name in here)
        if not here:
            raise BackupError("The database holds no site; run manage.py migrate first.")
        while True:
            try:
                connection.execute(sql.SQL("lock table {} in share mode nowait").format(tables))
                break
            except psycopg.errors.LockNotAvailable:
                connection.rollback()
                if time.monotonic() > deadline:
                    raise BackupError(
                        "An import or an embedding writes all the time; try again when it is done."
                    ) from None
                time.sleep(0.1)
        yield
        connection.rollback()


def _copy_new(
    archive: zipfile.ZipFile,
    data: Path,
    names: list[str],
    seen: dict[str, tuple[int, int, int]],
    hashes: dict[str, str],
) -> None:
    """Copy the files that are not in the archive yet, or are others by now."""
    for path in _files_below(data, names):
        name = f"files/{path.relative_to(data).as_posix()}"
        try:
            stat = path.stat()
            same = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if seen.get(name) == same:
                continue
            with path.open("rb") as source:
                hashes[name] = _add(archive, zipfile.ZipInfo.from_file(path, name), source)
            seen[name] = same
        except FileNotFoundError:  # it belonged to no row any more
            continue


def _files_below(data: Path, names: list[str]) -> Iterator[Path]:
    left_out = {data / name for name in LEFT_OUT}
    for name in names:
        if (data / name).is_file():
            yield data / name
        for folder, folders, files in os.walk(data / name):
            here = Path(folder)
            folders[:] = sorted(inner for inner in folders if here / inner not in left_out)
            yield from (here / file for file in sorted(files) if not file.startswith(WRITING))


def _add(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: IO[bytes]) -> str:
    """Store a stream; return its SHA-256. A name that is stored again stands for the later one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")
        target = archive.open(info, "w", force_zip64=True)
    with target:
        return copy_hashed(source, target)


def _dump(
    archive: zipfile.ZipFile, program: Path, services: embedded.Services, snapshot: str
) -> str:
    options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}"]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [program, *options, "--dbname", address_of(services)],
            env=password_of(services),
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as dumping,
    ):
        assert dumping.stdout is not None  # noqa: S101  (a pipe was asked for)
        info = zipfile.ZipInfo(DUMP, time.localtime()[:6])
        info.external_attr = 0o600 << 16
        sha256 = _add(archive, info, dumping.stdout)
        if dumping.wait() != 0:
            errors.seek(0)
            raise BackupError(f"{program} failed: {errors.read().decode().strip()}")
    return sha256


def server_major(services: embedded.Services) -> int:
    """Return the major version of the database's server."""
    with psycopg.connect(services.database_url) as connection:
        return connection.info.server_version // 10_000


def count_rows(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Return how many rows each table has."""
    found = {}
    for (name,) in connection.execute(_TABLES).fetchall():
        row = connection.execute(
            sql.SQL("select count(*) from {}").format(sql.Identifier(name))
        ).fetchone()
        found[name] = int(row[0]) if row else 0
    return found


def address_of(services: embedded.Services) -> str:
    """Return where the database is, without the password: any user may list command lines."""
    parts = conninfo_to_dict(services.database_url)
    parts.pop("password", None)
    return make_conninfo(**parts)  # type: ignore[arg-type]


def password_of(services: embedded.Services) -> dict[str, str]:
    """Return the environment for a program that asks for the password there."""
    password = conninfo_to_dict(services.database_url).get("password")
    return {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}


def summary(manifest: Manifest) -> str:
    """Return a line about a backup for a person."""
    judgements = manifest.counts.get("annotation_judgement", 0)
    return (
        f"Lookalike {manifest.version}, {manifest.made_at}: {sum(manifest.counts.values()):,} rows "
        f"in {len(manifest.counts)} tables, {judgements:,} of them judgements; "
        f"{len(manifest.files) - 1:,} files."
    )


def main() -> int:
    """Back up, or check a backup; return the exit status."""
    parser = argparse.ArgumentParser(prog="script/backup", description="Back up a site.")
    parser.add_argument("file", type=Path, help="the backup, e.g. lookalike.backup")
    parser.add_argument("--verify", action="store_true", help="check this backup, change nothing")
    options = parser.parse_args()
    path = options.file.absolute()
    try:
        if options.verify:
            sys.stdout.write(f"{path} is whole. {summary(verify(path))}\n")
            return 0
        embedded.hold_services(settings.SERVICES)
        manifest = back_up(path, settings.SERVICES)
    except (BackupError, MissingProgramError, embedded.ServiceError, OSError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    sys.stdout.write(f"{path}: {summary(manifest)}\n")
    if "files/secret-key" in manifest.files:
        sys.stdout.write("It holds the site's secret key: keep it where nobody else reads it.\n")
    else:
        sys.stdout.write("SECRET_KEY is not in it; keep that apart and set it again.\n")
    if manifest.bucket:
        sys.stdout.write(f"The pictures in the bucket {manifest.bucket} are not in it.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
