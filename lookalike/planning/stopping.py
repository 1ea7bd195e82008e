"""When enough is known: rules whose error holds although one looks after every round.

The error allowed is shared out over the looks planned beforehand, over the three rules of a look,
and over the claims of a rule, in equal parts (Bonferroni): so all that is ever claimed holds
together with probability 1 - alpha, however the looks depend on one another. Source: Lan, DeMets
(Biometrika 1983) for spending an error over looks; equal parts need none of their assumptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.planning.estimates import Estimate, Estimates
from lookalike.stats.intervals import LEAST_QUERIES, standard_error
from lookalike.stats.units import unit_spread

RULES = ("order", "width", "recall")
LEAST_FOUND = 10  # similar pairs: from fewer the spread is not known well enough to claim by
Settled = Literal["above", "alike", "open"]


@dataclass(frozen=True)
class Looks:
    """How the error is spent.

    Attributes:
        alpha: chance that anything claimed at any look is wrong.
        planned: how many looks there will be at most.
    """

    alpha: float = 0.05
    planned: int = 5

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 1.0:
            raise Refused("alpha", f"{self.alpha:g} is not between 0 and 1")
        if self.planned < 1:
            raise Refused("looks", f"{self.planned} planned looks")

    @property
    def share(self) -> float:
        """What one rule may spend at one look."""
        return self.alpha / self.planned / len(RULES)


@dataclass(frozen=True)
class Neighbours:
    """Two models beside each other in the order of the estimates.

    Attributes:
        upper, lower: their names.
        difference: of the estimates, >= 0.
        p_value: two-sided, since the data say which is the upper; NaN if unknown.
        verdict: "above" if the order is claimed, "alike" if it is claimed that they are no
            further apart than was said to matter, "open" if neither.
    """

    upper: str
    lower: str
    difference: float
    p_value: float
    verdict: Settled


def order_rule(
    measure: Estimate, models: tuple[str, ...], looks: Looks, *, alike: float = 0.0
) -> list[Neighbours]:
    """Return what can be said of each pair of neighbours; stop when none is open.

    If the whole order is wrong, some pair of neighbours is the wrong way round. Which pairs are
    neighbours, and which of two is the upper, is up to the data: so the error is shared over all
    pairs of models, and both claims are read from one two-sided interval of the difference.

    Args:
        measure: an estimate.
        models: their names.
        looks: how the error is spent.
        alike: a difference that does not matter; 0: every difference does.
    """
    order = np.argsort(-measure.values, kind="stable")
    level = looks.share / max(1, len(models) * (len(models) - 1) // 2)
    found = []
    for upper, lower in pairwise(order.tolist()):
        d = measure.by_query[upper] - measure.by_query[lower]
        difference, p = float(d.mean()), float("nan")
        verdict: Settled = "open"
        spread = unit_spread(d, measure.groups)
        if spread.n_units >= LEAST_QUERIES and spread.error > 0:
            p = 2.0 * float(stdtr(spread.freedom, -abs(difference) / spread.error))
            t = float(stdtrit(spread.freedom, 1.0 - level / 2))
            reach = abs(difference) + t * spread.error
            verdict = "above" if p <= level else "alike" if reach <= alike else "open"
        found.append(Neighbours(models[upper], models[lower], difference, p, verdict))
    return found


def width_rule(measure: Estimate, looks: Looks) -> Floats:
    """Return half the width of each model's interval, all of which hold at all looks.

    Stop when none is wider than wished. Shape (n_models,), NaN where there is no interval.
    """
    ends = measure.intervals(1.0 - looks.share / len(measure.values))
    return np.array([(end.high - end.low) / 2 for end in ends])


def recall_rule(
    found_by_query: Floats, estimated_by_query: Floats, heaviest: float, looks: Looks
) -> float:
    """Return a share of the pool's similar pairs that is found, at least, at all looks.

    Stop when it is as high as wished. What is still to be found is bounded as a sum of rare,
    heavy findings: the score bound of a Poisson mean, with the spread over queries as its
    variance and the heaviest that one finding can weigh, times the similar pairs of a query that
    has some. It errs to the safe side: where next to nothing was found below the likeliest
    pairs, a plain interval would say that nothing is there. Related: Lewis, Yang, Frieder (CIKM
    2021), who bound recall by samples drawn for it.

    Args:
        found_by_query: shape (n_queries,), similar pairs known; of units where queries share some.
        estimated_by_query: shape (n_queries,), unbiased estimates of all similar pairs, likewise.
        heaviest: for how many pairs one that was drawn can stand; 0 if all are judged.
        looks: how the error is spent.

    Returns:
        The bound; NaN below `LEAST_QUERIES` queries or units, or if nothing is found.
    """
    n, found = found_by_query.size, float(found_by_query.sum())
    if n < LEAST_QUERIES or found <= 0:
        return float("nan")
    if heaviest == 0:
        return 1.0
    rest = estimated_by_query - found_by_query
    t = float(stdtrit(n - 1, 1.0 - looks.share))
    unit = heaviest * float((found_by_query**2).sum()) / found
    spread = (standard_error(rest) * n) ** 2 + (t * unit / 2) ** 2
    most = max(float(rest.sum()), 0.0) + t * t * unit / 2 + t * spread**0.5
    return float(found / (found + most))


@dataclass(frozen=True)
class StopAdvice:
    """What a look says.

    Attributes:
        measure: of order and width.
        neighbours: from `order_rule`.
        widths: from `width_rule`; NaN while fewer than `LEAST_FOUND` similar pairs are found.
        recall: from `recall_rule`.
        looks: how the error was spent.
    """

    measure: str
    neighbours: list[Neighbours]
    widths: tuple[float, ...]
    recall: float
    looks: Looks

    @property
    def order_is_known(self) -> bool:
        """Whether every pair of neighbours is settled."""
        return all(pair.verdict != "open" for pair in self.neighbours)


def stop_advice(
    estimates: Estimates, labels: Floats, measure: str, looks: Looks, *, alike: float = 0.0
) -> StopAdvice:
    """Return what all three rules say after a round.

    Args:
        estimates: after the round.
        labels: shape (n_pairs,), of the pool; NaN where unjudged.
        measure: which of the estimates order and width are of.
        looks: how the error is spent over rounds.
        alike: as in `order_rule`.

    Raises:
        Refused: the measure was not estimated.
    """
    chosen = next((one for one in estimates.measures if one.name == measure), None)
    if chosen is None:
        raise Refused("measure", f"{measure!r} was not estimated")
    pool = estimates.pool
    units = np.arange(pool.n_queries) if pool.units is None else pool.units.codes
    of_pairs = np.unique(units, return_inverse=True)[1][pool.queries]
    found = np.bincount(of_pairs, np.nan_to_num(labels), pool.n_units)
    total = np.bincount(of_pairs, estimates.labels, pool.n_units)
    is_enough = estimates.heaviest == 0 or found.sum() >= LEAST_FOUND
    widths = width_rule(chosen, looks) if is_enough else np.full(len(pool.models), np.nan)
    return StopAdvice(
        measure,
        order_rule(chosen, pool.models, looks, alike=alike),
        tuple(widths.tolist()),
        recall_rule(found.astype(np.float64), total.astype(np.float64), estimates.heaviest, looks),
        looks,
    )
