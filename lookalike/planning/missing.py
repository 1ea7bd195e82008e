"""How much more has to be judged until the rules to stop are met: a forecast, not a promise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from lookalike.core.arrays import Floats, Ints
from lookalike.planning.estimates import Estimate, Estimates, estimate
from lookalike.planning.rounds import guesses
from lookalike.planning.stopping import Looks
from lookalike.stats.intervals import LEAST_QUERIES
from lookalike.stats.units import unit_spread

N_COMPLETIONS = 5


def share_needed(
    estimates: Estimates,
    labels: Floats,
    measure: str,
    looks: Looks,
    *,
    rng: np.random.Generator,
    width: float | None = None,
    orders: bool = False,
    alike: float = 0.0,
) -> float:
    """Return which share of the pool will about be judged when the rules of a look are met.

    What of an error is left when all is judged is that of pools whose open labels are drawn from
    the label model. The rest, which is the design's, shrinks as 1 / share - 1.

    Args:
        estimates: after a round.
        labels: shape (n_pairs,), NaN where open.
        measure: which of the estimates is meant.
        looks: how the error of claims is spent.
        rng: draws the open labels.
        width: half of an interval that is wished for, of every model.
        orders: whether all neighbours are to be in order, or alike.
        alike: a difference that does not matter.

    Returns:
        At least the share judged now; NaN where judging all of the pool will hardly do, or fewer
        than `LEAST_QUERIES` queries or units tell.
    """
    now = next(one for one in estimates.measures if one.name == measure)
    n_models, groups = len(now.values), now.groups
    if estimates.pool.n_units < LEAST_QUERIES:
        return float("nan")
    freedom = unit_spread(now.by_query[0], groups).freedom
    wholes = _completed(estimates, labels, measure, rng)
    shares = [estimates.judged]
    if width is not None:
        t = float(stdtrit(freedom, 1.0 - looks.share / n_models / 2))
        shares += [
            _share(
                now.by_query[m], [whole[m] for whole in wholes], width / t, estimates.judged, groups
            )
            for m in range(n_models)
        ]
    if orders:
        level = looks.share / max(1, n_models * (n_models - 1) // 2)
        t = float(stdtrit(freedom, 1.0 - level / 2))
        for upper, lower in pairwise(np.argsort(-now.values, kind="stable").tolist()):
            d = now.by_query[upper] - now.by_query[lower]
            reach = max(abs(float(d.mean())), alike - abs(float(d.mean())))
            full = [whole[upper] - whole[lower] for whole in wholes]
            shares.append(_share(d, full, reach / t, estimates.judged, groups))
    return float(np.max(shares))  # NaN where one cannot be met


def _completed(
    estimates: Estimates, labels: Floats, measure: str, rng: np.random.Generator
) -> list[Floats]:
    """Return the values by query of pools whose open labels are drawn: (n_models, n_queries)."""
    p = guesses(estimates.pool, labels)
    is_open = np.isnan(labels)

    def whole() -> Estimate:
        drawn = (rng.random(p.size) < p).astype(np.float64)
        filled = np.where(is_open, drawn, labels)
        return estimate(estimates.pool, filled, [], [measure]).measures[0]

    return [whole().by_query for _ in range(N_COMPLETIONS)]


def _share(
    now: Floats, wholes: list[Floats], wanted: float, judged: float, groups: Ints | None
) -> float:
    """Return the share at which a standard error falls to what is wanted, NaN if none does."""
    variance = unit_spread(now, groups).error ** 2
    if variance <= wanted**2:
        return judged
    of_queries = float(np.mean([unit_spread(whole, groups).error ** 2 for whole in wholes]))
    left = wanted**2 - of_queries
    if not left > 0:
        return float("nan")
    odds = (1.0 / judged - 1.0) * left / max(variance - of_queries, left)
    return 1.0 / (1.0 + odds)
