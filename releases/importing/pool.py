"""The pools of a release again, with their models and their proposals."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.utils import timezone

from annotation.bulk import copy_rows
from catalog.models import Catalog
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import PRODUCT_PREFIX
from pooling.models import Pool, PoolQuery, PoolSource, Proposal
from pooling.pools.statistics import update_stats
from releases.importing.images import ImageIds

Row = dict[str, Any]


def make_pools(
    folder: Folder, slug: str, images: ImageIds, catalog: Catalog, query_catalog: Catalog | None
) -> dict[str, Pool]:
    """Make each pool with its proposals; return it by the slug of the campaign that judges it.

    Args:
        folder: of the release.
        slug: of the pool; of several, the first part of each slug.
        images: of the catalogs.
        catalog: holds the candidates.
        query_catalog: holds the queries, if they are not in the same catalog.

    Raises:
        ReleaseError: there is a pool of that slug, or the release does not say which campaign
            judges which pool, or which queries a pool has.
    """
    entries = folder.info["pools"]
    pool_of = _pool_of(folder)
    if not entries:
        return {}
    proposed: dict[str, list[Row]] = {entry["slug"]: [] for entry in entries}
    for row in folder.table("pool").to_pylist():
        proposed[row["pool"]].append(row)
    made = {}
    for entry in entries:
        name = slug if len(entries) == 1 else f"{slug}-{entry['slug']}"[:80]
        if Pool.objects.filter(slug=name).exists():
            raise ReleaseError(f"There is a pool “{name}” already; choose another slug.")
        pool = Pool.objects.create(
            slug=name,
            name=entry["name"],
            catalog=catalog,
            query_catalog=query_catalog,
            k=entry["k"],
            seed=entry["seed"],
            query_rule=entry["query_rule"],
            exclude_same_product=entry["exclude_same_product"],
            shared_product_ids=query_catalog is not None and PRODUCT_PREFIX not in folder.info,
            candidate_rule=entry.get("candidate_rule", {}),
        )
        queries = _queries(folder, entry, proposed[entry["slug"]])
        _fill(folder, pool, queries, proposed[entry["slug"]], images)
        made[entry["slug"]] = pool
    return {campaign: made[of] for campaign, of in pool_of.items() if of}


def _pool_of(folder: Folder) -> dict[str, str]:
    """Return the slug of the pool of each campaign, "" where it has none."""
    campaigns, pools = folder.info["campaigns"], folder.info["pools"]
    if all("pool" in entry for entry in campaigns):
        return {entry["slug"]: entry["pool"] for entry in campaigns}
    if len(pools) > 1:
        raise ReleaseError(
            "The release has several pools and does not say which campaign judges which: it is of "
            "an older version of Lookalike. Freeze its campaigns again there, one by one or with "
            "a newer version."
        )
    return {entry["slug"]: pools[0]["slug"] if pools else "" for entry in campaigns}


def _queries(folder: Folder, entry: Row, proposed: list[Row]) -> list[str]:
    """Return the queries of a pool in the order in which they were drawn.

    The table queries names those of all pools, each once; proposals are in the order of each
    pool's own.
    """
    if len(folder.info["pools"]) == 1:
        return [query for (query,) in folder.rows("queries", "query_id")][: entry["n_queries"]]
    queries = list(dict.fromkeys(row["query_id"] for row in proposed))
    if len(queries) != entry["n_queries"]:
        raise ReleaseError(
            f"The pool “{entry['name']}” has {entry['n_queries']:,} queries, but proposals for "
            f"{len(queries):,} of them: which the others are, a release of several pools does not "
            "say. Freeze its campaign alone."
        )
    return queries


def _fill(
    folder: Folder, pool: Pool, queries: list[str], proposed: list[Row], images: ImageIds
) -> None:
    """Store queries, models and proposals of a pool."""
    PoolQuery.objects.bulk_create(
        PoolQuery(pool=pool, image_id=images.queries[query], position=position)
        for position, query in enumerate(queries)
    )
    sources = _make_sources(folder, pool, proposed)
    copy_rows(
        Proposal,
        ("pool_id", "source_id", "query_id", "candidate_id", "rank", "score"),
        (
            (pool.pk, sources[row["model_id"]].pk, *images.pair(row), row["rank"] - 1, row["score"])
            for row in proposed
        ),
    )
    update_stats(pool=pool)


def _make_sources(folder: Folder, pool: Pool, proposed: list[Row]) -> dict[str, PoolSource]:
    """Make a source for each model, in the order of their first proposals.

    models.json says how deep a model goes in the deepest of the pools; in another one of
    several it goes as deep as that pool, or as its last proposal there.
    """
    models = {model["id"]: model for model in folder.models}
    n_proposals = Counter(row["model_id"] for row in proposed)
    is_alone = len(folder.info["pools"]) == 1
    deepest: dict[str, int] = {}
    for row in proposed:
        deepest[row["model_id"]] = max(row["rank"], deepest.get(row["model_id"], 0))
    return {
        model: PoolSource.objects.create(
            pool=pool,
            position=position,
            spec=models[model]["name"],
            k=(models[model].get("k") if is_alone else None) or max(pool.k, deepest[model]),
            n_proposals=n_proposals[model],
            done_at=timezone.now(),
        )
        for position, model in enumerate(n_proposals)
    }
