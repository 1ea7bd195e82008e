"""What a micro ROC-AUC is made of: pairs within a query and pairs across queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats
from lookalike.stats.grouped_auc import AucAp, checked_pairs, ratio


@dataclass(frozen=True)
class MicroSplit:
    """The two parts of a micro ROC-AUC: micro = share * within + (1 - share) * cross.

    Attributes:
        within: shape (n_models, n_subsets), positive and negative of the same query.
        cross: shape (n_models, n_subsets), positive and negative of different queries.
        share: shape (n_subsets,), the part of all positive-negative pairs that is within.
    """

    within: Floats
    cross: Floats
    share: Floats


def micro_split(per_query: AucAp, micro: AucAp) -> MicroSplit:
    """Split the micro ROC-AUC into its within-query and its cross-query part.

    Source: the trace of the U matrix (see `u_matrix`) is the sum of AUC_q P_q N_q, so the
    split needs no matrix. A part without any positive-negative pair is NaN.

    Args:
        per_query: result of `auc_and_ap`.
        micro: result of `micro_auc_and_ap` on the same scores, labels and weights.

    Returns:
        The two parts and the share of the first.
    """
    n_within = per_query.n_positive * per_query.n_negative
    total_within = n_within.sum(axis=1)
    total = micro.n_positive[:, 0] * micro.n_negative[:, 0]
    won_within = np.where(n_within > 0, np.nan_to_num(per_query.auc) * n_within, 0.0).sum(axis=2)
    won = np.nan_to_num(micro.auc[:, :, 0]) * total
    return MicroSplit(
        within=ratio(won_within, total_within),
        cross=ratio(won - won_within, total - total_within),
        share=ratio(total_within, total),
    )


def u_matrix(
    scores: ArrayLike,
    labels: ArrayLike,
    queries: ArrayLike,
    n_queries: int,
    weights: ArrayLike | None = None,
) -> Floats:
    """Return U[a, b]: how many positives of query a beat negatives of query b (a tie is half).

    Source: Mann-Whitney, per pair of queries. The micro ROC-AUC of a bootstrap sample with
    multiplicities c is c'Uc / ((c'P)(c'N)), exactly.

    Args:
        scores: shape (n_pairs,), as one row of `auc_and_ap`.
        labels: shape (n_pairs,), 0 or 1.
        queries: shape (n_pairs,), integers in [0, n_queries).
        n_queries: size of the matrix.
        weights: shape (n_pairs,), >= 0, or None.

    Returns:
        Shape (n_queries, n_queries); its trace is the within-query part.

    Raises:
        ValueError: as `auc_and_ap`.
    """
    row = None if weights is None else np.asarray(weights, dtype=np.float64)[None, :]
    S, y, q, W = checked_pairs(np.asarray(scores)[None, :], labels, queries, n_queries, row)
    s, w = S[0], W[0]
    U = np.zeros((n_queries, n_queries))
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    if positive.size == 0 or negative.size == 0:
        return U
    positive = positive[np.argsort(q[positive], kind="stable")]
    negative = negative[np.argsort(q[negative], kind="stable")]
    ranked = np.sort(s[negative])
    below = np.searchsorted(ranked, s[positive], side="left")
    up_to = np.searchsorted(ranked, s[positive], side="right")
    place = np.searchsorted(ranked, s[negative], side="left")  # one place per tie group
    columns, starts = np.unique(q[negative], return_index=True)
    bounds = np.searchsorted(q[positive], np.arange(n_queries + 1))
    for a in np.flatnonzero(np.diff(bounds)):
        mine = slice(bounds[a], bounds[a + 1])
        half = w[positive[mine]] / 2.0
        steps = np.bincount(below[mine], weights=half, minlength=ranked.size + 1)
        steps += np.bincount(up_to[mine], weights=half, minlength=ranked.size + 1)
        n_above = steps[::-1].cumsum()[::-1]  # at i: positives with at least i negatives below
        U[a, columns] = np.add.reduceat(n_above[place + 1] * w[negative], starts)
    return U
