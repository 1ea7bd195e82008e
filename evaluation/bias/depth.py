"""The same analysis on shallower pools: would fewer labels have told the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.bias.comparison import RankAgreement, compare_with_full, means_of, rank_agreement
from evaluation.bias.evidence import PoolEvidence
from evaluation.bias.leave_out import set_means
from evaluation.bias.measured import MACRO_AUC, Measured, measure
from evaluation.bias.subsets import DEPTH, FULL, UNIQUES, LabelSet, kept_at_depth, kept_without
from evaluation.stats.bootstrap import Resampling


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
        resampling: bootstrap samples of the queries.

    Returns:
        One row per depth; the last one agrees fully by construction.
    """
    full = LabelSet(FULL, "", (), np.ones(evidence.n_pairs, dtype=np.bool_))
    per_depth = [_sets_at(evidence, depth) for depth in range(1, evidence.depth + 1)]
    measured = measure(evidence, [full, *(s for sets in per_depth for s in sets)], ks)
    n_sets = 1 + sum(len(sets) for sets in per_depth)
    no_samples = np.full((len(resampling.counts), len(evidence.models), n_sets), np.nan)
    rows, at = [], 1
    for depth, sets in enumerate(per_depth, start=1):
        comparisons = compare_with_full(
            measured, at, no_samples, resampling.counts, evidence.n_queries
        )
        rows.append(
            DepthRow(
                depth=depth,
                n_pairs=int(sets[0].kept.sum()),
                n_positive=int(evidence.labels[sets[0].kept].sum()),
                means=set_means(measured, at),
                agreement=tuple(rank_agreement(c, resampling) for c in comparisons),
                self_deltas=_self_deltas(evidence, measured, at),
            )
        )
        at += len(sets)
    return tuple(rows)


def _sets_at(evidence: PoolEvidence, depth: int) -> list[LabelSet]:
    """Return the pool at a depth, then the same without each evaluated generator."""
    kept = kept_at_depth(evidence.ranks, depth)
    contributed = ((evidence.ranks > 0) & (evidence.ranks <= depth)).T
    sets = [LabelSet(DEPTH, str(depth), (), kept)]
    for g, name in enumerate(evidence.generators):
        if name in evidence.models:
            without = np.zeros_like(kept)
            without[kept] = kept_without(contributed[kept], g)
            sets.append(LabelSet(UNIQUES, name, (name,), without))
    return sets


def _self_deltas(evidence: PoolEvidence, measured: Measured, at: int) -> dict[str, float]:
    auc = measured.macro[MACRO_AUC]
    pooled = [name for name in evidence.generators if name in evidence.models]
    deltas = {}
    for step, name in enumerate(pooled, start=1):
        change = auc[evidence.models.index(name), at + step] - auc[evidence.models.index(name), at]
        deltas[name] = float(means_of(change[~np.isnan(change)]))
    return deltas
