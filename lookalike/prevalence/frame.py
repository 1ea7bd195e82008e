"""Every pair below a pool, by stratum, without a row for each: what a sample is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.prevalence.sampling import Stratum


@dataclass(frozen=True)
class Frame:
    """The admissible pairs outside a pool; a pair's key is query * n_images + image.

    Attributes:
        n_queries: how many queries the pool has.
        n_images: how many images the catalog has.
        strata: rising; the last one holds whatever no list reaches.
        upper: for each stratum but the last, its keys in ascending order.
        not_deepest: ascending keys of all pairs that are not in the last stratum: barred,
            pooled, or in one above.
    """

    n_queries: int
    n_images: int
    strata: tuple[Stratum, ...]
    upper: tuple[Ints, ...]
    not_deepest: Ints

    @classmethod
    def of(
        cls,
        shape: tuple[int, int],
        strata: Sequence[Stratum],
        *,
        barred: Ints,
        pooled: Ints,
        listed: Ints,
        ranks: Ints,
    ) -> Frame:
        """Divide the pairs by the best rank that any model gave them.

        Args:
            shape: (n_queries, n_images).
            strata: from `rank_strata`. What a list holds above the first rank of the first
                stratum without being in the pool is in the first.
            barred: keys of pairs that are no candidates: the query itself, its own product.
            pooled: keys of the pool's pairs.
            listed: keys of the models' lists, one entry per model that lists the pair.
            ranks: of the same shape, from 1.
        """
        best_first = np.lexsort((ranks, listed))
        keys, at = np.unique(listed[best_first], return_index=True)
        best = ranks[best_first][at]
        taken = np.union1d(barred, pooled)
        below = ~np.isin(keys, taken, assume_unique=True)
        keys, best = keys[below], best[below]
        lasts = [stratum.last for stratum in strata[:-1] if stratum.last is not None]
        place = np.searchsorted(lasts, best)
        upper = tuple(keys[place == h] for h in range(len(lasts)))
        return cls(*shape, tuple(strata), upper, np.union1d(taken, keys[place < len(lasts)]))

    def sizes(self, stratum: int) -> Ints:
        """Return how many pairs of a stratum each query has, shape (n_queries,)."""
        if stratum < len(self.upper):
            return np.bincount(self.upper[stratum] // self.n_images, minlength=self.n_queries)
        others = np.bincount(self.not_deepest // self.n_images, minlength=self.n_queries)
        remaining: Ints = self.n_images - others
        return remaining

    def images(self, stratum: int, queries: Ints, positions: Ints) -> Ints:
        """Return the image at a position among a query's pairs of a stratum, from 0.

        Args:
            stratum: its place in `strata`.
            queries: shape (n,).
            positions: shape (n,), each below the query's size.
        """
        keys = self.upper[stratum] if stratum < len(self.upper) else self.not_deepest
        starts = np.searchsorted(keys, np.arange(self.n_queries + 1) * self.n_images)
        if stratum < len(self.upper):
            listed: Ints = keys[starts[queries] + positions] % self.n_images
            return listed
        images = np.empty(queries.size, dtype=np.int64)
        for n, (query, position) in enumerate(zip(queries, positions, strict=True)):
            others = keys[starts[query] : starts[query + 1]] % self.n_images
            # the free images before the i-th of the others number others[i] - i
            n_before = np.searchsorted(others - np.arange(others.size), position, side="right")
            images[n] = position + n_before
        return images
