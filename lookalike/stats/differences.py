"""Intervals of mean differences between two models over the same queries."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from lookalike.core.arrays import Floats, Ints
from lookalike.stats.intervals import (
    LEAST_QUERIES,
    few_units,
    require_level,
)
from lookalike.stats.proportion import Interval
from lookalike.stats.units import Spread, Units, effective_number, unit_spread, unit_sums

ENOUGH_DIFFERENT = 20
FEW_DIFFERENT = "too few queries with a difference"
TOO_ALIKE = "the differences are too much alike: one more query could outweigh their spread"
FEW_CARRY = "a few queries carry the difference"
SURE_TO_SEE = 59  # units: of failures at one in twenty, one is seen with a chance of 95 %
LEAST_DEVIATION = 0.06  # below that: standard deviation of the units
LEAST_CARRIERS = 0.3  # likewise: share of the units that carry the spread, by effective number
_SAME = 1e-12
_HALVINGS = 60  # of an interval inside [-1, 1], down to rounding errors


def difference_intervals(
    differences: ArrayLike,
    counts: Floats,
    level: float = 0.95,
    *,
    is_yes_no: bool = False,
    units: Units | None = None,
) -> list[Interval]:
    """Return the intervals of mean differences over queries, of any sign.

    Source: the symmetric studentised bootstrap (Hall, Annals of Statistics 1988) over units. To
    every squared standard error, of the sample and of the bootstrap samples, an n-th of the
    sample's is added, so that a bootstrap sample of queries that hardly differ does not decide by
    its near-zero error. Of yes-no measures: Tango's score interval (see `paired_score_interval`),
    which resampling cannot match.

    Args:
        differences: shape (n_queries, n_columns), NaN where undefined.
        counts: shape (n_bootstraps, n_queries), from `lookalike.stats.bootstrap.query_counts`,
            drawn by the same units.
        level: coverage.
        is_yes_no: whether the measure itself is 0 or 1 at every query, so that a difference is
            -1, 0 or 1. Differences that happen to be so say nothing of the measure.
        units: of the queries; None: each query is a unit.

    Returns:
        One for each column; blank below `LEAST_QUERIES` units and, but for yes-no measures,
        without bootstraps and where `blank_reason` says why.
    """
    require_level(level)
    d = np.asarray(differences, dtype=np.float64)
    codes = np.arange(len(d)) if units is None else units.codes
    kept = ~np.isnan(d)
    if is_yes_no:
        return [
            _yes_no_interval(column[rows], codes[rows], level)
            for column, rows in zip(d.T, kept.T, strict=True)
        ]

    @lru_cache(1)  # mostly they are the same for all columns
    def drawn(rows: bytes) -> Floats:
        chosen = np.flatnonzero(np.frombuffer(rows, np.bool_))
        _, first = np.unique(codes[chosen], return_index=True)
        return counts[:, chosen[first]]

    return [
        _difference_interval(column[rows], codes[rows], partial(drawn, rows.tobytes()), level)
        for column, rows in zip(d.T, kept.T, strict=True)
    ]


def paired_score_interval(
    n_more: float, n_less: float, n: float, level: float = 0.95, freedom: float = float("inf")
) -> Interval:
    """Return the interval of the difference of two shares of yes answers to the same questions.

    Source: Tango (Statistics in Medicine 1998): all differences that the score test does not
    reject, with the share of changed answers that is then the likeliest.

    Args:
        n_more: questions that only the first answers with yes.
        n_less: questions that only the second answers with yes.
        n: questions; not whole where they are an effective number.
        level: coverage.
        freedom: degrees of freedom of t in place of the normal distribution.

    Returns:
        The interval inside [-1, 1]; also where no answer differs.

    >>> interval = paired_score_interval(6, 2, 30)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.06, 0.326)
    """
    require_level(level)
    z = float(stdtrit(freedom, (1.0 + level) / 2.0))
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


def blank_reason(d: Floats, codes: Ints, spread: Spread) -> str:
    """Return why a mean difference has no interval, "" if it has one.

    Units without a difference say nothing of the spread of the others, so `ENOUGH_DIFFERENT`
    units with one are needed where most have none. Below `SURE_TO_SEE` units a failure at one
    query in twenty is easily missed, and nothing shows it: the spread must then be so large, and
    made by so many units, that one failure more or less would not outweigh it.

    Args:
        d: shape (n,), no NaN.
        codes: shape (n,), the unit of each.
        spread: of them.
    """
    n_different = int(np.unique(codes[np.abs(d) > _SAME]).size)
    is_seldom = 2 * n_different < spread.n_units
    if (is_seldom and n_different < ENOUGH_DIFFERENT) or not spread.error > _SAME:
        return FEW_DIFFERENT
    if spread.n_units >= SURE_TO_SEE:
        return ""
    if spread.error * spread.n_units**0.5 < LEAST_DEVIATION:
        return TOO_ALIKE
    sums, sizes = unit_sums(np.stack([d, np.ones(d.size)], axis=1), codes).T
    carriers = effective_number(sums - np.median(d) * sizes)
    return FEW_CARRY if carriers < LEAST_CARRIERS * spread.n_units else ""


def _yes_no_interval(d: Floats, codes: Ints, level: float) -> Interval:
    """Return Tango's interval of as many answers as the queries are worth in their units."""
    spread = unit_spread(d, codes)
    if spread.n_units < LEAST_QUERIES:
        return few_units(d.size)
    n_more, n_less = int((d > 0).sum()), int((d < 0).sum())
    if spread.n_units == d.size:
        return paired_score_interval(n_more, n_less, d.size, level)
    worth = spread.n_units / d.size  # all alike in a unit, where nothing shows how alike they are
    freedom = spread.n_units - 1.0
    if spread.error > _SAME:
        worth = min(1.0, (float(d.std(ddof=1)) / spread.error) ** 2 / d.size)
        freedom = spread.freedom
    return paired_score_interval(n_more * worth, n_less * worth, d.size * worth, level, freedom)


def _difference_interval(
    d: Floats, codes: Ints, draw: Callable[[], Floats], level: float
) -> Interval:
    spread = unit_spread(d, codes)
    if spread.n_units < LEAST_QUERIES:
        return few_units(d.size)
    if reason := blank_reason(d, codes, spread):
        return Interval.blank(reason)
    if not (drawn := draw()).size:
        return Interval.blank("no bootstraps")
    least = spread.error**2 / spread.n_units
    centred, sizes = unit_sums(np.stack([d - spread.mean, np.ones(d.size)], axis=1), codes).T
    n_drawn = np.maximum(drawn.sum(axis=1), 2.0)
    n_values = np.maximum(drawn @ sizes, 1.0)
    means = drawn @ centred / n_values
    squares = drawn @ np.stack([centred**2, centred * sizes, sizes**2], axis=1)
    beyond = squares[:, 0] - 2.0 * means * squares[:, 1] + means**2 * squares[:, 2]
    variance = np.maximum(beyond, 0.0) / n_values**2 * n_drawn / (n_drawn - 1.0)
    t = np.abs(means) / np.sqrt(variance + least)
    half = float(np.quantile(t, level, method="higher")) * float(np.sqrt(spread.error**2 + least))
    return Interval(spread.mean - half, spread.mean + half)
