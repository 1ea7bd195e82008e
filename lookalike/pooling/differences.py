"""What a change made of a pool: new pairs by source, and what was known or judged before.

Pure: proposals in, counts out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.pooling.eds import Proposals

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SourceDifference:
    """What one source added.

    Attributes:
        model: its number among the proposals' models.
        n_proposals: that belong to the change.
        n_new: of their pairs, those that the pool did not have before it.
        n_alone: of the new ones, those that no other source of the change proposed.
        n_known: those that the pool had.
        n_judged: of these, those that some judge had answered.
    """

    model: int
    n_proposals: int
    n_new: int
    n_alone: int
    n_known: int
    n_judged: int


@dataclass(frozen=True)
class Difference:
    """What a change made of a pool.

    Attributes:
        n_pairs_before: distinct pairs of all earlier changes.
        n_new: distinct pairs that the change brought.
        n_proposals: of the change.
        n_known: distinct pairs that it proposed and the pool had.
        n_judged: of these, those that some judge had answered.
        by_source: one entry for each model with a proposal in the change.
    """

    n_pairs_before: int
    n_new: int
    n_proposals: int
    n_known: int
    n_judged: int
    by_source: tuple[SourceDifference, ...]

    @property
    def n_pairs_after(self) -> int:
        """Distinct pairs with the change."""
        return self.n_pairs_before + self.n_new

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists."""
        return {**asdict(self), "n_pairs_after": self.n_pairs_after}


def difference(proposals: Proposals, changes: Ints, number: int, is_judged: Mask) -> Difference:
    """Return what one change of a pool brought.

    A pair belongs to the first change that proposed it.

    Args:
        proposals: all of the pool.
        changes: shape (n_proposals,), the number of the change that each belongs to.
        number: which change.
        is_judged: shape (n_proposals,), whether the pair had been answered before the change.

    Raises:
        ValueError: if the arrays are not of one length.
    """
    if not len(proposals) == len(changes) == len(is_judged):
        raise ValueError(
            f"{len(proposals)} proposals, {len(changes)} changes and {len(is_judged)} flags "
            "must be as many"
        )
    keys = np.stack([proposals.query, proposals.candidate], axis=1).reshape(-1, 2)
    _, pair = np.unique(keys, axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    first = np.full(int(pair.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, pair, changes)
    own = changes == number
    n_in_change = np.bincount(pair[own], minlength=len(first))
    is_new = own & (first[pair] == number)
    is_known = own & (first[pair] < number)
    is_answered = is_known & is_judged
    by_source = []
    for model in np.unique(proposals.model[own]).tolist():
        mine = proposals.model == model
        by_source.append(
            SourceDifference(
                model=model,
                n_proposals=int((own & mine).sum()),
                n_new=int((is_new & mine).sum()),
                n_alone=int((is_new & mine & (n_in_change[pair] == 1)).sum()),
                n_known=int((is_known & mine).sum()),
                n_judged=int((is_answered & mine).sum()),
            )
        )
    return Difference(
        n_pairs_before=int((first < number).sum()),
        n_new=int((first == number).sum()),
        n_proposals=int(own.sum()),
        n_known=len(np.unique(pair[is_known])),
        n_judged=len(np.unique(pair[is_answered])),
        by_source=tuple(by_source),
    )


def find_changes(model: Ints, rank: Ints, steps: list[tuple[int, int, int, int]]) -> Ints:
    """Return the change that each proposal belongs to.

    Args:
        model: shape (n_proposals,).
        rank: shape (n_proposals,), from 0.
        steps: (model, k before, k, number of the change); of each model they join at their ends.

    Raises:
        ValueError: if a proposal belongs to no step.
    """
    changes = np.zeros(len(model), np.int64)
    for which, k_before, k, number in steps:
        changes[(model == which) & (rank >= k_before) & (rank < k)] = number
    if (changes == 0).any():
        at = int(np.flatnonzero(changes == 0)[0])
        raise ValueError(f"no change explains rank {int(rank[at])} of model {int(model[at])}")
    return changes
