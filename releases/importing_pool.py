"""The pool of a release again, with its models and their proposals."""

from __future__ import annotations

from collections import Counter

from django.utils import timezone

from annotation.services.bulk import copy_rows
from catalog.models import Catalog
from pooling.models import Pool, PoolQuery, PoolSource, Proposal
from pooling.services_stats import update_stats
from releases.errors import ReleaseError
from releases.folder import Folder
from releases.importing_images import Known


def make_pool(
    folder: Folder, slug: str, known: Known, catalog: Catalog, query_catalog: Catalog | None
) -> Pool | None:
    """Make the pool with its proposals; None for a release without exactly one.

    Raises:
        ReleaseError: there is a pool of that slug.
    """
    if len(folder.info["pools"]) != 1:
        return None
    [given] = folder.info["pools"]
    if Pool.objects.filter(slug=slug).exists():
        raise ReleaseError(f"There is a pool “{slug}” already; choose another slug.")
    pool = Pool.objects.create(
        slug=slug,
        name=given["name"],
        catalog=catalog,
        query_catalog=query_catalog,
        k=given["k"],
        seed=given["seed"],
        query_rule=given["query_rule"],
        exclude_same_product=given["exclude_same_product"],
        candidate_rule=given.get("candidate_rule", {}),
    )
    table = folder.table("queries", ["query_id"])["query_id"].to_pylist()
    PoolQuery.objects.bulk_create(
        PoolQuery(pool=pool, image_id=known.queries[query], position=position)
        for position, query in enumerate(table)
    )
    rows = folder.table("pool").to_pylist()
    sources = _make_sources(folder, pool, [row["model_id"] for row in rows])
    copy_rows(
        Proposal,
        ("pool_id", "source_id", "query_id", "candidate_id", "rank", "score"),
        (
            (pool.pk, sources[row["model_id"]].pk, *known.pair(row), row["rank"] - 1, row["score"])
            for row in rows
        ),
    )
    update_stats(pool=pool)
    return pool


def _make_sources(folder: Folder, pool: Pool, proposed: list[str]) -> dict[str, PoolSource]:
    """Make a source for each model, in the order of their first proposals."""
    entry = {model["id"]: model for model in folder.models}
    n_proposals = Counter(proposed)
    return {
        model: PoolSource.objects.create(
            pool=pool,
            position=position,
            spec=entry[model]["name"],
            k=entry[model].get("k") or pool.k,
            n_proposals=n_proposals[model],
            done_at=timezone.now(),
        )
        for position, model in enumerate(n_proposals)
    }
