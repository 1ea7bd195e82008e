"""Intervals over queries: the one place that decides what stands beside a number.

`docs/simulations/coverage.py` shows how often each of them holds the truth; `docs/measures.md` has
the table. Only another draw of queries is in them: not other judges, another pool or catalog.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.proportion import Interval, score_interval, wilson

LEAST_QUERIES = 10
METHOD = "score"  # of results made now; those before were "percentile"
METHODS = {
    "percentile": "percentile bootstrap over queries",
    "score": "score intervals over queries, of differences the studentised bootstrap; none below "
    f"{LEAST_QUERIES} queries",
}
WHAT_VARIES = (
    "Intervals tell what another draw of queries would change, not other judges, another pool or "
    "another catalog."
)
UNDEFINED = Interval(float("nan"), float("nan"))
_SAME = 1e-12


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of a mean over queries of a measure between 0 and 1.

    Source: Wilson (JASA 1927). Zeros and ones are his case; of other values as many answers are
    taken as would spread as much (see `statistic_interval`). Closed, and inside [0, 1].

    Args:
        values: shape (n_queries,), in [0, 1]; NaN where undefined.
        level: coverage.

    Returns:
        The interval; undefined below `LEAST_QUERIES` defined queries, and where all values are
        one and the same between 0 and 1.

    >>> round(mean_interval([1.0] * 20).low, 3)
    0.839
    """
    v = np.asarray(values, dtype=np.float64)
    v = v[~np.isnan(v)]
    if v.size < LEAST_QUERIES:
        return UNDEFINED
    if np.isin(v, (0.0, 1.0)).all():
        return wilson(int(v.sum()), v.size, level)
    return statistic_interval(float(v.mean()), standard_error(v), v.size, level)


def statistic_interval(value: float, error: float, n_queries: int, level: float = 0.95) -> Interval:
    """Return the interval of any statistic between 0 and 1 from its standard error over queries.

    Wilson's interval with t in place of z, for the number of yes-no answers that would have this
    standard error: value (1 - value) / error².

    Args:
        value: in [0, 1].
        error: its standard error.
        n_queries: behind it.
        level: coverage.

    Returns:
        The interval; undefined below `LEAST_QUERIES`, without an error, and at 0 or 1.
    """
    if n_queries < LEAST_QUERIES or not error > _SAME or not 0.0 < value < 1.0:
        return UNDEFINED
    size = value * (1.0 - value) / error**2
    t = float(stdtrit(n_queries - 1, (1.0 + level) / 2.0))
    return score_interval(value * size, size, t * t)


def share_interval(is_part: Bools, queries: Ints, level: float = 0.95) -> Interval:
    """Return the interval of a share of pairs, those of one query belonging together.

    Source: the standard error of a ratio of totals (Cochran, Sampling Techniques, 1977, section
    6.4), which `statistic_interval` takes.

    Args:
        is_part: shape (n_pairs,), of which the share is.
        queries: shape (n_pairs,), the query of each.
        level: coverage.
    """
    _, codes = np.unique(queries, return_inverse=True)
    n_pairs = np.bincount(codes)
    if n_pairs.size < LEAST_QUERIES:
        return UNDEFINED
    share = float(np.mean(is_part))
    beyond = (np.bincount(codes, weights=is_part) - share * n_pairs) / n_pairs.mean()
    return statistic_interval(share, standard_error(beyond), n_pairs.size, level)


def difference_intervals(
    differences: ArrayLike, counts: Floats, level: float = 0.95
) -> list[Interval]:
    """Return the intervals of mean differences over queries, of any sign.

    Source: the symmetric studentised bootstrap (Hall, Annals of Statistics 1988). Where all
    differences are -1, 0 or 1, as of yes-no measures, the adjusted Wald interval of Bonett and
    Price (Journal of Educational and Behavioral Statistics 2012), which resampling cannot match.

    Args:
        differences: shape (n_queries, n_columns), NaN where undefined.
        counts: shape (n_bootstraps, n_queries), from `lookalike.stats.bootstrap.query_counts`.
        level: coverage.

    Returns:
        One for each column; undefined below `LEAST_QUERIES` queries, without bootstraps, where no
        query differs, and where so few differ that too many samples hold none of them.
    """
    d = np.asarray(differences, dtype=np.float64)
    return [_difference_interval(column, counts, level) for column in d.T]


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean, shape (n,) with n > 1."""
    return float(values.std(ddof=1) / np.sqrt(values.size))


def _difference_interval(d: Floats, counts: Floats, level: float) -> Interval:
    kept = ~np.isnan(d)
    d, n = d[kept], int(kept.sum())
    if n < LEAST_QUERIES:
        return UNDEFINED
    if np.isin(d, (-1.0, 0.0, 1.0)).all():
        padded = np.append(d, (1.0, -1.0))
        half = float(ndtri((1.0 + level) / 2.0)) * float(padded.std()) / padded.size**0.5
        return Interval(max(-1.0, padded.mean() - half), min(1.0, padded.mean() + half))
    spread = standard_error(d)
    if not counts.size or not spread > _SAME:
        return UNDEFINED
    centred = d - d.mean()
    drawn = counts[:, kept]
    size = np.maximum(drawn.sum(axis=1), 2.0)
    means = drawn @ centred / size
    variance = np.maximum(drawn @ centred**2 / size - means**2, 0.0) / (size - 1.0)
    has_spread = variance > (_SAME * spread) ** 2
    t = np.where(has_spread, np.abs(means) / np.sqrt(np.where(has_spread, variance, 1.0)), np.inf)
    half = float(np.quantile(t, level, method="higher")) * spread
    return Interval(d.mean() - half, d.mean() + half) if np.isfinite(half) else UNDEFINED
