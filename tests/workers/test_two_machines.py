"""Two machines fill one pool: a site with its database and broker, and another one's workers.

Each has a data folder of its own. The pictures are in an object storage, the vectors in a folder
that both have mounted, as docs/scale.md says.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from config import embedded, settings
from config.running.processes import MARK
from tests.object_storage import BUCKET, KEYS, client, object_storage
from tests.site import Site
from tests.waiting import wait_until
from tests.workers.conftest import asked
from tests.workers.pools import (
    ends_like_the_calm_one,
    fill,
    has_ended,
    holders,
    let_all_load,
    living,
)

pytestmark = pytest.mark.faults
N_IMAGES = int(os.environ.get("TWO_MACHINES_PHOTOS", "560"))  # three shards
SPECS = ("descriptor:hog-shape",)
PHOTOS = """
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from catalog.images.blobs import blob_name
from tests.catalogs import add_row
from tests.pictures import jpeg
from catalog.models import Catalog
catalog = Catalog.objects.create(slug="calm", name="Calm")
for number in range({n}):
    content = jpeg(number, (90, 60))
    image = add_row(catalog, number, content)
    default_storage.save(blob_name(image.sha256, "original"), ContentFile(content))
"""


@pytest.fixture(scope="module")
def storage() -> Iterator[str]:
    with object_storage() as url:
        yield url


@pytest.fixture(scope="module")
def first(storage: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The machine that has the database, the broker and a worker; a pool filled in peace."""
    site = Site(tmp_path_factory.mktemp("first") / "var")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_KEY", "the same one on both machines, as docs/deployment.md says")
        given = {"S3_BUCKET": BUCKET, "S3_ENDPOINT_URL": storage, **KEYS}
        for name, value in given.items():
            patch.setenv(name, value)
        try:
            site.start()
            site.run(PHOTOS.format(n=N_IMAGES))
            fill(site, "calm", SPECS)
            wait_until(lambda: has_ended(site, "calm"))
            yield site
        finally:
            site.end()


@pytest.fixture(scope="module")
def second(first: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a machine that has a worker alone."""
    data_dir = tmp_path_factory.mktemp("second") / "var"
    data_dir.mkdir()
    (data_dir / "embeddings").symlink_to(first.data_dir / "embeddings")  # as if mounted
    services = embedded.service_urls(first.data_dir, database_url=None, redis_url=None)
    process = subprocess.Popen(
        [sys.executable, "-m", "config.worker", "--device", "cpu", "--label", "second"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "LOOKALIKE_DATA": str(data_dir),
             "DATABASE_URL": services.database_url, "REDIS_URL": services.redis_url},
    )  # fmt: skip
    wait_until(lambda: len(living(first)) == 2)
    let_all_load(first)
    yield data_dir
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)


def test_two_machines_fill_one_pool_together_and_one_of_them_may_be_lost(
    first: Site, second: Path, storage: str
) -> None:
    n_shards = -(-N_IMAGES // 256)
    fill(first, "shared", SPECS)
    wait_until(lambda: len(holders(first)) == 2 or has_ended(first, "shared"))
    assert not has_ended(first, "shared")
    ends_like_the_calm_one(first, "shared", SPECS, n_shards)
    last = "select n_done from jobs_job where title like %s order by id desc limit 1"
    [(n_helped,)] = asked(first, last, "%: help by%")
    assert 0 < n_helped < N_IMAGES
    for data_dir in (first.data_dir, second):
        assert not (data_dir / "blobs").exists()  # no picture lies on a machine
    kept = client(storage).get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    assert sum(len(page["Contents"]) for page in kept) == N_IMAGES
    assert not (second / "postgres").exists()

    fill(first, "lost", SPECS)
    wait_until(lambda: len(holders(first)) == 2 or has_ended(first, "lost"))
    assert not has_ended(first, "lost")
    victims = [process for process in psutil.process_iter() if is_of(process, second)]
    assert victims
    for victim in victims:
        victim.kill()
    assert not has_ended(first, "lost")
    ends_like_the_calm_one(first, "lost", SPECS, n_shards)


def is_of(process: psutil.Process, data_dir: Path) -> bool:
    """Whether a process works in a data folder, and is not the one that tests it."""
    try:
        environment = process.environ()
    except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    return environment.get(MARK, "").startswith(f"{data_dir} ")
