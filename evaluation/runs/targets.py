"""What an uploaded run must speak about: a campaign's pairs, its images and their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.models import Campaign, QuestionKind
from catalog.image_names import names_of_contents
from catalog.models import Catalog, Image
from evaluation.below_pool.pairs import drawn_beside_pool
from evaluation.results.inputs import ImageTable, products_of
from lookalike.core.arrays import Ints
from lookalike.io.errors import InputError
from lookalike.io.image_names import ImageNames
from lookalike.io.tables import Qrels
from pooling.models import Pool
from pooling.pools.queries import pool_of


@dataclass(frozen=True)
class Target:
    """A campaign as a run sees it.

    Attributes:
        campaign: it.
        pool: the pool that it judges, None for a campaign without one.
        images: of the catalogs of queries and candidates.
        query_ids, candidate_ids: shape (n_pairs,), image ids of every pair put to the judges but
            those drawn below the pool.
    """

    campaign: Campaign
    pool: Pool | None
    images: ImageTable
    query_ids: Ints
    candidate_ids: Ints

    @classmethod
    def of(cls, campaign: Campaign) -> Target:
        """Read a campaign's pairs and catalogs.

        Raises:
            InputError: it has no pairs.
        """
        pool = pool_of(campaign)
        rows = campaign.questions.filter(kind=QuestionKind.PAIR).order_by("query", "candidate")
        below = drawn_beside_pool(campaign)
        asked = [p for p in rows.values_list("query_id", "candidate_id") if p not in below]
        pairs = np.array(asked, np.int64)
        if not pairs.size:
            raise InputError(f"“{campaign}” has no pairs to score")
        used = np.unique(pairs).tolist()
        catalogs = set(Image.objects.filter(pk__in=used).values_list("catalog_id", flat=True))
        if pool is not None:
            catalogs |= {pool.catalog_id, pool.asking.pk}
        return cls(campaign, pool, ImageTable.of(catalogs), pairs[:, 0], pairs[:, 1])

    def pairs(self) -> Qrels:
        """Return every pair as if it were labelled, to match a run against."""
        named = map(self.images.named, (self.query_ids, self.candidate_ids))
        return Qrels.of((q, c, 0) for q, c in zip(*named, strict=True))

    @cached_property
    def products(self) -> Mapping[str, str] | None:
        """Product of each image, or None where the pool admits the query's own product."""
        return products_of(self.images, self.campaign, self.pool)


def names_of_target(target: Target) -> ImageNames[str]:
    """Return the names of a target's images: a name finds the SHA-256."""
    held = Image.objects.filter(pk__in=target.images.ids.tolist())
    return names_of_contents(Catalog.objects.filter(images__in=held).distinct())
