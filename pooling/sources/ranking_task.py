"""What a pool asks every source of it."""

from __future__ import annotations

from pooling.models import Pool
from pooling.sources.uploaded import Asked


def asked_of(pool: Pool) -> Asked:
    """Return a pool's queries and the catalog that they ask about."""
    query_ids = list(pool.queries.values_list("image_id", flat=True))
    return Asked(pool.catalog, pool.asking, query_ids)
