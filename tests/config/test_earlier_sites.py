"""Data folders that earlier versions made: their rows, and the PostgreSQL they were made with.

tests/golden/sites/0.1.0.sql.gz is what pg_dump wrote of a site of the version 0.1.0: a judged
pool of thirty images, 186 judgements and an admin, on PostgreSQL 16.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import embedded
from config.running import postgres, postgres_programs
from config.running.older_postgres import passing_server
from config.running.postgres_account import as_postgres
from tests.paths import ROOT

OLD_MAJOR = 16
DUMP = ROOT / "tests" / "golden" / "sites" / "0.1.0.sql.gz"
START = """
import json, django
from config import embedded, settings
embedded.hold_services(settings.SERVICES)
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.db import connection
from django.test import Client
from accounts.models import User
from annotation.models import Judgement, JudgementEvent
from catalog.models import Image
client = Client()
signed_in = client.login(username="admin", password="a quiet green meadow")
print(json.dumps({
    "server": connection.pg_version // 10000,
    "rows": [Image.objects.count(), Judgement.objects.count(), JudgementEvent.objects.count()],
    "signed_in": signed_in,
    "pages": [client.get(path).status_code for path in ("/catalogs/", "/campaigns/")],
}))
"""


def services_of(folder: Path) -> embedded.Services:
    return embedded.service_urls(folder, database_url=None, redis_url="redis://127.0.0.1:1/0")


@pytest.fixture
def old_site(tmp_path: Path) -> Path:
    """A data folder with a PostgreSQL of an older major version, which was stopped."""
    services = services_of(tmp_path / "var")
    (services.data_dir / "run").mkdir(parents=True)
    old = postgres_programs.folder_with(["initdb", "pg_ctl"], OLD_MAJOR)
    data, sockets = services.postgres_folder, services.postgres_sockets
    postgres.prepare_folders(services)
    initdb = [str(old / "initdb"), "-N", "-D", str(data), "-U", "postgres", "--auth=trust"]
    assert as_postgres([*initdb, "--encoding=UTF8"]).returncode == 0
    at = ["-h", str(sockets), "-p", "5433", "-U", "postgres"]
    with passing_server(old, data, sockets, port=5433):
        subprocess.run([str(old / "createdb"), *at, "lookalike"], check=True)
        rows = gzip.decompress(DUMP.read_bytes())
        psql = [
            str(old / "psql"),
            *at,
            "-q",
            "-o",
            "/dev/null",
            "-v",
            "ON_ERROR_STOP=1",
            "lookalike",
        ]
        subprocess.run(psql, input=rows, check=True)
    return services.data_dir


def start(folder: Path) -> subprocess.CompletedProcess[str]:
    """Start on the folder as the site does, sign in and read two pages."""
    environment = {**os.environ, "LOOKALIKE_DATA": str(folder), "ALLOWED_HOSTS": "testserver"}
    return subprocess.run(
        [sys.executable, "-c", START],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_site_of_the_version_before_on_an_older_postgresql_goes_on(old_site: Path) -> None:
    started = start(old_site)
    assert started.returncode == 0, started.stderr
    found = json.loads(started.stdout.splitlines()[-1])
    assert found == {
        "server": postgres_programs.EMBEDDED_MAJOR,
        "rows": [30, 186, 186],
        "signed_in": True,
        "pages": [200, 200],
    }
    assert (old_site / "postgres-16" / "PG_VERSION").read_text() == "16\n"
    assert not (old_site / "postgres-new").exists()
    # killed between the two renames: the next start ends what was begun
    (old_site / "postgres").rename(old_site / "postgres-new")
    assert json.loads(start(old_site).stdout.splitlines()[-1]) == found


@pytest.mark.parametrize(
    ("major", "words"), [(11, r"Install it .*postgresql-11.* or back up"), (99, "newer version")]
)
def test_a_folder_that_cannot_be_moved_is_left_and_explained(
    major: int, words: str, tmp_path: Path
) -> None:
    services = services_of(tmp_path / "var")
    data = services.data_dir / "postgres"
    data.mkdir(parents=True)
    (services.data_dir / "run").mkdir()
    (data / "PG_VERSION").write_text(f"{major}\n")
    with pytest.raises(embedded.ServiceError, match=words):
        embedded.start_services(services)
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]
