"""What programs read of pools: sizes, and pairs with the reason for each, a part at a time."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db import connection

from catalog.models import Image
from pooling.models import Pool
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
            "SELECT q.position, p.query_id, p.candidate_id, "
            "array_agg(s.spec ORDER BY s.position), array_agg(p.rank ORDER BY s.position), "
            "array_agg(p.score ORDER BY s.position) "
            "FROM pooling_poolquery q JOIN pooling_proposal p "
            "ON p.pool_id = q.pool_id AND p.query_id = q.image_id "
            "JOIN pooling_poolsource s ON s.id = p.source_id "
            "WHERE q.pool_id = %s AND s.done_at IS NOT NULL AND q.position >= %s "
            "AND (q.position, p.candidate_id) > (%s, %s) "
            "GROUP BY q.position, p.query_id, p.candidate_id "
            "ORDER BY q.position, p.candidate_id LIMIT %s",
            [pool.pk, (after or (0, 0))[0], *(after or (-1, -1)), limit],
        )
        rows = cursor.fetchall()
    images = {pk for _, query, candidate, *_ in rows for pk in (query, candidate)}
    uid_of = dict(Image.objects.filter(pk__in=images).values_list("pk", "uid"))
    return [
        ReasonedPair(uid_of[query], uid_of[candidate], (position, candidate), [
            ProposedBy(spec, rank + 1, score)
            for spec, rank, score in zip(specs, ranks, scores, strict=True)
        ])
        for position, query, candidate, specs, ranks, scores in rows
    ]  # fmt: skip
