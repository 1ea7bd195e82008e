"""What measures owe to the votes behind labels: on shares of votes, and on votes drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lookalike.agreement.majority import majority
from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.planning.estimates import Estimate, estimate
from lookalike.planning.pilot import majority_labels
from lookalike.planning.pool import RankedPool
from lookalike.stats.proportion import Interval


@dataclass(frozen=True)
class Sensitivity:
    """One measure of all models, and what the votes do to it.

    Attributes:
        measure: its name.
        values: shape (n_models,), on the majority's labels.
        soft: shape (n_models,), what is to be expected of the measure if each pair is similar as
            often as its voters say.
        spread: shape (n_models,), standard deviation over panels drawn anew from the votes.
        intervals: over queries and panels together.
        turned: (upper, lower) by the majority, the other way round on shares of votes.
        unsure: share of the drawn panels that put two models, on average, the other way round.
    """

    measure: str
    values: Floats
    soft: Floats
    spread: Floats
    intervals: tuple[Interval, ...]
    turned: tuple[tuple[str, str], ...]
    unsure: float


def label_sensitivity(
    pool: RankedPool,
    votes: Floats,
    names: Sequence[str],
    rng: np.random.Generator,
    *,
    n_draws: int = 50,
) -> list[Sensitivity]:
    """Return how measures and orders move with the votes.

    A panel is drawn anew by drawing as many votes of each pair with replacement from its own. A
    pair on which all voters agree is never drawn otherwise: the spread errs to the small side.

    Args:
        pool: the pairs.
        votes: shape (n_pairs, n_voters), 0 or 1, NaN where there is none; at least one of each.
        names: of measures.
        rng: draws the panels.
        n_draws: how many.

    Raises:
        Refused: a pair without a vote.
        InputError: a measure without an estimate.
    """
    given = (~np.isnan(votes)).sum(axis=1)
    if not given.all():
        raise Refused("votes", f"{int((given == 0).sum())} pairs of the pool have no vote")
    share = np.nansum(votes, axis=1) / given

    def measured(labels: Floats) -> tuple[Estimate, ...]:
        return estimate(pool, labels, [], names).measures

    now, soft = measured(majority_labels(votes)), measured(share)
    panels = []
    for _ in range(n_draws):
        similar = rng.binomial(given, share)
        labels = majority(similar, given - similar, "negative").is_similar
        panels.append([one.values for one in measured(labels.astype(np.float64))])
    drawn = np.array(panels)  # (n_draws, n_measures, n_models)
    return [
        _compared(pool.models, one, other.values, drawn[:, i])
        for i, (one, other) in enumerate(zip(now, soft, strict=True))
    ]


def _compared(models: Sequence[str], now: Estimate, soft: Floats, drawn: Floats) -> Sensitivity:
    spread = np.nanstd(drawn, axis=0, ddof=1)
    order = np.argsort(-now.values, kind="stable").tolist()
    pairs = list(combinations(order, 2))
    swapped = [np.mean(drawn[:, a] < drawn[:, b]) for a, b in pairs]
    return Sensitivity(
        measure=now.name,
        values=now.values,
        soft=soft,
        spread=spread,
        intervals=tuple(now.intervals(beside=spread)),
        turned=tuple((models[a], models[b]) for a, b in pairs if soft[a] < soft[b]),
        unsure=float(np.mean(swapped)) if swapped else 0.0,
    )
