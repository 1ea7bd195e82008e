"""The same analysis on shallower pools: would fewer labels have told the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.comparison import (
    RankAgreement,
    compare_with_full,
    defined_means,
    rank_agreements,
)
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.leave_out import set_means
from lookalike.bias.measurements import MACRO_AUC, Measured, measure
from lookalike.bias.subsets import DEPTH, FULL, LabelSet, kept_at_depth, kept_without
from lookalike.core.arrays import Bools
from lookalike.core.each import each
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.roc_auc import auc_and_ap


@dataclass(frozen=True)
class DepthRow:
    """The pool at one depth.

    Attributes:
        depth: k'.
        n_pairs: judged pairs that some model ranked in its first k'.
        n_positive: positives among them.
        means: by measure, every model's value on these labels, in the order of the evidence.
        agreement: by measure, with the order at full depth on the queries both define.
        self_deltas: by evaluated generator, the change of its macro ROC-AUC when this pool is
            built without it (meaning `uniques`), over the queries both define.
    """

    depth: int
    n_pairs: int
    n_positive: int
    means: dict[str, list[float]]
    agreement: tuple[RankAgreement, ...]
    self_deltas: dict[str, float]


def depth_ablation(
    evidence: PoolEvidence, ks: Sequence[int], resampling: Resampling
) -> tuple[DepthRow, ...]:
    """Return the pool at every depth from 1 to its own.

    Flat agreement and a falling yield (see `discovery`) mean that a shallower pool would do.

    Args:
        evidence: the pool; its ranks must be logged for every proposal.
        ks: cut-offs of P@k.
        resampling: permutations.

    Returns:
        One row per depth; the last one agrees fully by construction.
    """
    full = LabelSet(FULL, "", (), np.ones(evidence.n_pairs, dtype=np.bool_))
    per_depth = [
        LabelSet(DEPTH, str(depth), (), kept_at_depth(evidence.ranks, depth))
        for depth in range(1, evidence.depth + 1)
    ]
    measured = measure(evidence, [full, *per_depth], ks)
    deltas = _self_deltas(evidence, per_depth, measured)
    compared = each(lambda depth: compare_with_full(measured, depth), range(1, 1 + len(per_depth)))
    agreements = rank_agreements(compared, resampling)
    return tuple(
        DepthRow(
            depth=depth,
            n_pairs=int(label_set.kept.sum()),
            n_positive=int(evidence.labels[label_set.kept].sum()),
            means=set_means(measured, depth),
            agreement=agreements[depth - 1],
            self_deltas=deltas[depth - 1],
        )
        for depth, label_set in enumerate(per_depth, start=1)
    )


def _self_deltas(
    evidence: PoolEvidence, per_depth: Sequence[LabelSet], measured: Measured
) -> list[dict[str, float]]:
    """Return, at each depth, what leaving out each evaluated generator does to its own AUC."""
    deltas: list[dict[str, float]] = [{} for _ in per_depth]
    for g, name in enumerate(evidence.generators):
        if name not in evidence.models or not per_depth:
            continue
        m = evidence.models.index(name)
        weights = np.stack([_without(evidence, s.kept, d, g) for d, s in enumerate(per_depth, 1)])
        alone = auc_and_ap(
            evidence.scores[[m]],
            evidence.labels,
            evidence.queries,
            evidence.n_queries,
            weights.astype(np.float64),
        )
        change = alone.auc[0] - measured.macro[MACRO_AUC][m, 1:]
        for of_depth, row in zip(deltas, change, strict=True):
            of_depth[name] = float(defined_means(row[~np.isnan(row)]))
    return deltas


def _without(evidence: PoolEvidence, kept: Bools, depth: int, generator: int) -> Bools:
    """Mark the pairs of a pool at some depth that would be in it without one generator."""
    contributed = ((evidence.ranks > 0) & (evidence.ranks <= depth)).T
    without = np.zeros_like(kept)
    without[kept] = kept_without(contributed[kept], generator)
    return without
