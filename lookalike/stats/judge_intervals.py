"""Intervals over queries and judges: what another panel would have said is in them, too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from lookalike.core.arrays import Floats
from lookalike.stats.intervals import ALL_EQUAL, LEAST_QUERIES, few_units
from lookalike.stats.proportion import Interval
from lookalike.stats.units import unit_spread

FEWEST_JUDGES = 5
FEW_JUDGES = f"fewer than {FEWEST_JUDGES} judges"
WHAT_VARIES = (
    "Intervals over queries and judges tell what another draw of queries, judged by another panel "
    "of as many people, would change; not another pool or another catalog."
)


def judges_interval(
    values: ArrayLike,
    by_judge: ArrayLike,
    level: float = 0.95,
    *,
    groups: ArrayLike | None = None,
) -> Interval:
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
        groups: shape (n_queries,), the independent unit of each query; None: each is one.

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
    is_defined = ~np.isnan(v)
    n_judges = len(own)
    n_each = (~np.isnan(own)).sum(axis=1)
    if n_judges < FEWEST_JUDGES:
        return Interval.blank(FEW_JUDGES)
    spread = unit_spread(v[is_defined], None if groups is None else np.asarray(groups)[is_defined])
    if min(spread.n_units, *n_each) < LEAST_QUERIES:
        return few_units(min(int(is_defined.sum()), *n_each))
    of_queries = spread.error**2
    of_judges = np.pi / 2 * _variance(own) / n_judges
    variance = of_queries + of_judges
    if not variance > 0.0:
        return Interval.blank(ALL_EQUAL)
    freedom = variance**2 / (of_queries**2 / spread.freedom + of_judges**2 / (n_judges - 1))
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * variance**0.5
    return Interval(spread.mean - half, spread.mean + half)


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
