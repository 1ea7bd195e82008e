"""Rounds of judging: which open pairs are asked next, each with a probability that is kept.

A query draws one random number; every open pair of it whose probability is at least that number
is asked. So each pair is asked with its own probability, independently of other queries, and what
is asked of a query is always its most telling part: with the least of its probabilities, all of
it. That is what lets any measure be estimated without bias (see `estimates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools, Floats
from lookalike.core.blas import blas_alone
from lookalike.core.errors import Refused
from lookalike.planning.label_model import QueryLevels, fit_label_model
from lookalike.planning.pool import RankedPool

FLOOR = 0.05
FLOOR_OF_SHARE = 0.75  # less, and a rare similar pair among the unlikely would weigh too much
STEPS = np.array([0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.75, 1.0])
_PAIR_OF_NEIGHBOURS = 1.0


@dataclass(frozen=True)
class Round:
    """A round as it was drawn: facts that estimates need for good.

    Attributes:
        probabilities: shape (n_pairs,), of each pair that was open; NaN for the others.
        drawn: shape (n_pairs,), what was asked.
    """

    probabilities: Floats
    drawn: Bools

    @property
    def least(self) -> float:
        """The least probability of a pair that was open; 1 if none was."""
        is_open = ~np.isnan(self.probabilities)
        return float(self.probabilities[is_open].min()) if is_open.any() else 1.0


def draw_round(
    pool: RankedPool,
    labels: Floats,
    *,
    n_wanted: int,
    rng: np.random.Generator,
    floor: float | None = None,
    is_uniform: bool = False,
) -> Round:
    """Draw about `n_wanted` of the open pairs.

    Args:
        pool: the pairs.
        labels: shape (n_pairs,), of earlier rounds, 0 or 1; NaN where open.
        n_wanted: pairs to be expected; all that are open if there are no more.
        rng: draws one number a query.
        floor: the least probability of an open pair; None: three quarters of the share of the
            open pairs that is wanted, at least `FLOOR`. Lowered to that share where that is less.
        is_uniform: the same probability for every pair, so that queries are drawn whole.

    Raises:
        Refused: no pair is open, or the floor is 0, or more than 1.
    """
    is_open = np.isnan(labels)
    if not is_open.any():
        raise Refused("", "every pair of the pool is judged: there is nothing to draw")
    if floor is not None and not 0.0 < floor <= 1.0:
        raise Refused(
            "floor", f"{floor:g} is not in (0, 1]: a pair that cannot be drawn is unknown"
        )
    if n_wanted < 1:
        raise Refused("n_wanted", f"{n_wanted} is below 1")
    share = n_wanted / is_open.sum()
    least = max(FLOOR, FLOOR_OF_SHARE * share) if floor is None else floor
    probabilities = np.full(pool.n_pairs, np.nan)
    if share >= 1.0:
        probabilities[is_open] = 1.0
        return Round(probabilities, is_open)
    worth = np.ones(pool.n_pairs) if is_uniform else _worth(pool, labels)
    probabilities[is_open] = _spread_over(worth[is_open], n_wanted, min(least, share))
    u = rng.random(pool.n_queries)
    return Round(probabilities, is_open & (u[pool.queries] < np.nan_to_num(probabilities)))


def known_before(labels: Floats, rounds: Sequence[Round]) -> list[Bools]:
    """Return which pairs had a label before each round was drawn.

    Args:
        labels: shape (n_pairs,), those known now; NaN where unjudged.
        rounds: in the order in which they were drawn.

    Raises:
        Refused: a drawn pair has no label.
    """
    known = ~np.isnan(labels)
    tables = []
    for at, drawn in enumerate(rounds):
        missing = int((drawn.drawn & ~known).sum())
        if missing:
            raise Refused(
                "labels",
                f"{missing} of the {int(drawn.drawn.sum())} pairs that a round drew have no label: "
                "an estimate would no longer be valid; judge them, or leave out the round",
            )
        tables.append(known & ~np.any([later.drawn for later in rounds[at:]], axis=0))
    return tables


def guesses(pool: RankedPool, labels: Floats) -> Floats:
    """Return how likely each pair is similar given these labels (NaN: open), shape (n_pairs,)."""
    known = ~np.isnan(labels)
    with blas_alone():
        model = fit_label_model(pool, pool.features, labels, known)
        p = pool.grid(model.probabilities(pool.features), fill=0.5)
    levels = QueryLevels(p, pool.grid(np.nan_to_num(labels)))
    return pool.flat(levels.guesses(pool.grid(known) > 0, model.spread))


def _worth(pool: RankedPool, labels: Floats) -> Floats:
    """Return how much each pair's label would tell: doubt, times what hangs on it."""
    p = guesses(pool, labels)
    proposed = pool.proposed
    estimate = np.array([_mean(p, row) for row in proposed])
    order = np.argsort(-estimate, kind="stable")
    weight = proposed.mean(axis=0)
    if len(order) > 1:
        differs = proposed[order[1:]] != proposed[order[:-1]]
        gaps = estimate[order[:-1]] - estimate[order[1:]]
        close = 1.0 / (gaps + 0.05)
        weight = weight + _PAIR_OF_NEIGHBOURS * (close / close.sum()) @ differs
    return np.asarray(np.sqrt(p * (1.0 - p) * weight))


def _mean(values: Floats, which: Bools) -> float:
    return float(values[which].mean()) if which.any() else 0.0


def _spread_over(worth: Floats, n_wanted: float, floor: float) -> Floats:
    """Return probabilities in proportion to worth, on a few steps, whose sum is `n_wanted`.

    Each is on the step nearest to it, by ratio: so that a query falls into few parts.
    """
    if worth.min() == worth.max():
        return np.full(worth.size, n_wanted / worth.size)
    steps = np.append(floor, STEPS[floor < STEPS])
    edges = np.sqrt(steps[:-1] * steps[1:])
    in_order = np.sort(worth)
    low, high = 0.0, 1.0 / max(float(worth.min()), 1e-9)
    for _ in range(60):
        c = (low + high) / 2
        n_above = worth.size - np.searchsorted(c * in_order, edges, side="right")
        if steps[0] * worth.size + np.diff(steps) @ n_above < n_wanted:
            low = c
        else:
            high = c
    return steps[np.searchsorted(edges, low * worth)]
