"""Bootstrap over queries: the queries are the sample, the pairs of one query belong together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evaluation.segment import Floats, Ints
from evaluation.stats.proportion import Interval

_CELLS = 1 << 21
_EXACT_IN_FLOAT32 = 1 << 22
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
    n_drawn = np.broadcast_to(n_drawn, total.shape)
    means = np.divide(total, n_drawn, out=np.full(total.shape, np.nan), where=n_drawn > 0)
    shaped: Floats = means.reshape(len(counts), *v.shape[1:])
    return shaped


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


def bootstrap_micro_auc(scores: Floats, labels: Floats, queries: Ints, counts: Floats) -> Floats:
    """Return the micro ROC-AUC of every bootstrap sample of queries.

    A sample holds a query's pairs as often as it drew the query, so a positive of query a and a
    negative of query b count c_a * c_b times: the value is c'Uc / ((c'P)(c'N)) with the U
    matrix of `evaluation.segment`, computed here down one sorted list instead of the matrix.
    Ties count half.

    Args:
        scores: shape (n_pairs,), higher is more similar.
        labels: shape (n_pairs,), 0 or 1.
        queries: shape (n_pairs,), integers in [0, n_queries).
        counts: shape (n_bootstraps, n_queries), from `query_counts`.

    Returns:
        Shape (n_bootstraps,); NaN where a sample drew no positive or no negative.
    """
    n_queries = counts.shape[1]
    is_positive = labels == 1
    negative, groups = np.unique(-scores[~is_positive], return_inverse=True)
    gains = np.searchsorted(negative, -scores[is_positive])
    is_tied = np.r_[negative, np.nan][gains] == -scores[is_positive]
    full = gains + is_tied
    # half a win over the tied group `gains` (if any), a whole one over every group from `full`
    above = _table(np.r_[gains, full], np.tile(queries[is_positive], 2), negative.size, n_queries)
    below = _table(groups, queries[~is_positive], negative.size, n_queries)
    # whole numbers of at most twice the drawn pairs: float32 holds them exactly up to here
    dtype = np.float32 if labels.size < _EXACT_IN_FLOAT32 else np.float64
    above, below = above.astype(dtype), below.astype(dtype)
    won = np.empty(len(counts))
    step = max(1, _CELLS // max(negative.size, 1))
    for at in range(0, len(counts), step):
        drawn = np.ascontiguousarray(counts[at : at + step].T, dtype=dtype)
        n_above = _running_sum(above @ drawn)
        twice_won = np.einsum("gb,gb->b", n_above, below @ drawn, dtype=np.float64)
        won[at : at + step] = twice_won / 2.0
    n_positive = counts @ np.bincount(queries[is_positive], minlength=n_queries)
    n_negative = counts @ np.bincount(queries[~is_positive], minlength=n_queries)
    pairs = n_positive * n_negative
    auc: Floats = np.divide(won, pairs, out=np.full(len(counts), np.nan), where=pairs > 0)
    return auc


def _running_sum(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    """Add each row to the next, in place; `np.cumsum` down the columns is six times slower."""
    for above, below in pairwise(rows):
        np.add(above, below, out=below)
    return rows


def _table(rows: NDArray[np.int64], columns: Ints, n_rows: int, n_columns: int) -> sparse.csr_array:
    """Count how often each (tie group, query) occurs; groups past the last are dropped."""
    kept = rows < n_rows
    ones = np.ones(int(kept.sum()))
    return sparse.csr_array((ones, (rows[kept], columns[kept])), shape=(n_rows, n_columns))
