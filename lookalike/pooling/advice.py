"""What judging a pool brings by model and by depth, and when a greater depth would not pay.

Pure: proposals and labels in, counts out. A pair without a label has not been judged, which is
not the same as different.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from lookalike.core.arrays import Ints
from lookalike.pooling.eds import Proposals
from lookalike.pooling.stats import expert_hours
from lookalike.stats.intervals import independent_pairs

CONFIDENCE = 0.95
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Gain:
    """What the judging of some pairs brought.

    Attributes:
        n_pairs: how many there are.
        n_judged: of these, with a label.
        n_positive: of these, similar.
        n_independent: as many judged pairs of as many queries would tell as much; None where it is
            not known how pairs of one query agree.
    """

    n_pairs: int
    n_judged: int
    n_positive: int
    n_independent: float | None = field(default=None, compare=False)

    def per_hour(self, seconds_per_pair: float, n_judges: float) -> float:
        """Return positives found per hour of all experts; NaN before anything is judged.

        Args:
            seconds_per_pair: of one judge, positive.
            n_judges: who judge each pair, in the mean.
        """
        hours = expert_hours(self.n_judged, seconds_per_pair, n_judges)
        return self.n_positive / hours if hours > 0 else float("nan")


@dataclass(frozen=True)
class DepthAdvice:
    """Whether a greater depth is likely to pay.

    Attributes:
        depth: the deepest rank at which new pairs were judged.
        gain: of the pairs that only that rank brought.
        upper: upper confidence bound of the share of positives among such pairs.
        least: the share below which judging does not pay.
    """

    depth: int
    gain: Gain
    upper: float
    least: float

    @property
    def says_stop(self) -> bool:
        """Whether even the upper bound lies below what pays."""
        return self.upper < self.least


def gains_by_model(
    proposals: Proposals, is_judged: Mask, is_positive: Mask
) -> tuple[list[Gain], list[Gain]]:
    """Return what each model's pairs brought, and what those brought that it alone proposed.

    Args:
        proposals: all of the pool.
        is_judged: shape (n_proposals,), whether the proposed pair has a label.
        is_positive: shape (n_proposals,), whether that label is similar.

    Returns:
        Two lists of `proposals.n_models`.

    Raises:
        ValueError: if the arrays are not of one length.
    """
    pair, n_of_pair = _pairs(proposals, is_judged, is_positive)
    is_alone = n_of_pair[pair] == 1
    every, alone = [], []
    for model in range(proposals.n_models):
        mine = proposals.model == model
        every.append(_gain(mine, is_judged, is_positive, proposals.query))
        alone.append(_gain(mine & is_alone, is_judged, is_positive, proposals.query))
    return every, alone


def gains_by_depth(
    proposals: Proposals, is_judged: Mask, is_positive: Mask, has_ranks: Mask
) -> list[Gain]:
    """Return what each further rank brought: the pairs that no model ranked better.

    A sample by chance has no depth: its order says nothing, so its deepest rank is no poorer
    than its first, and would pass for the poorest of a model's.

    Args:
        proposals: as for `gains_by_model`.
        is_judged: as for `gains_by_model`.
        is_positive: as for `gains_by_model`.
        has_ranks: shape (n_models,), whether a model's order means anything.

    Returns:
        One entry per rank, from the first; their pairs together are those that the models with
        ranks proposed.

    Raises:
        ValueError: if the arrays are not of one length.
    """
    pair, n_of_pair = _pairs(proposals, is_judged, is_positive)
    ranked = has_ranks[proposals.model]
    nowhere = np.iinfo(np.int64).max
    best = np.full(len(n_of_pair), nowhere)
    np.minimum.at(best, pair[ranked], proposals.rank[ranked])
    one_of_each = np.zeros(len(proposals), bool)
    one_of_each[np.unique(pair, return_index=True)[1]] = True
    deepest = int(best[best < nowhere].max(initial=-1))
    return [
        _gain(one_of_each & (best[pair] == rank), is_judged, is_positive, proposals.query)
        for rank in range(deepest + 1)
    ]


def depth_advice(gains: list[Gain], least: float) -> DepthAdvice | None:
    """Say whether the deepest judged rank still pays.

    The bound is the exact one of Clopper and Pearson (Biometrika 1934), one-sided, on the share
    of positives among the pairs that only the deepest judged rank brought, of as many independent
    pairs as these of several queries are worth. Further ranks bring
    fewer still wherever a model's scores mean anything, so a bound below `least` says stop. With
    few judged pairs the bound is near 1 and nothing is said.

    Args:
        gains: as `gains_by_depth` returns them.
        least: the smallest share of positives that is worth judging, 0 < least < 1.

    Returns:
        None before any pair is judged.

    Raises:
        ValueError: for `least` out of range.
    """
    if not 0 < least < 1:
        raise ValueError(f"least is {least}; it must lie between 0 and 1")
    judged = [rank for rank, gain in enumerate(gains) if gain.n_judged]
    if not judged:
        return None
    last = gains[judged[-1]]
    n = last.n_judged if last.n_independent is None else last.n_independent
    positive = n * last.n_positive / last.n_judged
    upper = 1.0
    if last.n_positive < last.n_judged:
        upper = float(betaincinv(positive + 1, n - positive, CONFIDENCE))
    return DepthAdvice(judged[-1] + 1, last, upper, least)


def _pairs(proposals: Proposals, is_judged: Mask, is_positive: Mask) -> tuple[Ints, Ints]:
    """Return the number of each proposal's pair, and how many proposals each pair has."""
    if not len(proposals) == len(is_judged) == len(is_positive):
        raise ValueError(
            f"{len(proposals)} proposals, {len(is_judged)} and {len(is_positive)} flags "
            "must be as many"
        )
    keys = np.stack([proposals.query, proposals.candidate], axis=1).reshape(-1, 2)
    _, pair, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return pair.reshape(-1), counts


def _gain(chosen: Mask, is_judged: Mask, is_positive: Mask, query: Ints) -> Gain:
    judged = chosen & is_judged
    return Gain(
        n_pairs=int(chosen.sum()),
        n_judged=int(judged.sum()),
        n_positive=int((judged & is_positive).sum()),
        n_independent=independent_pairs(is_positive[judged], query[judged], CONFIDENCE),
    )
