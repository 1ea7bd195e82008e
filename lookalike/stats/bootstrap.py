"""Bootstrap over queries: the queries are the sample, the pairs of one query belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats
from lookalike.stats.defined_values import ratio
from lookalike.stats.intervals import difference_intervals
from lookalike.stats.proportion import Interval


@dataclass(frozen=True)
class Resampling:
    """The random draws that every interval and test of one report shares.

    Attributes:
        counts: shape (n_bootstraps, n_queries), from `query_counts`; all statistics use the
            same samples, so that differences are paired.
        rng: for permutations.
        level: coverage of the intervals.
        n_permutations: sign flips or orders drawn where not all can be tried.
    """

    counts: Floats
    rng: np.random.Generator
    level: float = 0.95
    n_permutations: int = 10_000

    @classmethod
    def of(
        cls,
        n_queries: int,
        *,
        n_bootstraps: int,
        rng: np.random.Generator,
        level: float = 0.95,
        n_permutations: int = 10_000,
    ) -> Resampling:
        """Draw the bootstrap samples."""
        return cls(query_counts(n_queries, n_bootstraps, rng), rng, level, n_permutations)

    def differences(self, values: ArrayLike, *, is_yes_no: bool = False) -> list[Interval]:
        """Return the interval of each column's mean; see `difference_intervals`."""
        return difference_intervals(values, self.counts, self.level, is_yes_no=is_yes_no)


def query_counts(n_queries: int, n_bootstraps: int, rng: np.random.Generator) -> Floats:
    """Return how often each query is drawn in each bootstrap sample.

    Args:
        n_queries: size of the sample, drawn with replacement.
        n_bootstraps: how many samples.
        rng: draws them.

    Returns:
        Shape (n_bootstraps, n_queries), whole numbers; every row sums to `n_queries`.
    """
    if n_queries == 0:
        return np.zeros((n_bootstraps, 0))
    share = np.full(n_queries, 1.0 / n_queries)
    return rng.multinomial(n_queries, share, size=n_bootstraps).astype(np.float64)


def bootstrap_means(values: ArrayLike, counts: Floats) -> Floats:
    """Return the mean over queries of every column in every bootstrap sample.

    A NaN is left out of its own column's mean, as in `mean_defined`. Columns that are to be
    compared should be NaN at the same queries.

    Args:
        values: shape (n_queries, ...), NaN where undefined.
        counts: shape (n_bootstraps, n_queries), from `query_counts`.

    Returns:
        Shape (n_bootstraps, ...); NaN where a sample drew no defined query.
    """
    v = np.asarray(values, dtype=np.float64)
    flat = v.reshape(v.shape[0], -1)
    is_defined = ~np.isnan(flat)
    total = counts @ np.where(is_defined, flat, 0.0)
    is_shared = bool((is_defined == is_defined[:, :1]).all())  # one column speaks for all
    n_drawn = counts @ is_defined[:, : 1 if is_shared else None].astype(np.float64)
    return ratio(total, n_drawn).reshape(len(counts), *v.shape[1:])
