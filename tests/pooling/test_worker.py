"""A pool filled by the workers of a whole site survives the death of the one that embeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config import embedded
from tests.site import Site, wait_until

N_IMAGES = 1600  # seven shards
PHOTOS = """
from tests.pooling.conftest import catalog_of_photos
for slug in ("calm", "shaken"):
    catalog_of_photos({n}, slug=slug)
"""
FILL = """
from catalog.models import Catalog
from pooling.query_rule import QueryRule
from pooling.pool_requests import PoolRequest
from pooling.services import create_pool, start_pool
pool = create_pool(
    request=PoolRequest(
        name={slug!r}, catalog=Catalog.objects.get(slug={slug!r}), k=6, rule=QueryRule(n=50),
        specs=["descriptor:hog-shape", "descriptor:colour-layout"],
    ),
    created_by=None,
)
start_pool(pool=pool, owner=None)
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "var")
    site.start()
    yield site
    site.end()


@pytest.mark.faults
def test_a_worker_killed_in_mid_embedding_is_replaced_and_the_pool_is_the_same(site: Site):
    site.run(PHOTOS.format(n=N_IMAGES))
    site.run(FILL.format(slug="shaken"))
    wait_until(lambda: count(site, "catalog_embeddingshard") >= 2)
    victims = site.processes("queues device")
    assert victims
    for victim in victims:
        victim.kill()
    assert count(site, "pooling_plannedshard") > 0
    wait_until(lambda: states(site) == ["succeeded"] * 2)
    assert max(row[0] for row in asked(site, "select n_attempts from jobs_job")) == 2
    site.run(FILL.format(slug="calm"))
    wait_until(lambda: states(site) == ["succeeded"] * 4)

    assert everything(site, "shaken") == everything(site, "calm")
    assert count(site, "pooling_plannedshard") == 0
    assert count(site, "pooling_proposal") == 2 * 2 * 50 * 6


def asked(site: Site, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of the site's own database."""
    services = embedded.service_urls(site.data_dir, database_url=None, redis_url=None)
    with psycopg.connect(services.database_url) as connection:
        return connection.execute(query, values).fetchall()


def count(site: Site, table: str) -> int:
    return int(asked(site, f"select count(*) from {table}")[0][0])  # noqa: S608  (our own names)


def states(site: Site) -> list[str]:
    return [row[0] for row in asked(site, "select state from jobs_job order by id")]


def everything(site: Site, slug: str) -> dict[str, Any]:
    """A pool without ids and times: its vectors' hashes, its proposals to the last bit."""
    return {
        "shards": asked(
            site,
            "select e.spec, s.position, s.sha256 from catalog_embeddingshard s"
            " join catalog_embeddingset e on e.id = s.embedding_set_id"
            " join catalog_catalog c on c.id = e.catalog_id"
            " where c.slug = %s and e.is_complete order by 1, 2",
            slug,
        ),
        "proposals": asked(
            site,
            "select s.spec, q.sha256, c.sha256, p.rank, p.score from pooling_proposal p"
            " join pooling_poolsource s on s.id = p.source_id"
            " join pooling_pool o on o.id = p.pool_id"
            " join catalog_image q on q.id = p.query_id"
            " join catalog_image c on c.id = p.candidate_id"
            " where o.slug = %s order by 1, 2, 4",
            slug,
        ),
        "pairs": asked(site, "select stats->'pairs' from pooling_pool where slug = %s", slug),
    }
