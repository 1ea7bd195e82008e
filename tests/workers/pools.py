"""Pools that the workers of a site fill, and all that they have come to."""

from __future__ import annotations

from typing import Any

from tests.site import Site
from tests.waiting import wait_until
from tests.workers.conftest import asked

SPECS = ("descriptor:hog-shape", "descriptor:colour-layout")
FILL = """
from django.db import connection
from catalog.models import Catalog
from lookalike.pooling.query_rule import QueryRule
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool, start_pool
catalog, is_new = Catalog.objects.get_or_create(slug={slug!r}, defaults={{"name": {slug!r}}})
if is_new:
    facts = "sha256, product_id, attributes, width, height, image_format, n_bytes, perceptual_hash"
    with connection.cursor() as cursor:
        cursor.execute(
            f"insert into catalog_image (catalog_id, uid, created_at, {{facts}})"
            f" select %s, gen_random_uuid(), now(), {{facts}} from catalog_image"
            " where catalog_id = (select id from catalog_catalog where slug = 'calm')",
            [catalog.pk],
        )
pool = create_pool(
    request=PoolRequest(
        name={slug!r}, catalog=catalog, k=6, rule=QueryRule(n=50),
        specs={specs!r},
    ),
    created_by=None,
)
start_pool(pool=pool, owner=None)
"""

SHARDS = (
    "select e.spec, s.position, s.sha256 from catalog_embeddingshard s"
    " join catalog_embeddingset e on e.id = s.embedding_set_id"
    " join catalog_catalog c on c.id = e.catalog_id where c.slug = %s"
)


def fill(site: Site, slug: str, specs: tuple[str, ...] = SPECS) -> None:
    site.run(FILL.format(slug=slug, specs=specs))


def ends_like_the_calm_one(
    site: Site, slug: str, specs: tuple[str, ...] = SPECS, n_shards: int = 4
) -> None:
    wait_until(lambda: has_ended(site, slug))
    assert {row[0] for row in jobs(site, slug, "state")} == {"succeeded"}
    assert not asked(site, "select id from pooling_plannedshard")
    for spec in specs:
        found = everything(site, slug, spec)
        assert found == everything(site, "calm", spec)
        assert (len(found["shards"]), len(found["proposals"])) == (n_shards, 50 * 6)
    pairs = "select stats->'pairs' from pooling_pool where slug = %s"
    assert specs != SPECS or asked(site, pairs, slug) == asked(site, pairs, "calm")


def jobs(site: Site, slug: str, column: str) -> list[tuple[Any, ...]]:
    return asked(site, f"select {column} from jobs_job where title like %s", f"% for {slug}")  # noqa: S608


def has_ended(site: Site, slug: str) -> bool:
    states = [row[0] for row in jobs(site, slug, "state")]
    return bool(states) and not {"queued", "running"} & set(states)


def let_all_load(site: Site) -> None:
    """Fill a pool that nobody looks at: whoever embeds has loaded then what that needs."""
    fill(site, "loaded", SPECS[:1])
    unfinished = "select id from jobs_job where state in ('queued', 'running')"
    wait_until(lambda: has_ended(site, "loaded") and not asked(site, unfinished))


def count_shards(site: Site, slug: str) -> int:
    return len(asked(site, SHARDS, slug))


def holders(site: Site) -> list[Any]:
    """The workers that hold a shard now."""
    return asked(
        site,
        "select distinct w.name from pooling_plannedshard p join jobs_job j on j.id = p.holder_id"
        " join jobs_worker w on w.id = j.held_by_id where j.state = 'running'",
    )


def living(site: Site) -> list[Any]:
    return asked(site, "select name from jobs_worker where seen_at > now() - interval '20 s'")


def everything(site: Site, slug: str, spec: str) -> dict[str, Any]:
    """What one model gave a pool, without ids and times: to the last bit."""
    return {
        "shards": asked(
            site, f"{SHARDS} and e.spec = %s and e.is_complete order by 1, 2", slug, spec
        ),
        "proposals": asked(
            site,
            "select q.sha256, c.sha256, p.rank, p.score from pooling_proposal p"
            " join pooling_poolsource s on s.id = p.source_id"
            " join pooling_pool o on o.id = p.pool_id"
            " join catalog_image q on q.id = p.query_id"
            " join catalog_image c on c.id = p.candidate_id"
            " where o.slug = %s and s.spec = %s order by 1, 3",
            slug,
            spec,
        ),
    }
