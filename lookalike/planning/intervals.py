"""Intervals of estimates from pools judged in part, where a rare find can weigh much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri, stdtrit

from lookalike.core.arrays import Floats, Ints
from lookalike.stats.intervals import LEAST_QUERIES, UNDEFINED, statistic_interval
from lookalike.stats.proportion import Interval, score_interval
from lookalike.stats.units import kurtosis_freedom, unit_deviations, unit_spread

_TINY = 1e-12


@dataclass(frozen=True)
class CampaignSpread:
    """The standard error of a mean over the queries of a campaign, from the spread of a pilot's.

    Attributes:
        error: standard error of the mean, cluster-robust where queries share a unit.
        n_queries: of the campaign.
        n_units: their independent units, as many of a query as in the pilot.
        design_effect: variance of the mean over that of independent queries, at least 1; where
            all values are equal, queries of a unit count as one.
        deviations: shape (n_pilot_units,), of the pilot's units from the mean.
        most_freedom: degrees of freedom of the error, whatever its kurtosis.
    """

    error: float
    n_queries: int
    n_units: int
    design_effect: float
    deviations: Floats
    most_freedom: float

    @classmethod
    def of(
        cls, by_query: Floats, groups: Ints | None = None, n_queries: int | None = None
    ) -> CampaignSpread:
        """Return the spread of a campaign like a pilot.

        Args:
            by_query: shape (n_pilot_queries,), in linear form.
            groups: shape (n_pilot_queries,), the unit of each; None: each query is one.
            n_queries: of the campaign; None: those of the pilot.
        """
        n_pilot = by_query.size
        n = n_pilot if n_queries is None else n_queries
        spread = unit_spread(by_query, groups)
        variance = float(by_query.var(ddof=1)) if n_pilot > 1 else float("nan")
        effect = n_pilot / max(spread.n_units, 1)
        if variance > _TINY:
            effect = max(1.0, spread.error**2 * n_pilot / variance)
        n_units = n * spread.n_units // n_pilot
        freedom = spread.freedom
        if n_units != spread.n_units:
            freedom *= (n_units - 1.0) / (spread.n_units - 1.0)
        return cls(
            error=spread.error * float(np.sqrt(n_pilot / n)),
            n_queries=n,
            n_units=n_units,
            design_effect=effect,
            deviations=unit_deviations(by_query, groups),
            most_freedom=freedom,
        )

    def freedom(self, kurtosis: float = 1.0) -> float:
        """Return the degrees of freedom of the error; see `kurtosis_freedom`."""
        found = kurtosis_freedom(self.deviations, kurtosis, self.n_units)
        return max(1.0, min(found, self.most_freedom))


def estimate_interval(
    value: float,
    by_query: Floats,
    beside: float,
    level: float,
    *,
    n_queries: int | None = None,
    groups: Ints | None = None,
) -> Interval:
    """Return the interval of an estimate, inside [0, 1]; see `statistic_interval`.

    Where few units make most of the spread, by a rare find among unlikely pairs, it is known as
    badly as from few values: degrees of freedom follow from the kurtosis, since the variance of a
    variance does (Satterthwaite, Biometrics Bulletin 1946).

    Args:
        value: of the measure.
        by_query: shape (n_queries,), in linear form.
        beside: a standard error of something else that it shall hold, too.
        level: coverage.
        n_queries: that there would be of this spread; None: those there are.
        groups: shape (n_queries,), the independent unit of each query; None: each is one.
    """
    spread = CampaignSpread.of(by_query, groups, n_queries)
    error = float(np.hypot(spread.error, beside))
    return statistic_interval(value, error, spread.n_units, level, spread.freedom())


def yes_no_interval(
    value: float,
    by_query: Floats,
    beside: float,
    level: float,
    *,
    n_queries: int | None = None,
    groups: Ints | None = None,
) -> Interval:
    """Return the interval of an estimate that is yes or no at each query where all is judged.

    It is no surer than as many yes-no answers, whatever the spread: where hardly a query fails,
    the failures may be those that nobody has judged. Arguments are those of `estimate_interval`;
    the value may be outside of [0, 1].
    """
    spread = CampaignSpread.of(by_query, groups, n_queries)
    n = spread.n_queries / spread.design_effect
    if spread.n_units < LEAST_QUERIES or np.isnan(value):
        return UNDEFINED
    share = min(max(value, 0.0), 1.0)
    inside = (share * n + 0.5) / (n + 1.0)  # neither all nor none
    variance = inside * (1.0 - inside)
    size = variance / (max(float(by_query.var(ddof=1)), variance) / n + beside**2)
    t = float(stdtrit(spread.freedom(1.0 / variance - 3.0), (1.0 + level) / 2.0))
    return score_interval(share * size, size, t * t)


def width_range(
    by_query: Floats, n_pilot: int, n_queries: int, level: float, groups: Ints | None = None
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
        groups: shape (n,), the independent unit of each value; None: each is one.
    """
    come, pilot = (CampaignSpread.of(by_query, groups, n).freedom() for n in (n_queries, n_pilot))
    tails = ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    low, high = (float(np.sqrt(fdtri(come, pilot, tail))) for tail in tails)
    return low, high
