"""What every source of a pool does: rank a catalog for some queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.models import Catalog
from pooling.models import Pool


@dataclass(frozen=True)
class RankingTask:
    """Which images to rank for which queries.

    Attributes:
        catalog: the candidates.
        asking: the catalog that the queries come from.
        query_ids: image ids of the queries.
    """

    catalog: Catalog
    asking: Catalog
    query_ids: Sequence[int]

    @classmethod
    def of(cls, pool: Pool) -> RankingTask:
        """Return the task of a pool’s sources."""
        return cls(pool.catalog, pool.asking, pool.query_ids.tolist())
