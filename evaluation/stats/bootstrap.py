"""Bootstrap over queries: the queries are the sample, the pairs of one query belong together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evaluation.segment import Floats, Ints
from evaluation.stats.proportion import Interval

_CELLS = 1 << 22
_EXACT_IN_FLOAT32 = 1 << 22

Bools = NDArray[np.bool_]
Drawn = NDArray[np.floating]

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
    everything = np.ones((1, labels.size), dtype=np.bool_)
    return bootstrap_micro_aucs(scores, labels, queries, counts, everything)[:, 0]


def bootstrap_micro_aucs(
    scores: Floats, labels: Floats, queries: Ints, counts: Floats, kept: Bools
) -> Floats:
    """Return `bootstrap_micro_auc` on several parts of the pairs.

    What a part wins is what all pairs win, less what the pairs that it lacks are involved in,
    so a part that lacks few pairs costs little.

    Args:
        scores, labels, queries, counts: as in `bootstrap_micro_auc`.
        kept: shape (n_parts, n_pairs).

    Returns:
        Shape (n_bootstraps, n_parts).
    """
    ladder = _Ladder.of(scores, labels, queries, counts.shape[1])
    lacking = [ladder.part(np.flatnonzero(~part)) for part in kept]
    twice_won = np.empty((len(counts), len(kept)))
    step = max(1, _CELLS // max(ladder.n_rungs, 1))
    for at in range(0, len(counts), step):
        drawn = np.ascontiguousarray(counts[at : at + step].T, dtype=ladder.dtype)
        above, below = ladder.climb(drawn)
        twice_won[at : at + step] = _all_won(drawn, above, below)[:, None]
        for g, part in enumerate(lacking):
            twice_won[at : at + step, g] -= part.involved(drawn, above, below)
    is_positive = labels == 1
    P, N = (_per_query(kept & mask, queries, counts) for mask in (is_positive, ~is_positive))
    aucs: Floats = np.divide(twice_won / 2.0, P * N, out=np.full(P.shape, np.nan), where=P * N > 0)
    return aucs


def _per_query(kept: Bools, queries: Ints, counts: Floats) -> Floats:
    """Return how many of the kept pairs every sample holds, shape (n_bootstraps, n_parts)."""
    n = [np.bincount(queries[part], minlength=counts.shape[1]) for part in kept]
    held: Floats = counts @ np.stack(n, axis=1).astype(np.float64)
    return held


@dataclass(frozen=True)
class _Part:
    """Some pairs: negatives by query and rung, positives by query and the rungs they beat.

    `inner` is the same pairs on a ladder of their own, None for no pairs.
    """

    negatives: sparse.csr_array
    positives: sparse.csr_array
    inner: _Ladder | None

    def involved(self, drawn: Drawn, above: Drawn, below: Drawn) -> Floats:
        """Return twice what is won by these positives or over these negatives."""
        twice = _dot(self.negatives @ above, drawn) + _dot(self.positives @ below, drawn)
        if self.inner is not None:  # counted on both sides
            twice -= _all_won(drawn, *self.inner.climb(drawn))
        return twice


@dataclass(frozen=True)
class _Ladder:
    """Negatives by falling score, one rung per distinct score, and where the positives stand.

    A positive wins half of the rung `ties` (its own score, if any) and all from `beats` on.
    """

    scores: Floats
    queries: Ints
    is_positive: Bools
    n_queries: int
    n_rungs: int
    rung: Ints
    ties: Ints
    beats: Ints
    dtype: type[np.floating]

    @classmethod
    def of(cls, scores: Floats, labels: Floats, queries: Ints, n_queries: int) -> _Ladder:
        """Sort the pairs."""
        is_positive = labels == 1
        rungs, at = np.unique(-scores[~is_positive], return_inverse=True)
        rung, ties, beats = np.zeros((3, scores.size), dtype=np.int64)
        rung[~is_positive] = at
        ties[is_positive] = np.searchsorted(rungs, -scores[is_positive])
        is_tied = np.r_[rungs, np.nan][ties] == -scores
        beats[is_positive] = (ties + is_tied)[is_positive]
        # sums of whole numbers, at most twice the drawn pairs of one query and all: a query is
        # drawn a few times, so all pairs drawn are at most a few times all pairs
        most = 2 * int(np.bincount(queries).max(initial=0)) * scores.size
        dtype = np.float32 if most < _EXACT_IN_FLOAT32 else np.float64
        return cls(scores, queries, is_positive, n_queries, rungs.size, rung, ties, beats, dtype)

    def part(self, pairs: Ints) -> _Part:
        """Return some of the pairs, by position."""
        positive, negative = pairs[self.is_positive[pairs]], pairs[~self.is_positive[pairs]]
        wins = np.r_[self.ties[positive], self.beats[positive]]
        inner = None
        if positive.size and negative.size:
            labels = self.is_positive[pairs].astype(np.float64)
            inner = _Ladder.of(self.scores[pairs], labels, self.queries[pairs], self.n_queries)
        return _Part(
            negatives=self._table(self.queries[negative], self.rung[negative], by_query=True),
            positives=self._table(np.tile(self.queries[positive], 2), wins, by_query=True),
            inner=inner,
        )

    def climb(self, drawn: Drawn) -> tuple[Drawn, Drawn]:
        """Return, per rung, twice the drawn positives above it and the drawn negatives from it.

        Args:
            drawn: shape (n_queries, n_samples), how often each query was drawn.
        """
        positive, negative = np.flatnonzero(self.is_positive), np.flatnonzero(~self.is_positive)
        wins = np.r_[self.ties[positive], self.beats[positive]]
        above = self._table(np.tile(self.queries[positive], 2), wins, by_query=False) @ drawn
        below = self._table(self.queries[negative], self.rung[negative], by_query=False) @ drawn
        _running_sum(above)
        _running_sum(below[::-1])
        return above, below

    def _table(self, queries: Ints, rungs: Ints, *, by_query: bool) -> sparse.csr_array:
        """Count how often each (query, rung) occurs; what lies below the last rung is dropped."""
        kept = rungs < self.n_rungs
        where = (queries[kept], rungs[kept]) if by_query else (rungs[kept], queries[kept])
        shape = (self.n_queries, self.n_rungs) if by_query else (self.n_rungs, self.n_queries)
        return sparse.csr_array((np.ones(int(kept.sum()), self.dtype), where), shape=shape)


def _all_won(drawn: Drawn, above: Drawn, below: Drawn) -> Floats:
    each = below.copy()
    each[:-1] -= below[1:]
    return _dot(above, each)


def _dot(rows: Drawn, others: Drawn) -> Floats:
    """Return the sum of products down the columns, in double precision."""
    total: Floats = np.einsum("rb,rb->b", rows, others, dtype=np.float64)
    return total


def _running_sum(rows: Drawn) -> None:
    """Add each row to the next, in place; `np.cumsum` down the columns is six times slower."""
    for above, below in pairwise(rows):
        np.add(above, below, out=below)
