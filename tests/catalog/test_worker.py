"""An import by a worker of a whole site survives the worker's death."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config import embedded
from tests.pictures import jpeg, write_folder
from tests.site import Site
from tests.waiting import wait_until

N_IMAGES = 300
QUEUE = """
from pathlib import Path
from accounts.models import User
from catalog.importing.origins import Origin
from catalog.services import create_catalog, start_import
owner, _ = User.objects.get_or_create(username="ada", defaults={{"role": "admin"}})
origin = Origin(path={folder!r}, metadata_path={sheet!r}, source_name="p", is_restricted=False)
start_import(catalog=create_catalog(slug={slug!r}, name="C"), origin=origin, owner=owner)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site whose light workers have every process replaced after each job, for its memory."""
    monkeypatch.setenv("LIGHT_MEMORY_MIB", "1")
    site = Site(tmp_path / "var")
    site.start()
    yield site
    site.end()


@pytest.mark.faults
def test_a_worker_killed_in_mid_import_is_replaced_and_the_result_is_the_same(
    site: Site, tmp_path: Path
):
    files = {f"{i:03}.jpg": jpeg(i, (900, 600)) for i in range(N_IMAGES - 1)}
    folder = write_folder(tmp_path / "p", {**files, "bad.jpg": b""})
    sheet = tmp_path / "m.csv"
    rows = "".join(f"{i:03}.jpg,P{i // 3}\n" for i in range(N_IMAGES + 2))
    sheet.write_text("path,product_id\n" + rows)

    def queue(slug: str) -> None:
        site.run(QUEUE.format(folder=str(folder), sheet=str(sheet), slug=slug))

    queue("shaken")
    wait_until(lambda: asked(site, "select count(*) from catalog_image")[0][0] >= 32)
    victims = site.processes("queues light")
    assert victims
    for victim in victims:
        victim.kill()
    assert asked(site, "select count(*) from catalog_image")[0][0] < N_IMAGES - 1
    wait_until(lambda: asked(site, "select state from jobs_job") == [("succeeded",)])
    assert asked(site, "select n_attempts from jobs_job") == [(2,)]
    before = {process.pid for process in site.processes("queues light")}
    queue("calm")
    wait_until(lambda: asked(site, "select state from jobs_job") == [("succeeded",)] * 2)
    wait_until(lambda: bool({p.pid for p in site.processes("queues light")} - before))
    attempts = asked(site, "select n_attempts from jobs_job order by id")
    assert attempts == [(2,), (1,)]  # a process is replaced after its job, never in it

    assert state_of(site, "shaken") == state_of(site, "calm")
    first, second = asked(site, "select result::text from jobs_job order by id")
    assert json.loads(first[0]) == json.loads(second[0])
    assert json.loads(first[0])["images"] == N_IMAGES - 1
    for path in (site.data_dir / "blobs" / "original").rglob("??/[0-9a-f]*"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name


def asked(site: Site, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of the site's own database."""
    services = embedded.service_urls(site.data_dir, database_url=None, redis_url=None)
    with psycopg.connect(services.database_url) as connection:
        return connection.execute(query, values).fetchall()


def state_of(site: Site, slug: str) -> list[tuple[Any, ...]]:
    return asked(
        site,
        "select f.path, i.sha256, i.product_id, i.attributes::text, i.width, i.perceptual_hash"
        " from catalog_image i join catalog_catalog c on c.id = i.catalog_id"
        " join catalog_sourcefile f on f.image_id = i.id where c.slug = %s order by f.path",
        slug,
    )
