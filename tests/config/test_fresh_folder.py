"""Any command makes a fresh data folder ready, as the server does."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection

from config.running.tables import needs_tables
from tests.catalog.import_process import process
from tests.pictures import jpeg, write_folder

pytestmark = pytest.mark.django_db


@pytest.fixture
def fresh() -> Iterator[str]:
    """The address of an empty database."""
    database = connection.settings_dict
    host = quote(database["OPTIONS"].get("host") or database["HOST"], safe="")
    name = f"fresh_{uuid.uuid4().hex[:8]}"

    def address(of: str) -> str:
        return f"postgresql://{database['USER']}@/{of}?host={host}"

    with psycopg.connect(address("postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name}")
        yield address(name)
        admin.execute(f"drop database {name} with (force)")


def test_an_import_into_a_fresh_folder_makes_its_tables(tmp_path: Path, fresh: str):
    folder = write_folder(tmp_path / "photos", {"a.jpg": jpeg(1)})
    with ThreadPoolExecutor(2) as threads:  # two commands that start together
        started = [
            threads.submit(
                lambda slug: process(
                    tmp_path / "data", slug, folder, DATABASE_URL=fresh
                ).communicate(timeout=300),
                slug,
            )
            for slug in ("shoes", "hats")
        ]
        results = [one.result() for one in started]
    for out, err in results:
        assert "Traceback" not in err, err
        assert out, err
        assert json.loads(out)["images"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["manage.py", "import_catalog", "shoes", "photos"], True),
        (["manage.py", "create_admin"], True),
        (["manage.py", "import_catalog", "--help"], False),
        (["manage.py", "migrate"], False),
        (["manage.py", "nonsense"], False),
        (["manage.py"], False),
    ],
)
def test_only_commands_that_need_tables_wait_for_them(arguments: list[str], expected: bool):
    assert needs_tables(arguments) == expected
