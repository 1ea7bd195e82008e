"""Intervals over queries and judges: what another panel would have said is in them, too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from lookalike.core.arrays import Floats
from lookalike.stats.intervals import LEAST_QUERIES, UNDEFINED, standard_error
from lookalike.stats.proportion import Interval

FEWEST_JUDGES = 5
WHAT_VARIES = (
    "Intervals over queries and judges tell what another draw of queries, judged by another panel "
    "of as many people, would change; not another pool or another catalog."
)


def judges_interval(values: ArrayLike, by_judge: ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of a mean over queries whose labels are a panel's, both drawn anew.

    Source: two crossed samples, as readers and cases in the studies of Obuchowski and Rockette
    (Communications in Statistics 1995): the variance over queries, and that of the judges' own
    means over their number, with Satterthwaite's degrees of freedom. A majority goes by the median
    judge, whose variance is up to π/2 times that of the mean. Judges who are alike have different
    means, too, by chance; of what that brings, (J - 3)/(J - 1) is taken off for J judges, as Efron
    and Morris do (JASA 1975), since few judges tell it badly. Of three or four judges no interval
    holds, be they alike or not. docs/measures.md has the coverage.

    Args:
        values: shape (n_queries,), on the panel's labels; NaN where undefined.
        by_judge: shape (n_judges, n_queries), the same on the labels of each judge alone.
        level: coverage.

    Returns:
        The interval, symmetric about the mean of `values`; undefined below `FEWEST_JUDGES`
        judges or `LEAST_QUERIES` queries for the panel or for any judge, and where nothing varies.

    >>> values = np.linspace(0.0, 0.4, 20)
    >>> alone = judges_interval(values, [values] * 5)
    >>> wider = judges_interval(values, [values + x for x in (-0.1, -0.1, 0, 0.1, 0.1)])
    >>> round(alone.high - alone.low, 2), round(wider.high - wider.low, 2)
    (0.12, 0.3)
    """
    v, own = np.asarray(values, np.float64), np.asarray(by_judge, np.float64)
    v = v[~np.isnan(v)]
    n_judges = len(own)
    n_each = (~np.isnan(own)).sum(axis=1)
    if n_judges < FEWEST_JUDGES or min(v.size, *n_each) < LEAST_QUERIES:
        return UNDEFINED
    of_queries = standard_error(v) ** 2
    of_judges = np.pi / 2 * _variance(own) / n_judges
    variance = of_queries + of_judges
    if not variance > 0.0:
        return UNDEFINED
    freedom = variance**2 / (of_queries**2 / (v.size - 1) + of_judges**2 / (n_judges - 1))
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * variance**0.5
    return Interval(float(v.mean()) - half, float(v.mean()) + half)


def _variance(own: Floats) -> float:
    """Return the variance of judges' means over the queries defined for all, or else for each."""
    is_common = ~np.isnan(own).any(axis=0)
    if is_common.sum() < LEAST_QUERIES:
        return float(np.nanmean(own, axis=1).var(ddof=1))
    common = own[:, is_common]
    n_judges, n_queries = common.shape
    means = common.mean(axis=1)
    beyond = common - means[:, None] - common.mean(axis=0) + means.mean()
    by_chance = float((beyond**2).sum()) / (n_judges - 1) / (n_queries - 1) / n_queries
    shrunk = (n_judges - 3) / (n_judges - 1) * by_chance
    return float(max(means.var(ddof=1) - shrunk, 0.0))
