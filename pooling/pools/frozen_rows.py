"""What a release freezes of pools, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from jobs.work.snapshot import Snapshot

POOLS = """
select p.id, p.slug, p.name, p.k, p.seed, p.query_rule, p.exclude_same_product,
       p.shared_product_ids,
       p.catalog_id as catalog, coalesce(p.query_catalog_id, p.catalog_id) as query_catalog,
       (select count(*) from pooling_poolquery q where q.pool_id = p.id) as n_queries,
       p.candidate_rule
from pooling_pool p
where p.id in (select pool_id from pooling_poolcampaign where campaign_id = any(%s))
order by p.slug
"""
LINKS = """
select l.campaign_id as campaign, p.slug as pool
from pooling_poolcampaign l join pooling_pool p on p.id = l.pool_id where l.campaign_id = any(%s)
"""
QUERIES = """
select q.image_id from pooling_poolquery q join pooling_pool p on p.id = q.pool_id
where q.pool_id = any(%s) order by p.slug, q.position
"""
SOURCES = """
select s.id, s.spec, p.slug as pool
from pooling_poolsource s join pooling_pool p on p.id = s.pool_id
where s.pool_id = any(%s) and s.done_at is not null order by p.slug, s.position
"""
PROPOSALS = """
select o.query_id as query, o.candidate_id as image, o.source_id as source, o.rank + 1 as rank,
       o.score, q.position
from pooling_proposal o join pooling_poolsource s on s.id = o.source_id
join pooling_poolquery q on q.pool_id = o.pool_id and q.image_id = o.query_id
where o.pool_id = any(%s) and s.done_at is not null
"""
_PROPOSAL_KINDS = {
    "query": pa.int64(), "image": pa.int64(), "source": pa.int64(), "rank": pa.int32(),
    "score": pa.float64(), "position": pa.int64(),
}  # fmt: skip


class FrozenPool(NamedTuple):
    """A pool with its rules; catalogs by id."""

    id: int
    slug: str
    name: str
    k: int
    seed: int
    query_rule: dict[str, Any]
    exclude_same_product: bool
    shared_product_ids: bool
    catalog: int
    query_catalog: int
    n_queries: int
    candidate_rule: dict[str, Any]

    @property
    def comparison(self) -> tuple[int, int, bool, bool]:
        """What pools of one release have in common: catalogs, and whose products they leave out."""
        return self.catalog, self.query_catalog, self.exclude_same_product, self.shared_product_ids


class PoolLink(NamedTuple):
    """A campaign by id, and the slug of the pool that it judges."""

    campaign: int
    pool: str


class FrozenSource(NamedTuple):
    """A model that has proposed for a pool, named by its slug."""

    id: int
    spec: str
    pool: str


def frozen_pools(view: Snapshot, campaigns: Sequence[int]) -> list[FrozenPool]:
    """Return the pools that campaigns judge, by slug."""
    return view.rows(FrozenPool, POOLS, [campaigns])


def pools_of_campaigns(view: Snapshot, campaigns: Sequence[int]) -> dict[int, str]:
    """Return the slug of the pool of each campaign that judges one, by the campaign's id."""
    return {link.campaign: link.pool for link in view.rows(PoolLink, LINKS, [campaigns])}


def queries_drawn(view: Snapshot, pools: Sequence[int]) -> list[int]:
    """Return the image ids of the queries, by slug of the pool, in the order of each draw."""
    return view.values(QUERIES, [pools])


def frozen_sources(view: Snapshot, pools: Sequence[int]) -> list[FrozenSource]:
    """Return the sources that are done, by slug of the pool and position."""
    return view.rows(FrozenSource, SOURCES, [pools])


def frozen_proposals(view: Snapshot, pools: Sequence[int]) -> pa.Table:
    """Return what the sources that are done proposed: ids, rank from 1, score.

    The column position is the query's place in its pool.
    """
    return view.columns(PROPOSALS, [pools], _PROPOSAL_KINDS)
