"""An import by a worker of a whole site survives the worker's death."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.pictures import jpeg, write_folder
from tests.site import Site
from tests.waiting import wait_until
from tests.workers.conftest import asked
from tests.workers.steps import stopped_when

N_IMAGES = 140
QUEUE = """
from pathlib import Path
from accounts.models import User
from catalog.importing.origins import Origin
from catalog.services import create_catalog, start_import
owner, _ = User.objects.get_or_create(username="ada", defaults={{"role": "admin"}})
origin = Origin(path={folder!r}, metadata_path={sheet!r}, source_name="p", is_restricted=False)
start_import(catalog=create_catalog(slug={slug!r}, name={slug!r}), origin=origin, owner=owner)
"""


@pytest.mark.faults
def test_a_worker_killed_in_mid_import_is_replaced_and_the_result_is_the_same(
    site: Site, tmp_path: Path
):
    files = {f"{i:03}.jpg": jpeg(i, (600, 400)) for i in range(N_IMAGES - 1)}
    folder = write_folder(tmp_path / "p", {**files, "bad.jpg": b""})
    sheet = tmp_path / "m.csv"
    rows = "".join(f"{i:03}.jpg,P{i // 3}\n" for i in range(N_IMAGES + 2))
    sheet.write_text("path,product_id\n" + rows)

    def queue(slug: str) -> None:
        site.run(QUEUE.format(folder=str(folder), sheet=str(sheet), slug=slug))

    with stopped_when(
        lambda: n_images(site, "disturbed") >= 32,
        start=lambda: queue("disturbed"),
        workers=lambda: site.processes("queues light"),
    ):
        victims = site.processes("queues light")
        assert victims
        for victim in victims:
            victim.kill()
        assert n_images(site, "disturbed") < N_IMAGES - 1
    wait_until(lambda: imports(site, "state") == [("succeeded",)])
    queue("undisturbed")
    wait_until(lambda: imports(site, "state") == [("succeeded",)] * 2)
    assert imports(site, "n_attempts") == [(2,), (1,)]

    assert state_of(site, "disturbed") == state_of(site, "undisturbed")
    first, second = imports(site, "result::text")
    assert json.loads(first[0]) == json.loads(second[0])
    assert json.loads(first[0])["images"] == N_IMAGES - 1
    for path in (site.data_dir / "blobs" / "original").rglob("??/[0-9a-f]*"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name


def n_images(site: Site, slug: str) -> int:
    counted = (
        "select count(*) from catalog_image i join catalog_catalog c on c.id = i.catalog_id"
        " where c.slug = %s"
    )
    return int(asked(site, counted, slug)[0][0])


def imports(site: Site, column: str) -> list[tuple[Any, ...]]:
    return asked(site, f"select {column} from jobs_job where title like 'Import p %%' order by id")  # noqa: S608


def state_of(site: Site, slug: str) -> list[tuple[Any, ...]]:
    return asked(
        site,
        "select f.path, i.sha256, i.product_id, i.attributes::text, i.width, i.perceptual_hash"
        " from catalog_image i join catalog_catalog c on c.id = i.catalog_id"
        " join catalog_sourcefile f on f.image_id = i.id where c.slug = %s order by f.path",
        slug,
    )
