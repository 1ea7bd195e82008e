"""What programs read of pools: sizes, and pairs with the reason for each, a part at a time."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count

from pooling.models import Pool, PoolQuery
from pooling.pools.queries import ProposedBy


@dataclass(frozen=True)
class ReasonedPair:
    """A pair by the uids of its images, its place in the pool, and who proposed it."""

    query: uuid.UUID
    candidate: uuid.UUID
    key: tuple[int, int]
    proposed_by: list[ProposedBy]


def pairs_with_reasons(
    pool: Pool, *, after: tuple[int, ...] | None, limit: int
) -> list[ReasonedPair]:
    """Return pairs of the sources that are done, in the order of query position and candidate.

    Args:
        pool: whose pairs.
        after: the `key` of the pair before the first one wanted; None for the start.
        limit: at most so many pairs.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.uid, b.uid, q.position, p.candidate_id, "
            "array_agg(s.spec ORDER BY s.position), array_agg(p.rank ORDER BY s.position), "
            "array_agg(p.score ORDER BY s.position) "
            "FROM pooling_poolquery q JOIN pooling_proposal p "
            "ON p.pool_id = q.pool_id AND p.query_id = q.image_id "
            "JOIN pooling_poolsource s ON s.id = p.source_id "
            "JOIN catalog_image a ON a.id = p.query_id "
            "JOIN catalog_image b ON b.id = p.candidate_id "
            "WHERE q.pool_id = %s AND s.done_at IS NOT NULL AND q.position >= %s "
            "AND (q.position, p.candidate_id) > (%s, %s) "
            "GROUP BY q.position, p.candidate_id, a.uid, b.uid "
            "ORDER BY q.position, p.candidate_id LIMIT %s",
            [pool.pk, (after or (0, 0))[0], *(after or (-1, -1)), limit],
        )
        return [
            ReasonedPair(query, candidate, (position, candidate_id), [
                ProposedBy(spec, rank + 1, score)
                for spec, rank, score in zip(specs, ranks, scores, strict=True)
            ])
            for query, candidate, position, candidate_id, specs, ranks, scores in cursor.fetchall()
        ]  # fmt: skip


def n_queries_by_pool(pools: Sequence[Pool]) -> dict[int, int]:
    """Return how many queries each pool asks, by its id."""
    rows = PoolQuery.objects.filter(pool__in=pools).order_by().values_list("pool")
    return dict(rows.annotate(n=Count("pk")))
