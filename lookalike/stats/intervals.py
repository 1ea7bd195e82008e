"""Intervals over queries: the one place that decides what stands beside a number.

`docs/simulations/coverage.py` shows how often each of them holds the truth; `docs/measures.md` has
the table. Only another draw of queries is in them: not other judges, another pool or catalog.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.proportion import Interval, modified_wilson, score_interval
from lookalike.stats.units import Spread, unit_spread

LEAST_QUERIES = 10
FEWEST_DIFFERENT = 2
METHOD = "clustered"  # of results made now; see METHODS for those made before
METHODS = {
    "percentile": "percentile bootstrap over queries",
    "score": "score intervals over queries, of differences the studentised bootstrap; none below "
    f"{LEAST_QUERIES} queries",
    "clustered": "score intervals over independent units (queries, or their products where "
    "queries share one), of differences the studentised bootstrap; none below "
    f"{LEAST_QUERIES} units",
}
WHAT_VARIES = (
    "Intervals tell what another draw of queries would change, not other judges, another pool or "
    "another catalog."
)
FEW_QUERIES = f"fewer than {LEAST_QUERIES} queries"
FEW_UNITS = f"fewer than {LEAST_QUERIES} independent units"
ALL_EQUAL = "no query differs from another"
TOO_ALIKE = "the queries are too much alike: one more could outweigh their spread"
OUTWEIGHED = 0.15  # of a mean between 0 and 1: what one more query may be off
UNDEFINED = Interval.blank("")
_SAME = 1e-12


def mean_interval(
    values: ArrayLike, level: float = 0.95, *, groups: ArrayLike | None = None
) -> Interval:
    """Return the interval of a mean of values between 0 and 1.

    Source: Wilson (JASA 1927). Of zeros and ones with the ends near 0 and 1 of Brown, Cai and
    DasGupta (see `modified_wilson`). For other values, and for values in groups, the number of
    yes-no answers is the one with the same standard error (see `statistic_interval`); in groups
    it is cluster-robust (see `unit_spread`). Where few units make most of the spread, t lies
    halfway between its values for the usual and for Satterthwaite's degrees of freedom. Closed,
    and inside [0, 1].

    Args:
        values: shape (n,), in [0, 1]; NaN where undefined.
        level: coverage.
        groups: shape (n,), the independent unit of each value, such as the product of a query or
            the query of a pair; None: each value is a unit.

    Returns:
        The interval; blank below `LEAST_QUERIES` units, where all values are the same number
        between 0 and 1, and where one more unit that is `OUTWEIGHED` off would move the mean by
        more than its standard error: a rare failure that is not in the sample would outweigh it.

    Raises:
        ValueError: a level outside (0, 1), or an infinite value.

    >>> round(mean_interval([1.0] * 20).low, 3)
    0.839
    >>> round(mean_interval([1.0] * 20, groups=[unit // 2 for unit in range(20)]).low, 3)
    0.722
    """
    require_level(level)
    v = np.asarray(values, dtype=np.float64)
    is_defined = ~np.isnan(v)
    v = v[is_defined]
    if np.isinf(v).any():
        raise ValueError("a value is infinite; the values must lie between 0 and 1")
    spread = unit_spread(v, None if groups is None else np.asarray(groups)[is_defined])
    if spread.n_units < LEAST_QUERIES:
        return few_units(v.size)
    if spread.mean in (0.0, 1.0) or (spread.n_units == v.size and np.isin(v, (0.0, 1.0)).all()):
        return modified_wilson(round(spread.mean * spread.n_units), spread.n_units, level)
    if _SAME < spread.error * spread.n_units < OUTWEIGHED:
        return Interval.blank(TOO_ALIKE)
    return spread_interval(spread.mean, spread, level)


def few_units(n_queries: int) -> Interval:
    """Return the blank for too small a sample."""
    return Interval.blank(FEW_QUERIES if n_queries < LEAST_QUERIES else FEW_UNITS)


def spread_interval(value: float, spread: Spread, level: float = 0.95) -> Interval:
    """Return the interval of a statistic between 0 and 1 with the spread of its linear form.

    As `statistic_interval`, with t halfway between its values for both degrees of freedom.
    """
    require_level(level)
    freedoms = [spread.freedom, max(spread.tail_freedom, 2.0)]
    t = float(np.mean(stdtrit(freedoms, (1.0 + level) / 2.0)))
    return _score_interval(value, spread.error, spread.n_units, t)


def statistic_interval(
    value: float,
    error: float,
    n_units: int,
    level: float = 0.95,
    freedom: float | None = None,
) -> Interval:
    """Return the interval of any statistic between 0 and 1 from its standard error.

    Wilson's interval with t in place of z, for the number of yes-no answers that would have this
    standard error: value (1 - value) / error².

    Args:
        value: in [0, 1].
        error: its standard error.
        n_units: independent units behind it.
        level: coverage.
        freedom: degrees of freedom of its error; None: one less than units.

    Returns:
        The interval; blank below `LEAST_QUERIES` units, without an error, and at 0 or 1.
    """
    require_level(level)
    t = float(stdtrit(n_units - 1 if freedom is None else freedom, (1.0 + level) / 2.0))
    return _score_interval(value, error, n_units, t)


def _score_interval(value: float, error: float, n_units: int, t: float) -> Interval:
    if n_units < LEAST_QUERIES:
        return Interval.blank(FEW_UNITS)
    if not error > _SAME or not 0.0 < value < 1.0:
        return Interval.blank(ALL_EQUAL)
    size = value * (1.0 - value) / error**2
    return score_interval(value * size, size, t * t)


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


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean, shape (n,) with n > 1."""
    return float(values.std(ddof=1) / np.sqrt(values.size))


def require_level(level: float) -> None:
    """Refuse a level of coverage outside (0, 1)."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, as 0.95")
