"""What a micro ROC-AUC is made of: pairs within a query and pairs across queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Floats
from lookalike.stats.defined_values import ratio
from lookalike.stats.roc_auc import AucAp


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

    Source: of all wins of positives over negatives (Mann-Whitney), those within queries are the
    sum of AUC_q P_q N_q, so nothing needs to be counted again. A part without any
    positive-negative pair is NaN.

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
