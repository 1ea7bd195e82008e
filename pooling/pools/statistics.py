"""Derive a pool's figures from its stored proposals, and say them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction

from catalog.models import Image
from lookalike.pooling.stats import pool_stats
from pooling.models import Pool
from pooling.pools.products import product_key_of
from pooling.pools.queries import stored_proposals
from pooling.sources.admission import n_admissible

STATS_VERSION = 1  # of this computation; a stored result names what made it


def update_stats(*, pool: Pool) -> None:
    """Store the figures of the sources that are done now; two callers at once take turns.

    The stored figures name their inputs: the sources, their depth and their embedding sets.
    """
    with transaction.atomic():
        locked = Pool.objects.select_for_update().get(pk=pool.pk)
        sources, proposals = stored_proposals(locked)
        if not sources:
            return
        stats = pool_stats(
            proposals,
            n_queries=locked.queries.count(),
            n_images=locked.catalog.images.count(),
            n_excluded=n_excluded_pairs(locked),
        )
        inputs = [
            {
                "spec": source.spec,
                "k": source.k,
                "fingerprint": source.provenance or None,
            }
            for source in sources
        ]
        locked.stats = {
            **stats.as_dict(),
            "models": [source.spec for source in sources],
            "inputs": {"version": STATS_VERSION, "sources": inputs},
        }
        locked.save(update_fields=["stats"])
    pool.refresh_from_db()


def n_excluded_pairs(pool: Pool) -> int:
    """Return how many (query, image) pairs of queries and catalog may not be proposed."""
    if pool.candidates:
        query_ids = pool.query_ids
        n_of_query = n_admissible(pool, query_ids)
        return int(len(query_ids) * pool.catalog.images.count() - n_of_query.sum())
    query_ids = pool.query_ids.tolist()
    images = Image.objects.filter(catalog=pool.catalog)
    offered = dict(images.values_list("sha256", "pk"))
    key_of = product_key_of(pool, Image.objects.filter(catalog__in={pool.catalog, pool.asking}))
    n_of_key = Counter(key_of[pk] for pk in offered.values())
    n_excluded = 0
    for pk, sha256 in Image.objects.filter(pk__in=query_ids).values_list("pk", "sha256"):
        own, key = offered.get(sha256), key_of[pk]
        n_excluded += n_of_key[key] if key else 0
        n_excluded += own is not None and not (key and key_of[own] == key)
    return n_excluded


def count_brute_force_pairs(pool: Pool) -> int:
    """Return how many pairs of a query with another image of the catalog there are."""
    images = Image.objects.filter(catalog=pool.catalog)
    n_own = images.filter(sha256__in=pool.queries.values("image__sha256")).count()
    return pool.queries.count() * images.count() - n_own


def summary(pool: Pool) -> dict[str, Any]:
    """Return a pool's figures as commands print them; zeros while nothing was proposed."""
    stats = pool.stats
    return {
        "pool": pool.slug,
        "queries": stats.get("queries", pool.queries.count()),
        "pairs": stats.get("pairs", 0),
        "proposals": stats.get("proposals", 0),
        "candidates_per_query": stats.get("candidates_per_query"),
        "duplication": stats.get("duplication"),
        "models": stats.get("models", []),
        "overlap": stats.get("overlap", []),
        "jaccard": stats.get("jaccard", []),
        "proposals_by_model": stats.get("proposals_by_model", []),
        "unique_by_model": stats.get("unique_by_model", []),
        "brute_force_pairs": stats.get("brute_force_pairs", 0),
        "saving": stats.get("saving"),
    }
