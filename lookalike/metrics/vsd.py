"""The two measures of the VSD benchmark as its official code computes them.

Source: vsd-benchmark/vsd at c08e8d9. They are not what its paper (section 6.3) or any library
calls HR and MRR, hence the prefix. Feed them `rank_run(..., one_per_product=True)`: the code
keeps the best-ranked image of each product and none of the query's own, so a positive that a
sibling image precedes can never be found. An image without a product is one of its own; where no
product is known at all, nobody is shown them (`measures.known_measures`).
"""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Floats
from lookalike.metrics.rank import JudgedRanks
from lookalike.metrics.retrieval import precision
from lookalike.stats.defined_values import ratio

OFFICIAL_DEPTH = 9  # the largest k that the official code reports, and where it cuts its lists


def vsd_hit_rate(ranks: JudgedRanks, k: int) -> Floats:
    """Return hits in the top k over k, per query with a positive: precision, not a hit rate.

    The mean over defined queries is the official HR@k. The ceiling is below 1 where a query has
    fewer than k positives.
    """
    return precision(ranks, k)


def vsd_reciprocal_rank(ranks: JudgedRanks, k: int) -> Floats:
    """Return the sum of 1 / rank over all positives in the top k, over 1 + 1/2 + ... + 1/k.

    The mean over defined queries is the official MRR@k.
    """
    values = _reciprocals(ranks, k) / np.sum(1.0 / np.arange(1, k + 1))
    return np.where(ranks.count(1) > 0, values, np.nan)


def vsd_pair_reciprocal_rank(ranks: JudgedRanks, depth: int = OFFICIAL_DEPTH) -> float:
    """Return the official uncut "mrr": the mean over positive pairs of 1 / rank.

    Uncut in name only: the code's lists end at the largest k asked for, and a positive below
    counts 0. NaN without any positive.
    """
    return float(ratio(_reciprocals(ranks, depth).sum(), ranks.count(1).sum()))


def _reciprocals(ranks: JudgedRanks, k: int) -> Floats:
    is_hit = (ranks.labels == 1) & (ranks.ranks > 0) & (ranks.ranks <= k)
    return ranks.total(is_hit, 1.0 / ranks.ranks[is_hit])
