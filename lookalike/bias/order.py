"""How sure the order of neighbouring models is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lookalike.core.arrays import Floats
from lookalike.metrics.uncertainty import order_probabilities
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import mean_defined


@dataclass(frozen=True)
class NeighbourOrder:
    """Two neighbours of the order by macro ROC-AUC.

    Attributes:
        better: the model ranked above.
        worse: the next one.
        difference: better - worse.
        kept: share of the bootstrap samples in which it stays above; a tie counts half.
    """

    better: str
    worse: str
    difference: float
    kept: float


def order_kept(
    models: Sequence[str], values: Floats, resampling: Resampling
) -> tuple[NeighbourOrder, ...]:
    """Return each two neighbours and how often a bootstrap of the queries keeps their order.

    Args:
        models: names, n_models of them.
        values: shape (n_models, n_queries), NaN where undefined for all of them.
        resampling: bootstrap samples of the queries.

    Returns:
        n_models - 1 entries, the best models first; equal means stay in the given order.
    """
    means, _ = mean_defined(np.where(~np.isnan(values).any(axis=0), values, np.nan))
    kept = order_probabilities(models, values, resampling)
    order = np.argsort(-means, kind="stable").tolist()
    return tuple(
        NeighbourOrder(models[a], models[b], float(means[a] - means[b]), kept[models[a], models[b]])
        for a, b in pairwise(order)
    )
