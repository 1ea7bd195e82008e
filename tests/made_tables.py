"""A PostgreSQL whose tables are made: once in a checkout, copied from then on.

The migrations take ten seconds of a processor, and each process of a test run and each whole site
needs the same tables. `Site(..., is_new=True)` makes its own, as every other new site does.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

MADE = ROOT / "var" / "tables"
MARK = "tables-"  # begins the name of a file in the folder of a database
DATABASE = "tables"  # beside the site's own: nothing is ever written to it
MAKE = f"""
import django, psycopg
django.setup()
from django.core.management import call_command
from django.db import connection
from config import embedded, settings
embedded.hold_services(settings.SERVICES)
call_command("migrate", verbosity=0)
connection.close()
url = settings.SERVICES.database_url.replace("/lookalike?", "/postgres?")
with psycopg.connect(url, autocommit=True) as server:
    server.execute("create database {DATABASE} template lookalike")
    # what a power cut takes need not be kept, and a commit waits for the disk no more
    server.execute("alter system set fsync = off")
"""


def copy_tables(data_dir: Path) -> None:
    """Give a data folder without a database one that has all tables and no rows."""
    state = _state()
    MADE.parent.mkdir(exist_ok=True)
    with (MADE.parent / "tables.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (MADE / "postgres" / state).exists():
            shutil.rmtree(MADE, ignore_errors=True)
            subprocess.run(
                [sys.executable, "-c", MAKE],
                cwd=ROOT,
                env={
                    **os.environ,
                    "DJANGO_SETTINGS_MODULE": "config.settings",
                    "LOOKALIKE_DATA": str(MADE),
                },
                check=True,
            )
            (MADE / "postgres" / state).touch()
        data_dir.mkdir(parents=True, exist_ok=True)
        part = data_dir / "postgres.part"
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run(["cp", "-a", MADE / "postgres", part], check=True)
        part.rename(data_dir / "postgres")


def are_current(data_dir: Path) -> bool:
    """Whether the tables of a data folder are those of the migrations there are."""
    return (data_dir / "postgres" / _state()).exists()


def are_ours(data_dir: Path) -> bool:
    """Whether a data folder has no database yet, or one that was copied here, now or before."""
    folder = data_dir / "postgres"
    return not folder.exists() or any(folder.glob(f"{MARK}*"))


def _state() -> str:
    digest = hashlib.sha256((ROOT / "requirements.txt").read_bytes())
    for path in sorted(ROOT.glob("*/migrations/*.py")):
        digest.update(path.read_bytes())
    return MARK + digest.hexdigest()[:12]
