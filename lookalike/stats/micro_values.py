"""What each query adds to a micro area: its values as if it were a mean over queries."""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.each import each
from lookalike.core.near_ties import first_of_ties


def micro_values(
    scores: Floats, labels: Floats, queries: Ints, n_queries: int, kept: Bools
) -> tuple[Floats, Floats]:
    """Return a value for each query whose mean is the micro ROC-AUC, and one for average precision.

    Source: jackknife pseudo-values in their linear form (Efron, The Jackknife, the Bootstrap and
    Other Resampling Plans, 1982, chapter 6): the area, plus n times its derivative by the weight
    of the query's pairs. Their standard error is that of the area over queries, and differences
    of areas are differences of them. Ties are one group, as in `auc_and_ap`.

    Args:
        scores: shape (n_models, n_pairs), higher is more similar.
        labels: shape (n_pairs,), 0 or 1; or of any size, where they are estimates of labels.
        queries: shape (n_pairs,), integers in [0, n_queries).
        n_queries: length of the last axis of the result.
        kept: shape (n_sets, n_pairs), the pairs of each label set.

    Returns:
        Two arrays of shape (n_models, n_sets, n_queries); NaN for a set without a positive or
        without a negative.
    """
    y = labels.astype(np.float64)

    def of_model(row: Floats) -> list[tuple[Floats, Floats]]:
        order = np.argsort(-row, kind="stable")
        group = np.cumsum(first_of_ties(row[order])) - 1
        sorted_pairs = (group, y[order], queries[order])
        return [_of_set(*sorted_pairs, n_queries, part[order]) for part in kept]

    found = np.array(each(of_model, list(scores))).reshape(len(scores), len(kept), 2, n_queries)
    return found[:, :, 0], found[:, :, 1]


def _of_set(
    group: Ints, y: Floats, queries: Ints, n_queries: int, kept: Bools
) -> tuple[Floats, Floats]:
    """Return both values of each query from the pairs by falling score, ties numbered alike."""
    n_groups = int(group[-1]) + 1 if group.size else 0
    p = np.bincount(group, weights=y * kept, minlength=n_groups)
    n = np.bincount(group, weights=(1.0 - y) * kept, minlength=n_groups)
    P, N = p.sum(), n.sum()
    if P == 0 or N == 0:
        nothing = np.full(n_queries, np.nan)
        return nothing, nothing
    tp, fp = np.cumsum(p), np.cumsum(n)
    above, below = tp - p / 2.0, N - fp + n / 2.0  # of positives, of negatives; ties count half
    auc = float((p * below).sum() / (P * N))
    slope_auc = y * (below / N - auc)[group] / P + (1.0 - y) * (above / P - auc)[group] / N

    all_above = np.maximum(tp + fp, 1.0)
    precision = tp / all_above
    ap = float((p * precision).sum() / P)
    gained = np.cumsum((p * fp / all_above**2)[::-1])[::-1]  # by one more positive up here
    lost = np.cumsum((p * tp / all_above**2)[::-1])[::-1]
    slope_ap = (y * (precision + gained - ap)[group] - (1.0 - y) * lost[group]) / P

    def by_query(value: float, slope: Floats) -> Floats:
        sums: Floats = np.bincount(queries, slope * kept, n_queries).astype(np.float64)
        values: Floats = value + n_queries * sums
        return values

    return by_query(auc, slope_auc), by_query(ap, slope_ap)
