"""Would a pilot have foretold a finished campaign? Widths and orders, forecast and come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.stats.intervals import LEAST_QUERIES


@dataclass(frozen=True)
class Backtest:
    """How good forecasts from pilots were.

    Attributes:
        n_pilots: tried, each of other queries.
        n_queries: of each.
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


def backtest(by_query: Floats, share: float, *, n_pilots: int = 50, seed: int = 0) -> Backtest:
    """Return what pilots of some queries foretell of all of them.

    The spread of a pilot's values foretells the width. Of two models whose difference in the
    pilot is d with spread s over n of N queries, the one comes out above in the end with
    probability Phi(d / (s sqrt(1/n - 1/N))), since the pilot is part of the end.

    Args:
        by_query: shape (n_models, n_queries), values whose mean is the measure; NaN at queries
            that are left out.
        share: of the queries in a pilot.
        n_pilots: how many are drawn.
        seed: draws them.

    Raises:
        Refused: a pilot below `LEAST_QUERIES` queries, or of all.
    """
    if not 0.0 < share <= 1.0:
        raise Refused("pilot", f"{share:g} is not a share of the queries, in (0, 1]")
    values = by_query[:, ~np.isnan(by_query).any(axis=0)]
    n_all = values.shape[1]
    n = round(share * n_all)
    if not LEAST_QUERIES <= n < n_all:
        raise Refused(
            "pilot",
            f"{share:g} of {n_all} queries is {n}: a pilot has at least {LEAST_QUERIES}, not all",
        )
    rng = np.random.default_rng(seed)
    upper, lower = np.triu_indices(len(values), 1)
    end = values.mean(axis=1)
    is_above = np.where(end[upper] == end[lower], 0.5, end[upper] > end[lower])
    came = values.std(axis=1, ddof=1)
    ratios, squares = [], []
    for _ in range(n_pilots):
        pilot = values[:, rng.permutation(n_all)[:n]]
        spread = pilot.std(axis=1, ddof=1)
        ratios.append(spread[came > 0] / came[came > 0])
        d = pilot[upper] - pilot[lower]
        error = d.std(axis=1, ddof=1) * np.sqrt(1.0 / n - 1.0 / n_all)
        z = np.divide(d.mean(axis=1), error, out=np.zeros(len(d)), where=error > 0)
        squares.append((ndtr(z) - is_above) ** 2)
    ratio, brier = np.concatenate(ratios), np.concatenate(squares)
    return Backtest(
        n_pilots=n_pilots,
        n_queries=n,
        width=float(ratio.mean()) if ratio.size else float("nan"),
        width_error=float(np.abs(ratio - 1.0).mean()) if ratio.size else float("nan"),
        brier=float(brier.mean()) if brier.size else float("nan"),
        brier_of_doubt=float(((0.5 - is_above) ** 2).mean()) if is_above.size else float("nan"),
        n_orders=int(brier.size),
    )
