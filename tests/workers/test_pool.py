"""A pool filled by the workers of a whole site survives whatever happens to the machine.

Each test disturbs the pool of a catalog of its own, which holds the same photos as the calm one,
and finds the same pool to the last bit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import psycopg
import pytest

from catalog.vectors.embeddings import shard_path
from config import settings
from config.running.processes import MARK
from tests.site import Site
from tests.waiting import wait_until
from tests.workers.conftest import asked
from tests.workers.pools import (
    SHARDS,
    SPECS,
    count_shards,
    ends_like_the_calm_one,
    fill,
    has_ended,
    holders,
    jobs,
    let_all_load,
    living,
)
from tests.workers.steps import stopped_when

pytestmark = pytest.mark.faults
N_IMAGES = 800  # four shards
PHOTOS = """
from tests.catalogs import catalog_of_photos
catalog_of_photos({n}, slug="calm")
"""


@pytest.fixture(scope="package", autouse=True)  # as its site: a process may come back here
def calm(site: Site) -> None:
    site.run(PHOTOS.format(n=N_IMAGES))
    fill(site, "calm")
    wait_until(lambda: has_ended(site, "calm"))


@pytest.fixture(scope="package")
def second(site: Site, calm: None) -> Iterator[subprocess.Popen[bytes]]:
    """A second worker, as `script/worker` starts one, on a queue of its own; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "config.worker", "--device", "cpu", "--label", "second"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "LOOKALIKE_DATA": str(site.data_dir)},
    )
    wait_until(lambda: len(living(site)) == 2)
    let_all_load(site)
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    for left in processes_of_second(site):
        left.kill()


def test_a_worker_killed_in_mid_embedding_is_replaced(site: Site):
    with filled_to(site, "killed", n_shards=2):
        victims = site.processes("--queues device")
        assert victims
        for victim in victims:
            victim.kill()
    ends_like_the_calm_one(site, "killed")
    assert max(row[0] for row in jobs(site, "killed", "n_attempts")) == 2


def test_a_broker_killed_in_mid_embedding_loses_no_job(site: Site):
    with filled_to(site, "unheard", n_shards=1, specs=SPECS[:1]):
        kill_service(site, "valkey/pid")
    ends_like_the_calm_one(site, "unheard", SPECS[:1])


def test_a_database_killed_in_mid_embedding_is_waited_for(site: Site):
    with filled_to(site, "forgotten", n_shards=1, specs=SPECS[:1]):
        kill_service(site, "postgres/postmaster.pid")
    wait_until(lambda: is_reachable(site))
    ends_like_the_calm_one(site, "forgotten", SPECS[:1])


def test_a_full_disk_stops_the_work_until_there_is_room(site: Site):
    folder = site.data_dir / "embeddings"
    kept = folder.rename(folder.with_name("embeddings-kept"))
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if mounted.returncode:
        folder.rmdir()
        kept.rename(folder)
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr}")
    try:
        fill(site, "full")
        wait_until(lambda: any("No space left" in row[0] for row in jobs(site, "full", "error")))
        assert not has_ended(site, "full")
        subprocess.run(["mount", "-o", "remount,size=200m", str(folder)], check=True)
        ends_like_the_calm_one(site, "full")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()
        kept.rename(folder)


def test_a_shard_damaged_before_the_search_is_made_again(site: Site):
    for merged in (site.data_dir / "embeddings" / "merged").glob("*.npy"):
        merged.unlink()  # of the calm pool: the same vectors, checked while they were whole
    with filled_to(site, "damaged", n_shards=1, specs=SPECS[:1]):
        sha256 = asked(site, f"{SHARDS} order by s.id limit 1", "damaged")[0][2]
        path = site.data_dir / shard_path(sha256).relative_to(settings.DATA_DIR)
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    ends_like_the_calm_one(site, "damaged", SPECS[:1])
    assert path.read_bytes() == whole


def test_two_workers_on_queues_of_their_own_share_one_pool(
    site: Site, second: subprocess.Popen[bytes]
):
    queues = {row[0] for row in asked(site, "select queue from jobs_worker")}
    assert len(queues) == 2
    fill(site, "shared", SPECS[:1])
    ends_like_the_calm_one(site, "shared", SPECS[:1])
    helped = asked(
        site,
        "select state, n_done, queue from jobs_job where title like %s order by id",
        "descriptor:hog-shape: help by%",
    )[-1]
    assert helped[0] == "succeeded"
    assert 0 < helped[1] < N_IMAGES
    assert helped[2] in queues


@pytest.mark.parametrize("lost", ["first", "second"])
def test_of_two_workers_that_share_a_pool_either_may_be_lost(
    site: Site, second: subprocess.Popen[bytes], lost: str
):
    slug = f"without-{lost}"
    with stopped_when(
        lambda: len(holders(site)) == 2 or has_ended(site, slug),
        start=lambda: fill(site, slug),
        workers=lambda: embedding_processes(site),
    ):
        assert not has_ended(site, slug)
        if lost == "second":
            second.kill()
            victims = processes_of_second(site)
        else:
            victims = site.processes("--queues device")
        assert victims
        for victim in victims:
            victim.kill()
    ends_like_the_calm_one(site, slug)


@contextmanager
def filled_to(
    site: Site, slug: str, *, n_shards: int, specs: tuple[str, ...] = SPECS
) -> Iterator[None]:
    """Fill a pool in short steps until so many shards are stored; within it, workers stand still.

    However fast the machine is, the pool is not whole yet.
    """
    with stopped_when(
        lambda: count_shards(site, slug) >= n_shards,
        start=lambda: fill(site, slug, specs),
        workers=lambda: embedding_processes(site),
    ):
        assert not has_ended(site, slug)
        yield


def embedding_processes(site: Site) -> list[psutil.Process]:
    return [*site.processes("--queues device"), *processes_of_second(site)]


def processes_of_second(site: Site) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK, "")
            if mark.startswith(f"{site.data_dir} ") and process.pid != os.getpid():
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


def kill_service(site: Site, pid_file: str) -> None:
    """Kill the site's own database or broker, with all its processes."""
    server = psutil.Process(int((site.data_dir / pid_file).read_text().splitlines()[0]))
    for process in [server, *server.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # they leave by themselves when one is killed
            process.kill()


def is_reachable(site: Site) -> bool:
    try:
        asked(site, "select 1")
    except psycopg.OperationalError:
        return False
    return True
