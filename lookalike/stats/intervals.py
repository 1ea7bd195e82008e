"""Intervals over queries: the one place that decides what stands beside a number.

`docs/simulations/coverage.py` shows how often each of them holds the truth; `docs/measures.md` has
the table. Only another draw of queries is in them: not other judges, another pool or catalog.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.proportion import Interval, modified_wilson, score_interval

LEAST_QUERIES = 10
FEWEST_DIFFERENT = 2
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
_HALVINGS = 60  # of an interval inside [-1, 1], down to rounding errors


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of a mean over queries of a measure between 0 and 1.

    Source: Wilson (JASA 1927), of zeros and ones mended by Brown, Cai and DasGupta (see
    `modified_wilson`); of other values as many answers are taken as would spread as much (see
    `statistic_interval`). Closed, and inside [0, 1].

    Args:
        values: shape (n_queries,), in [0, 1]; NaN where undefined.
        level: coverage.

    Returns:
        The interval; undefined below `LEAST_QUERIES` defined queries, and where all values are
        one and the same between 0 and 1.

    Raises:
        ValueError: a level outside (0, 1), or an infinite value.

    >>> round(mean_interval([1.0] * 20).low, 3)
    0.839
    """
    _require_level(level)
    v = np.asarray(values, dtype=np.float64)
    v = v[~np.isnan(v)]
    if np.isinf(v).any():
        raise ValueError("a value is infinite; the values must lie between 0 and 1")
    if v.size < LEAST_QUERIES:
        return UNDEFINED
    if np.isin(v, (0.0, 1.0)).all():
        return modified_wilson(int(v.sum()), v.size, level)
    return statistic_interval(float(v.mean()), standard_error(v), v.size, level)


def statistic_interval(
    value: float,
    error: float,
    n_queries: int,
    level: float = 0.95,
    freedom: float | None = None,
) -> Interval:
    """Return the interval of any statistic between 0 and 1 from its standard error over queries.

    Wilson's interval with t in place of z, for the number of yes-no answers that would have this
    standard error: value (1 - value) / error².

    Args:
        value: in [0, 1].
        error: its standard error.
        n_queries: behind it.
        level: coverage.
        freedom: degrees of freedom of its error; None: one less than queries.

    Returns:
        The interval; undefined below `LEAST_QUERIES`, without an error, and at 0 or 1.
    """
    _require_level(level)
    if n_queries < LEAST_QUERIES or not error > _SAME or not 0.0 < value < 1.0:
        return UNDEFINED
    size = value * (1.0 - value) / error**2
    t = float(stdtrit(n_queries - 1 if freedom is None else freedom, (1.0 + level) / 2.0))
    return score_interval(value * size, size, t * t)


def share_interval(is_part: Bools, queries: Ints, level: float = 0.95) -> Interval:
    """Return the interval of a share of pairs, those of one query belonging together.

    Args:
        is_part: shape (n_pairs,), of which the share is.
        queries: shape (n_pairs,), the query of each.
        level: coverage.
    """
    return grouped_interval(is_part, queries, level)


def grouped_interval(values: ArrayLike, groups: ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of a mean of values from 0 to 1, those of one group belonging together.

    Source: the standard error of a ratio of totals (Cochran, Sampling Techniques, 1977, section
    6.4), which `statistic_interval` takes.

    Args:
        values: shape (n,), NaN where undefined.
        groups: shape (n,), such as the query of each pair, or the product of each photo.
        level: coverage.

    Returns:
        The interval; undefined below `LEAST_QUERIES` groups, and where they do not differ.
    """
    _require_level(level)
    v = np.asarray(values, dtype=np.float64)
    kept = ~np.isnan(v)
    _, codes = np.unique(np.asarray(groups)[kept], return_inverse=True)
    sizes = np.bincount(codes)
    if sizes.size < LEAST_QUERIES:
        return UNDEFINED
    mean = float(v[kept].mean())
    beyond = (np.bincount(codes, weights=v[kept]) - mean * sizes) / sizes.mean()
    return statistic_interval(mean, standard_error(beyond), sizes.size, level)


def independent_pairs(is_part: Bools, queries: Ints, level: float = 0.95) -> float:
    """Return how many independent pairs would tell a share as surely as these pairs of queries.

    Source: Korn and Graubard (Survey Methodology 1998), the pairs over their design effect, with t
    for as many pairs over t for as many queries. One more query of average size, half of it part
    of the share, counts in the spread: few parts would hide that they come together.

    Args:
        is_part: shape (n_pairs,), of which the share is.
        queries: shape (n_pairs,), the query of each.
        level: of the one-sided bound that is made of it.

    Returns:
        At most n_pairs.
    """
    n = is_part.size
    if n < FEWEST_DIFFERENT:
        return float(n)
    _, codes = np.unique(queries, return_inverse=True)
    n_pairs = np.bincount(codes)
    mean = n_pairs.mean()
    parts = np.append(np.bincount(codes, weights=is_part), mean / 2)
    n_pairs = np.append(n_pairs, mean)
    share = float(parts.sum() / n_pairs.sum())
    error = standard_error((parts - share * n_pairs) / mean)
    if not error > _SAME:
        return float(n)
    ratio = stdtrit(n - 1, level) / stdtrit(n_pairs.size - 1, level)
    return float(min(n, share * (1.0 - share) * (ratio / error) ** 2))


def difference_intervals(
    differences: ArrayLike, counts: Floats, level: float = 0.95, *, is_yes_no: bool = False
) -> list[Interval]:
    """Return the intervals of mean differences over queries, of any sign.

    Source: the symmetric studentised bootstrap (Hall, Annals of Statistics 1988). To every squared
    standard error, of the sample and of the bootstrap samples, an n-th of the sample's is added, so
    that a bootstrap sample of queries that hardly differ does not decide by its near-zero error.
    Of yes-no measures: Tango's score interval (see `paired_score_interval`), which resampling
    cannot match.

    Args:
        differences: shape (n_queries, n_columns), NaN where undefined.
        counts: shape (n_bootstraps, n_queries), from `lookalike.stats.bootstrap.query_counts`.
        level: coverage.
        is_yes_no: whether the measure itself is 0 or 1 at every query, so that a difference is
            -1, 0 or 1. Differences that happen to be so say nothing of the measure.

    Returns:
        One for each column; undefined below `LEAST_QUERIES` queries and, but for yes-no
        measures, without bootstraps and where fewer than two queries differ.
    """
    _require_level(level)
    d = np.asarray(differences, dtype=np.float64)
    if is_yes_no:
        return [_yes_no_interval(column[~np.isnan(column)], level) for column in d.T]
    kept = ~np.isnan(d)

    @lru_cache(1)  # mostly they are the same for all columns
    def drawn(rows: bytes) -> Floats:
        return counts[:, np.frombuffer(rows, np.bool_)]

    return [
        _difference_interval(column[rows], partial(drawn, rows.tobytes()), level)
        for column, rows in zip(d.T, kept.T, strict=True)
    ]


def paired_score_interval(n_more: int, n_less: int, n: int, level: float = 0.95) -> Interval:
    """Return the interval of the difference of two shares of yes answers to the same questions.

    Source: Tango (Statistics in Medicine 1998): all differences that the score test does not
    reject, with the share of changed answers that is then the likeliest.

    Args:
        n_more: questions that only the first answers with yes.
        n_less: questions that only the second answers with yes.
        n: questions.
        level: coverage.

    Returns:
        The interval inside [-1, 1]; also where no answer differs.

    >>> interval = paired_score_interval(6, 2, 30)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.06, 0.326)
    """
    _require_level(level)
    z = float(ndtri((1.0 + level) / 2.0))
    found = (n_more - n_less) / n

    def beyond(difference: float) -> float:
        """Return by how much the score's square exceeds z², times its variance."""
        linear = (2 * n - n_more + n_less) * difference - n_more - n_less
        constant = n_less * difference * (difference - 1.0)
        root = max(linear**2 - 8.0 * n * constant, 0.0) ** 0.5
        less = (root - linear) / (4.0 * n)
        variance = n * (2.0 * less + difference * (1.0 - difference))
        return float(n**2 * (found - difference) ** 2 - z**2 * variance)

    def end(limit: float) -> float:
        near, far = found + (limit - found) * _SAME, limit  # at `found` itself nothing may vary
        if beyond(far) * beyond(near) >= 0.0:
            return limit
        is_beyond = beyond(far) > 0.0
        for _ in range(_HALVINGS):  # scipy.optimize takes longer to load, for every page
            middle = (near + far) / 2.0
            near, far = (near, middle) if (beyond(middle) > 0.0) == is_beyond else (middle, far)
        return (near + far) / 2.0

    return Interval(end(-1.0), end(1.0))


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean, shape (n,) with n > 1."""
    return float(values.std(ddof=1) / np.sqrt(values.size))


def _require_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, as 0.95")


def _yes_no_interval(d: Floats, level: float) -> Interval:
    if d.size < LEAST_QUERIES:
        return UNDEFINED
    return paired_score_interval(int((d > 0).sum()), int((d < 0).sum()), d.size, level)


def _difference_interval(d: Floats, draw: Callable[[], Floats], level: float) -> Interval:
    n = d.size
    if n < LEAST_QUERIES:
        return UNDEFINED
    spread = standard_error(d)
    if not spread > _SAME or (d != 0.0).sum() < FEWEST_DIFFERENT or not (drawn := draw()).size:
        return UNDEFINED
    least = spread**2 / n
    centred = d - d.mean()
    size = np.maximum(drawn.sum(axis=1), 2.0)
    means = drawn @ centred / size
    variance = np.maximum(drawn @ centred**2 / size - means**2, 0.0) / (size - 1.0)
    t = np.abs(means) / np.sqrt(variance + least)
    half = float(np.quantile(t, level, method="higher")) * float(np.sqrt(spread**2 + least))
    return Interval(d.mean() - half, d.mean() + half)
