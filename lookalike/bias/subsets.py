"""Label sets that would exist had a model not run, or the pool been shallower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.core.arrays import Bools, Ints

FULL, UNIQUES, CONTRIBUTIONS, FAMILY, DEPTH = "full", "uniques", "contributions", "family", "depth"


@dataclass(frozen=True)
class LabelSet:
    """A part of the judged pairs.

    Attributes:
        kind: "full", "uniques", "contributions", "family" or "depth".
        name: what was left out (a generator, a family), or the depth; "" for the full set.
        left_out: the generators left out.
        kept: shape (n_pairs,).
    """

    kind: str
    name: str
    left_out: tuple[str, ...]
    kept: Bools


def kept_without(contributed: Bools, *systems: int) -> Bools:
    """Mark the pairs that would still be in the pool had none of `systems` run.

    Leave-one-out of Zobel (SIGIR 1998): a pair stays if another system proposed it. This is
    meaning `uniques`, the default; see `kept_without_contributions` for the other. A model whose
    siblings stay in the pool hides behind them; leave its family out together.

    Args:
        contributed: shape (n_pairs, n_systems); True where that system's top-k held
            that pair. Every row has at least one True.
        systems: columns to leave out, 0 <= system < n_systems.

    Returns:
        Shape (n_pairs,); all False when every system is left out.

    Raises:
        ValueError: if `contributed` is not 2-D or has an all-False row, or there is no such
            system.
    """
    _check(contributed, systems)
    others = np.ones(contributed.shape[1], dtype=np.bool_)
    others[list(systems)] = False
    kept: Bools = np.logical_or.reduce(contributed[:, others], axis=1)
    return kept


def kept_without_contributions(contributed: Bools, system: int) -> Bools:
    """Mark the pairs that `system` did not propose, whoever else did.

    The literal reading of the VSD paper (section 6.3.1: "does not include predictions from a
    single model"). It also drops pairs that others found, so the labels of the others shrink.
    Arguments, result and errors are those of `kept_without`.
    """
    _check(contributed, [system])
    return ~contributed[:, system]


def kept_at_depth(ranks: Ints, depth: int) -> Bools:
    """Mark the pairs that a shallower pool would have held.

    Args:
        ranks: shape (n_systems, n_pairs), 1 for the best candidate, 0 for not proposed.
        depth: the shallower depth, >= 1.

    Returns:
        Shape (n_pairs,): some system has the pair among its first `depth`.

    Raises:
        ValueError: if `depth` < 1.
    """
    if depth < 1:
        raise ValueError(f"a pool has a depth of at least 1, not {depth}")
    kept: Bools = np.logical_or.reduce((ranks > 0) & (ranks <= depth), axis=0)
    return kept


def leave_out_sets(evidence: PoolEvidence) -> list[LabelSet]:
    """Return the full set, then every set of both leave-one-out meanings and of the families.

    Families of one generator are listed too: what is left is the same as under `uniques`, but
    the family-matched comparison needs every family.

    Args:
        evidence: the pool.

    Returns:
        The full set first, then `uniques` and `contributions` in the order of the generators,
        then `family` in the order in which families first appear.
    """
    c, names = evidence.contributed, evidence.generators
    sets = [LabelSet(FULL, "", (), np.ones(evidence.n_pairs, dtype=np.bool_))]
    sets += [LabelSet(UNIQUES, n, (n,), kept_without(c, g)) for g, n in enumerate(names)]
    sets += [
        LabelSet(CONTRIBUTIONS, n, (n,), kept_without_contributions(c, g))
        for g, n in enumerate(names)
    ]
    sets += [
        LabelSet(FAMILY, f, tuple(names[g] for g in members), kept_without(c, *members))
        for f, members in evidence.pooled_families.items()
    ]
    return sets


def _check(contributed: Bools, systems: Sequence[int]) -> None:
    if contributed.ndim != 2:
        raise ValueError(f"contributed has shape {contributed.shape}, wanted (pairs, systems)")
    if not contributed.any(axis=1).all():
        raise ValueError("a pair was proposed by no system, so it was never in the pool")
    for system in systems:
        if not 0 <= system < contributed.shape[1]:
            raise ValueError(f"there is no system {system} among {contributed.shape[1]}")
