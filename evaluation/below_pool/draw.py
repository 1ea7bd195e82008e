"""Draw pairs below a pool for the judges; for workers and commands, since the search is heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accounts.models import User
from annotation.models import Campaign
from catalog.models import Image
from evaluation.below_pool.bounds import BOUNDS
from evaluation.below_pool.services import check_request, store_sample
from evaluation.models import SampledPair
from jobs.services import JobError, JobProgress
from lookalike.core.arrays import Ints
from lookalike.io.errors import InputError
from lookalike.prevalence.frame import Frame
from lookalike.prevalence.sampling import Aim, allocate, draw, rank_strata
from pooling.models import Pool, PoolCampaign, PoolSource
from pooling.pools.queries import pool_pairs
from pooling.sources.admission import find_rows, make_filters
from pooling.sources.nearest import nearest_candidates

EXPECTED = (0.3, 0.1, 0.02, 0.0007)
"""Guesses of the share of similar pairs by depth, for the allocation alone: a wrong guess costs
precision and biases nothing."""


@dataclass(frozen=True)
class Below:
    """What lies below a pool, its rows named by image ids."""

    query_ids: Ints
    image_ids: Ints
    n_pooled: int
    frame: Frame


def draw_sample(
    campaign: Campaign,
    progress: JobProgress,
    *,
    n_pairs: int,
    aim: Aim,
    seed: int,
    owner: User | None,
) -> dict[str, Any]:
    """Rank the catalog by every model of the pool, draw, freeze, and ask the judges.

    Raises:
        JobError: nothing can be drawn; the message says why.
    """
    try:
        check_request(campaign, n_pairs, aim)
        pool = PoolCampaign.objects.select_related("pool").get(campaign=campaign).pool
        sources = list(pool.sources.filter(done_at__isnull=False).order_by("position"))
        below = _below(pool, sources, progress)
        strata, pairs = drawn_pairs(below, n_pairs, aim, np.random.default_rng([seed, campaign.pk]))
        progress.check()
        store_sample(
            campaign=campaign, aim=aim, seed=seed, strata=strata, pairs=pairs, owner=owner,
            sources={source.spec: source.k for source in sources}, n_pool_pairs=below.n_pooled,
        )  # fmt: skip
    except InputError as problem:
        raise JobError(str(problem)) from problem
    return {
        **{"campaign": campaign.slug, "aim": aim, "seed": seed, "strata": strata},
        "n_drawn": len(pairs),
        "n_pool_pairs": below.n_pooled,
        "share_of_work": len(pairs) / (below.n_pooled + len(pairs)),
    }


def drawn_pairs(
    below: Below, n_pairs: int, aim: Aim, rng: np.random.Generator
) -> tuple[list[dict[str, Any]], list[SampledPair]]:
    """Share the pairs out among the strata, and draw them.

    A lone label has no spread, so a stratum that would get one gets two. Strata without any
    pair, as in a small catalog, are not listed.

    Returns:
        What `Sample.strata` holds, and the pairs.

    Raises:
        InputError: there is nothing below the pool.
    """
    frame = below.frame
    sizes = [frame.sizes(h) for h in range(len(frame.strata))]
    totals = [int(size.sum()) for size in sizes]
    if sum(totals) == 0:
        raise InputError("the pool holds every pair of its queries; nothing lies below it")
    expected = EXPECTED[len(EXPECTED) - len(totals) :]
    wanted = allocate(totals, n_pairs, aim, expected)
    strata, pairs = [], []
    for h in [h for h, total in enumerate(totals) if total]:
        drawn = draw(sizes[h], min(2, totals[h]) if wanted[h] == 1 else wanted[h], rng)
        images = frame.images(h, drawn.queries, drawn.positions)
        strata.append(
            {"name": frame.strata[h].name, "n_pairs": totals[h], "expected": expected[h],
             "n_drawn": len(images)}
        )  # fmt: skip
        pairs += [
            SampledPair(
                query_id=int(below.query_ids[q]), candidate_id=int(below.image_ids[c]),
                stratum=len(strata) - 1, inclusion=drawn.inclusion,
            )
            for q, c in zip(drawn.queries, images, strict=True)
        ]  # fmt: skip
    return strata, pairs


def _below(pool: Pool, sources: list[PoolSource], progress: JobProgress) -> Below:
    """Rank every image for every query by every model that has vectors."""
    held = Image.objects.filter(catalog=pool.catalog).order_by("id").values_list("id", flat=True)
    query_ids, image_ids = pool.query_ids, np.array(held, np.int64)
    n = image_ids.size
    strata = rank_strata(min((source.k for source in sources), default=1), BOUNDS)
    depth = max((s.last for s in strata if s.last is not None), default=1)
    listed, ranks = [], []
    for step, source in enumerate(sources):
        note = f"Ranking the catalog by {source.spec}"
        progress.update(step, len(sources) + 1, note, is_long=True)
        if source.embedding_set is None:
            continue
        queries = source.query_embedding_set or source.embedding_set
        answer = nearest_candidates(pool, depth, source.embedding_set, queries)
        at = answer.nearest.indices
        rows = find_rows(answer.query_ids, query_ids)[:, None] * n
        keys = rows + find_rows(answer.candidate_ids, image_ids)[at]
        listed.append(keys[at >= 0])
        ranks.append(np.broadcast_to(np.arange(1, at.shape[1] + 1), at.shape)[at >= 0])
    if not listed:
        raise InputError("none of the pool’s models has vectors, so nothing ranks what lies below")
    progress.update(len(sources), len(sources) + 1, "Drawing")
    pooled = np.array(pool_pairs(pool), np.int64).reshape(-1, 2)
    frame = Frame.of(
        (query_ids.size, n),
        strata,
        barred=_barred(pool, query_ids, image_ids),
        pooled=find_rows(pooled[:, 0], query_ids) * n + find_rows(pooled[:, 1], image_ids),
        listed=np.concatenate(listed),
        ranks=np.concatenate(ranks),
    )
    return Below(query_ids, image_ids, len(pooled), frame)


def _barred(pool: Pool, query_ids: Ints, image_ids: Ints) -> Ints:
    """Return the keys of the pairs that the pool's search does not admit."""
    filters = make_filters(pool, query_ids, image_ids)
    n = image_ids.size
    keys = [np.zeros(0, np.int64)]
    if filters.own is not None:
        known = np.flatnonzero(filters.own >= 0)
        keys.append(known * n + filters.own[known])
    for apart in filters.apart:
        order = np.argsort(apart.catalog, kind="stable")
        first, last = (
            np.searchsorted(apart.catalog[order], apart.queries, side=side)
            for side in ("left", "right")
        )
        keys += [
            q * n + order[first[q] : last[q]] for q in np.flatnonzero(apart.queries >= 0).tolist()
        ]
    return np.unique(np.concatenate(keys))
