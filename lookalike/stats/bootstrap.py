"""Bootstrap over queries: the queries are the sample, the pairs of one query belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats
from lookalike.stats.grouped_auc import ratio
from lookalike.stats.proportion import Interval

_MIN_DEFINED = 0.5


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

    def interval(self, samples: ArrayLike) -> Interval:
        """Return the percentile interval of bootstrap values at this level."""
        return percentile_interval(samples, self.level)


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


def percentile_interval(samples: ArrayLike, level: float = 0.95) -> Interval:
    """Return the percentile interval of bootstrap values.

    Args:
        samples: shape (n_bootstraps,); NaN where a sample left the statistic undefined.
        level: coverage.

    Returns:
        The interval; NaN if fewer than half of the samples are defined.
    """
    s = np.asarray(samples, dtype=np.float64)
    defined = s[~np.isnan(s)]
    if defined.size == 0 or defined.size < _MIN_DEFINED * s.size:
        return Interval(float("nan"), float("nan"))
    low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(low), float(high))
