"""ROC-AUC and average precision of every query, model and label subset at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.core.arrays import Floats, Ints
from lookalike.core.each import each
from lookalike.core.near_ties import first_of_ties
from lookalike.stats.defined_values import ratio

_WORTH_THREADS = 1 << 20


@dataclass(frozen=True)
class AucAp:
    """The per-query values of one kernel call.

    Attributes:
        auc: shape (n_models, n_subsets, n_queries), NaN where undefined.
        average_precision: shape (n_models, n_subsets, n_queries), NaN where undefined.
        n_positive: shape (n_subsets, n_queries), weighted positives.
        n_negative: shape (n_subsets, n_queries), weighted negatives.
    """

    auc: Floats
    average_precision: Floats
    n_positive: Floats
    n_negative: Floats


def auc_and_ap(
    scores: ArrayLike,
    labels: ArrayLike,
    queries: ArrayLike,
    n_queries: int,
    weights: ArrayLike | None = None,
) -> AucAp:
    """Return the ROC-AUC and average precision of each query, model and weighting.

    Source: the Mann-Whitney form of the area (pairs won, a tie counts one half) and the step
    sum over distinct thresholds, as `sklearn.metrics.roc_auc_score` and
    `average_precision_score`, on each query's own pairs. One sort per model serves all the
    weightings, because a part of a sorted sequence is sorted. Barkan et al. (VSD) print the
    area without the half for ties and divide its mean by the catalogue size; neither is
    followed.

    Ties count as one group, so neither the order of the input nor the names matter. A query
    without positives or without negatives (after weighting) is NaN in both measures: scikit-learn
    would answer 1.0 or 0.0 for its average precision. Unjudged pairs must not be passed at all.

    Args:
        scores: shape (n_models, n_pairs), higher is more similar; finite, or -inf for a
            missing score that shall stand below all others.
        labels: shape (n_pairs,), 0 or 1.
        queries: shape (n_pairs,), integers in [0, n_queries); any order.
        n_queries: length of the last axis of the result.
        weights: shape (n_subsets, n_pairs), >= 0: 0/1 for label subsets, 1/π for sampled
            strata, multiplicities for a bootstrap. None is one subset of ones.

    Returns:
        The values and the weighted counts.

    Raises:
        ValueError: if shapes disagree, a score is NaN or +inf, a label is neither 0 nor 1, a
            query index is out of range, or a weight is negative or not finite.
    """
    S, y, q, W = checked_pairs(scores, labels, queries, n_queries, weights)
    layout = _Layout.of(q)
    small = q.astype(np.uint16) if n_queries <= 1 << 16 else q  # sorts by radix
    n_models, n_subsets = S.shape[0], W.shape[0]
    auc = np.full((n_models, n_subsets, n_queries), np.nan)
    ap = np.full((n_models, n_subsets, n_queries), np.nan)
    positives = np.zeros((n_subsets, n_queries))
    negatives = np.zeros((n_subsets, n_queries))
    if y.size == 0:
        return AucAp(auc, ap, positives, negatives)

    def of_model(m: int) -> None:
        order, groups = layout.sort(S[m], small)
        y_sorted = y[order]
        for g in range(n_subsets):
            w = W[g][order]
            p = w * y_sorted
            auc_g, ap_g = groups.measure(p, w - p, layout.starts)
            auc[m, g, layout.present], ap[m, g, layout.present] = auc_g, ap_g

    if n_models * W.size < _WORTH_THREADS:
        for m in range(n_models):
            of_model(m)
    else:
        each(of_model, range(n_models))
    for g in range(n_subsets):
        positives[g] = np.bincount(q, weights=W[g] * y, minlength=n_queries)
        negatives[g] = np.bincount(q, weights=W[g] * (1.0 - y), minlength=n_queries)
    return AucAp(auc, ap, positives, negatives)


def micro_auc_and_ap(
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None
) -> AucAp:
    """Return ROC-AUC and average precision over all pairs as if they were one query.

    Source: the micro averages of the VSD benchmark. Positives of one query meet negatives of
    every other query, so the value is mostly about how comparable the scores of different
    queries are; show it with `micro_split`.

    Args:
        scores: shape (n_models, n_pairs), as in `auc_and_ap`.
        labels: shape (n_pairs,), 0 or 1.
        weights: shape (n_subsets, n_pairs) or None.

    Returns:
        The same shape as `auc_and_ap` with n_queries = 1.

    Raises:
        ValueError: as `auc_and_ap`.
    """
    n_pairs = np.asarray(labels).shape[0]
    return auc_and_ap(scores, labels, np.zeros(n_pairs, dtype=np.int64), 1, weights)


@dataclass(frozen=True)
class _Layout:
    """Where each query's pairs lie once all pairs are sorted by query: the same for any model."""

    present: Ints
    starts: Ints

    @classmethod
    def of(cls, queries: Ints) -> _Layout:
        ordered = np.sort(queries)
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: ordered.size])
        return cls(ordered[starts], starts)

    def sort(self, scores: Floats, queries: NDArray[Any]) -> tuple[Ints, _Groups]:
        """Order pairs by query, then by falling score, and find the groups of tied pairs."""
        by_score = np.argsort(-scores)
        order = by_score[np.argsort(queries[by_score], kind="stable")]
        is_start = np.zeros(order.size, np.bool_)
        is_start[self.starts] = True
        is_first = first_of_ties(scores[order], is_start)
        firsts = np.flatnonzero(is_first)
        in_query = np.searchsorted(firsts, self.starts)
        sizes = np.diff(np.r_[in_query, firsts.size])
        ends = np.r_[firsts[1:], order.size] - 1
        return order, _Groups(firsts, ends, in_query, np.repeat(np.arange(sizes.size), sizes))


@dataclass(frozen=True)
class _Groups:
    """Tie groups of one model: first and last pair, first group of each query, query of each."""

    firsts: Ints
    ends: Ints
    starts: Ints
    query: Ints

    def measure(self, p: Floats, n: Floats, query_starts: Ints) -> tuple[Floats, Floats]:
        """Return (AUC, AP) per present query from the sorted positive and negative weights."""
        P, N = np.add.reduceat(p, query_starts), np.add.reduceat(n, query_starts)
        tp = self._running(p, P, query_starts)
        fp = self._running(n, N, query_starts)
        if self.firsts.size < p.size:
            p, n = np.add.reduceat(p, self.firsts), np.add.reduceat(n, self.firsts)
        lost = np.add.reduceat(p * (fp - n / 2.0), self.starts)
        seen = tp + fp
        precision = np.divide(tp, seen, out=np.zeros_like(tp), where=seen > 0)
        hit = np.add.reduceat(p * precision, self.starts)
        is_defined = (P > 0) & (N > 0)
        auc = 1.0 - ratio(lost, np.where(is_defined, P * N, 0.0))
        return auc, ratio(hit, np.where(is_defined, P, 0.0))

    def _running(self, weights: Floats, totals: Floats, query_starts: Ints) -> Floats:
        """Return the weight of each query's pairs down to the end of each tie group.

        Every query's total is taken off where the next one starts: a plain running sum less
        its value there would lose digits of fractional weights as the sum grows.
        """
        steps = weights.copy()
        steps[query_starts[1:]] -= totals[:-1]
        running = np.cumsum(steps)
        left = np.zeros_like(totals)
        left[1:] = running[query_starts[1:] - 1] - totals[:-1]
        return running[self.ends] - left[self.query]


def checked_pairs(
    scores: ArrayLike,
    labels: ArrayLike,
    queries: ArrayLike,
    n_queries: int,
    weights: ArrayLike | None,
) -> tuple[Floats, Floats, Ints, Floats]:
    """Return scores, labels, queries and weights as arrays of their types.

    Raises:
        ValueError: as `auc_and_ap`.
    """
    S = np.asarray(scores, dtype=np.float64)
    y = np.asarray(labels, dtype=np.float64)
    q = np.asarray(queries)
    if y.ndim != 1 or q.shape != y.shape or S.ndim != 2 or S.shape[1] != y.size:
        raise ValueError(
            f"scores {S.shape}, labels {y.shape} and queries {q.shape} are not "
            "(n_models, n_pairs), (n_pairs,) and (n_pairs,)"
        )
    if np.isnan(S).any() or np.isposinf(S).any():
        raise ValueError("scores hold NaN or +inf")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("labels must be 0 or 1")
    if q.size and (q.dtype.kind not in "iu" or q.min() < 0 or q.max() >= n_queries):
        raise ValueError(f"queries must be integers in [0, {n_queries})")
    W = np.ones((1, y.size)) if weights is None else np.asarray(weights, dtype=np.float64)
    if W.ndim != 2 or W.shape[1] != y.size:
        raise ValueError(f"weights {W.shape} are not (n_subsets, {y.size})")
    if not np.isfinite(W).all() or (W < 0).any():
        raise ValueError("weights must be finite and not negative")
    return S, y, q.astype(np.int64), W
