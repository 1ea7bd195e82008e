"""Intervals of estimates from pools judged in part, where a rare find can weigh much."""

from __future__ import annotations

import numpy as np
from scipy.special import fdtri, stdtrit

from lookalike.core.arrays import Floats
from lookalike.stats.intervals import LEAST_QUERIES, UNDEFINED, statistic_interval
from lookalike.stats.proportion import Interval, score_interval
from lookalike.stats.units import kurtosis_freedom


def estimate_interval(
    value: float, by_query: Floats, beside: float, level: float, *, n_queries: int | None = None
) -> Interval:
    """Return the interval of an estimate, inside [0, 1]; see `statistic_interval`.

    Where few queries make most of the spread, by a rare find among unlikely pairs, it is known as
    badly as from few values: degrees of freedom follow from the kurtosis, since the variance of a
    variance does (Satterthwaite, Biometrics Bulletin 1946).

    Args:
        value: of the measure.
        by_query: shape (n_queries,), in linear form.
        beside: a standard error of something else that it shall hold, too.
        level: coverage.
        n_queries: that there would be of this spread; None: those there are.
    """
    n = by_query.size if n_queries is None else n_queries
    error = float(np.hypot(by_query.std(ddof=1) / np.sqrt(n), beside))
    return statistic_interval(value, error, n, level, _freedom(by_query, 1.0, n))


def yes_no_interval(
    value: float, by_query: Floats, beside: float, level: float, *, n_queries: int | None = None
) -> Interval:
    """Return the interval of an estimate that is yes or no at each query where all is judged.

    It is no surer than as many yes-no answers, whatever the spread: where hardly a query fails,
    the failures may be those that nobody has judged. Arguments are those of `estimate_interval`;
    the value may be outside of [0, 1].
    """
    n = by_query.size if n_queries is None else n_queries
    if n < LEAST_QUERIES or np.isnan(value):
        return UNDEFINED
    share = min(max(value, 0.0), 1.0)
    inside = (share * n + 0.5) / (n + 1.0)  # neither all nor none
    variance = inside * (1.0 - inside)
    size = variance / (max(float(by_query.var(ddof=1)), variance) / n + beside**2)
    t = float(stdtrit(_freedom(by_query, 1.0 / variance - 3.0, n), (1.0 + level) / 2.0))
    return score_interval(share * size, size, t * t)


def width_range(
    by_query: Floats, n_pilot: int, n_queries: int, level: float
) -> tuple[float, float]:
    """Return which multiples of a width forecast the width that comes may be, at that level.

    The variances of two samples of one world have the ratio F (Snedecor), each with the degrees
    of freedom that its kurtosis leaves. What comes is taken for a sample beside the pilot: where
    the pilot is a part of it, the range is too wide.

    Args:
        by_query: shape (n,), in linear form, of the pilot.
        n_pilot: queries behind it, which may have been tried several times.
        n_queries: of the campaign to come.
        level: how often widths are to come within.
    """
    come, pilot = (_freedom(by_query, 1.0, n) for n in (n_queries, n_pilot))
    tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    low, high = (float(np.sqrt(fdtri(come, pilot, tail))) for tail in tails)
    return low, high


def _freedom(by_query: Floats, kurtosis: float, n: int) -> float:
    return kurtosis_freedom(by_query - by_query.mean(), kurtosis, n)
