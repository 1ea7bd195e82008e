"""Intervals over queries and judges: what another panel would have said is in them, too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from lookalike.core.arrays import Floats
from lookalike.stats.intervals import LEAST_QUERIES, UNDEFINED, standard_error
from lookalike.stats.proportion import Interval

FEWEST_JUDGES = 3
WHAT_VARIES = (
    "Intervals over queries and judges tell what another draw of queries, judged by another panel "
    "of as many people, would change; not another pool or another catalog."
)


def judges_interval(values: ArrayLike, by_judge: ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of a mean over queries whose labels are a panel's, both drawn anew.

    Source: two crossed samples, as readers and cases in the studies of Obuchowski and Rockette
    (Communications in Statistics 1995): the variance over queries, and that of the judges' own
    means over their number, with Satterthwaite's degrees of freedom. A majority goes by the median
    judge, whose variance is up to π/2 times that of the mean. Each judge's mean also varies with
    the queries, so the interval is rather too long where judges hardly differ. docs/measures.md
    has its coverage.

    Args:
        values: shape (n_queries,), on the panel's labels; NaN where undefined.
        by_judge: shape (n_judges, n_queries), the same on the labels of each judge alone.
        level: coverage.

    Returns:
        The interval, symmetric about the mean of `values`; undefined below `FEWEST_JUDGES`
        judges or `LEAST_QUERIES` queries for the panel or for any judge, and where nothing varies.

    >>> values = np.linspace(0.0, 0.4, 20)
    >>> alone = judges_interval(values, [values, values, values])
    >>> wider = judges_interval(values, [values - 0.1, values, values + 0.1])
    >>> round(alone.high - alone.low, 2), round(wider.high - wider.low, 2)
    (0.12, 0.54)
    """
    v, own = np.asarray(values, np.float64), np.asarray(by_judge, np.float64)
    v = v[~np.isnan(v)]
    n_judges = len(own)
    n_each = (~np.isnan(own)).sum(axis=1)
    if n_judges < FEWEST_JUDGES or min(v.size, *n_each) < LEAST_QUERIES:
        return UNDEFINED
    of_queries = standard_error(v) ** 2
    of_judges = np.pi / 2 * float(_means(own).var(ddof=1)) / n_judges
    variance = of_queries + of_judges
    if not variance > 0.0:
        return UNDEFINED
    freedom = variance**2 / (of_queries**2 / (v.size - 1) + of_judges**2 / (n_judges - 1))
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * variance**0.5
    return Interval(float(v.mean()) - half, float(v.mean()) + half)


def _means(own: Floats) -> Floats:
    """Return each judge's mean over the queries that are defined for all, or else for that one."""
    is_common = ~np.isnan(own).any(axis=0)
    used = own[:, is_common] if is_common.sum() >= LEAST_QUERIES else own
    means: Floats = np.nanmean(used, axis=1)
    return means
