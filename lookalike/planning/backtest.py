"""Would a pilot have foretold a finished campaign? Widths and orders, forecast and come."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from lookalike.core.arrays import Floats, Ints
from lookalike.core.errors import Refused
from lookalike.planning.designs import Costs, Design, Forecast
from lookalike.planning.estimates import Estimate, estimate
from lookalike.planning.pilot import Pilot, majority_labels
from lookalike.planning.planner import at_depth, forecast, judge_by_design
from lookalike.stats.intervals import LEAST_QUERIES
from lookalike.stats.units import unit_spread


@dataclass(frozen=True)
class Backtest:
    """How good forecasts from pilots were.

    Attributes:
        n_pilots: tried, each of other queries.
        n_queries: of each; on average, where units of several queries are drawn.
        width: mean of width forecast over width come; 1 is right.
        width_error: mean distance of that ratio from 1.
        brier: mean squared error of the probability that of two models one comes out above.
        brier_of_doubt: what 1/2 for everything would have: 0.25 wherever models differ.
        n_orders: forecasts of two models.
    """

    n_pilots: int
    n_queries: int
    width: float
    width_error: float
    brier: float
    brier_of_doubt: float
    n_orders: int


def backtest(
    by_query: Floats,
    share: float,
    *,
    groups: Ints | None = None,
    n_pilots: int = 50,
    seed: int = 0,
) -> Backtest:
    """Return what pilots of some queries foretell of all of them.

    The spread of a pilot's values foretells the width. Of two models whose difference in the
    pilot is d with spread s over n of N queries, the one comes out above in the end with
    probability Phi(d / (s sqrt(1/n - 1/N))), since the pilot is part of the end.

    Args:
        by_query: shape (n_models, n_queries), values whose mean is the measure; NaN at queries
            that are left out.
        share: of the queries in a pilot; of the units, where queries share some.
        groups: shape (n_queries,), the independent unit of each query, drawn whole; None: each
            query is one.
        n_pilots: how many are drawn.
        seed: draws them.

    Raises:
        Refused: a pilot below `LEAST_QUERIES` queries or units, or of all.
    """
    is_defined = ~np.isnan(by_query).any(axis=0)
    values = by_query[:, is_defined]
    n_all = values.shape[1]
    units = _numbered(n_all, None if groups is None else groups[is_defined])
    n_units = int(units.max(initial=-1)) + 1
    n_drawn = _n_in_pilot(share, n_all, n_units)
    rng = np.random.default_rng(seed)
    upper, lower = np.triu_indices(len(values), 1)
    end = values.mean(axis=1)
    is_above = np.where(end[upper] == end[lower], 0.5, end[upper] > end[lower])
    came = _deviations(values, units)
    ratios, squares, sizes = [], [], []
    for _ in range(n_pilots):
        is_in = np.isin(units, rng.permutation(n_units)[:n_drawn])
        pilot, n = values[:, is_in], int(is_in.sum())
        sizes.append(n)
        spread = _deviations(pilot, units[is_in])
        ratios.append(spread[came > 0] / came[came > 0])
        d = pilot[upper] - pilot[lower]
        error = _deviations(d, units[is_in]) * np.sqrt(1.0 / n - 1.0 / n_all)
        z = np.divide(d.mean(axis=1), error, out=np.zeros(len(d)), where=error > 0)
        squares.append((ndtr(z) - is_above) ** 2)
    ratio, brier = np.concatenate(ratios), np.concatenate(squares)
    return Backtest(
        n_pilots=n_pilots,
        n_queries=round(float(np.mean(sizes))),
        width=float(ratio.mean()) if ratio.size else float("nan"),
        width_error=float(np.abs(ratio - 1.0).mean()) if ratio.size else float("nan"),
        brier=float(brier.mean()) if brier.size else float("nan"),
        brier_of_doubt=float(((0.5 - is_above) ** 2).mean()) if is_above.size else float("nan"),
        n_orders=int(brier.size),
    )


@dataclass(frozen=True)
class DesignBacktest:
    """How good forecasts of one design were, each held against a campaign judged by it.

    Attributes:
        design: tried, on all queries of a finished campaign.
        n_pilots: of other queries each, and as many campaigns.
        n_queries: of each pilot.
        width: mean of width forecast over width come; 1 is right.
        width_error: mean distance of that ratio from 1.
        least_error: the same of a forecast from all queries: what the chance of votes and rounds
            leaves to every forecast.
        within: share of the widths that came within their range.
        brier: mean squared error of the probability that neighbours come in order.
        n_orders: forecasts of neighbours.
    """

    design: Design
    n_pilots: int
    n_queries: int
    width: float
    width_error: float
    least_error: float
    within: float
    brier: float
    n_orders: int


def backtest_design(
    pilot: Pilot,
    design: Design,
    measure: str,
    share: float,
    *,
    n_pilots: int = 20,
    seed: int = 0,
) -> DesignBacktest:
    """Return how well parts of a finished campaign foretell what a design brings on all of it.

    Each pilot foretells a campaign over all queries, which is then judged anew: votes are drawn
    from the pairs' own, pairs in rounds. An order comes true where the estimates have it as all
    votes of all pairs do.

    Args:
        pilot: the finished campaign.
        design: its number of queries does not matter.
        measure: by name.
        share: of the queries in a pilot; of the units, where queries share some.
        n_pilots: how many are drawn.
        seed: draws pilots, votes and rounds.

    Raises:
        Refused: a pilot of too few queries or of all, or a design deeper than the campaign.
        InputError: no such measure, or none with an estimate.
    """
    n_all = pilot.pool.n_queries
    units = _numbered(n_all, pilot.pool.groups)
    n_units = int(units.max(initial=-1)) + 1
    n_drawn = _n_in_pilot(share, n_all, n_units)
    design = replace(design, n_queries=n_all)
    (informed,) = forecast(pilot, [design], [measure], Costs(), seed)
    pool, votes = at_depth(pilot, design.depth)
    true = estimate(pool, majority_labels(votes), [], [measure]).measures[0].values
    rng = np.random.default_rng([seed, 1])
    said: list[Forecast] = []
    came: list[Estimate] = []
    sizes = []
    for _ in range(n_pilots):
        is_drawn = (rng.permutation(n_units) < n_drawn)[units]
        sizes.append(int(is_drawn.sum()))
        is_in = is_drawn[pilot.pool.queries, None]
        part = Pilot.of(pilot.pool, np.where(is_in, pilot.votes, np.nan))
        said += forecast(part, [design], [measure], Costs(), seed)
        came.append(judge_by_design(pool, votes, design, [measure], rng)[1][0])
    widths = np.array([[(e.high - e.low) / 2 for e in one.intervals()] for one in came])
    ratios = np.array([one.widths for one in said]) / widths
    low, high = np.moveaxis(np.array([one.ranges for one in said]), -1, 0)
    squares = [
        square
        for one, found in zip(said, came, strict=True)
        for square in _order_errors(one, found.values, true, pool.models)
    ]
    return DesignBacktest(
        design=design,
        n_pilots=n_pilots,
        n_queries=round(float(np.mean(sizes))),
        width=float(np.nanmean(ratios)),
        width_error=float(np.nanmean(np.abs(ratios - 1.0))),
        least_error=float(np.nanmean(np.abs(np.array(informed.widths) / widths - 1.0))),
        within=float(np.mean((widths >= low) & (widths <= high))),
        brier=float(np.mean(squares)) if squares else float("nan"),
        n_orders=len(squares),
    )


def _order_errors(
    said: Forecast, came: Floats, true: Floats, models: tuple[str, ...]
) -> list[float]:
    """Return the squared error of each probability that neighbours come in order."""
    at = {name: m for m, name in enumerate(models)}
    errors = []
    for upper, lower, p in said.neighbours:
        a, b = at[upper], at[lower]
        is_so = (came[a] > came[b]) == (true[a] > true[b])
        errors.append((p - is_so) ** 2)
    return errors


def _numbered(n_queries: int, groups: Ints | None) -> Ints:
    """Return the number of each query's unit, from 0."""
    if groups is None:
        return np.arange(n_queries)
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _deviations(values: Floats, units: Ints) -> Floats:
    """Return the standard deviation of each row, by which n queries have its standard error."""
    errors = [unit_spread(row, units).error for row in values]
    scale: float = values.shape[1] ** 0.5
    return scale * np.array(errors, np.float64)


def _n_in_pilot(share: float, n_queries: int, n_units: int) -> int:
    """Return how many units a pilot draws."""
    if not 0.0 < share <= 1.0:
        raise Refused("pilot", f"{share:g} is not a share of the queries, in (0, 1]")
    n = round(share * n_units)
    if not LEAST_QUERIES <= n < n_units:
        what = "queries" if n_units == n_queries else "independent units"
        raise Refused(
            "pilot",
            f"{share:g} of {n_units} {what} is {n}: a pilot has at least {LEAST_QUERIES}, not all",
        )
    return n
