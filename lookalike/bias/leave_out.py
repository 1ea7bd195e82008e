"""Leave a model or a family out of the pool: what changes for itself, and for the order of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.comparison import (
    RankAgreement,
    SelfDelta,
    compare_with_full,
    defined_means,
    rank_agreements,
    self_delta,
)
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.measurements import Measured
from lookalike.bias.subsets import FULL, LabelSet
from lookalike.core.each import each
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import common_queries


@dataclass(frozen=True)
class LeaveOut:
    """One label set against the full one.

    Attributes:
        kind: "uniques", "contributions" or "family".
        name: the generator or family left out.
        left_out: the generators left out.
        n_pairs: judged pairs left.
        n_positive: positives left.
        means: by measure, the mean of each model in the order of the evidence, over the
            queries defined on this set.
        n_defined: by measure, over how many queries (micro: 1 where defined).
        agreement: by measure, over all evaluated models.
        self_deltas: per left-out model that is evaluated, and measure.
    """

    kind: str
    name: str
    left_out: tuple[str, ...]
    n_pairs: int
    n_positive: int
    means: dict[str, list[float]]
    n_defined: dict[str, int]
    agreement: tuple[RankAgreement, ...]
    self_deltas: tuple[SelfDelta, ...]


def leave_out_report(
    evidence: PoolEvidence,
    sets: Sequence[LabelSet],
    measured: Measured,
    resampling: Resampling,
) -> tuple[LeaveOut, ...]:
    """Return one entry per label set but the full one.

    Args:
        evidence: the pool.
        sets: from `leave_out_sets`, the full set first.
        measured: the values on them.
        resampling: bootstrap samples of the queries and permutations.

    Returns:
        The entries, in the order of the sets.
    """
    others = [g for g, label_set in enumerate(sets) if label_set.kind != FULL]
    compared = each(lambda g: compare_with_full(measured, g), others)
    entries = []
    for g, comparisons, agreement in zip(
        others, compared, rank_agreements(compared, resampling), strict=True
    ):
        label_set = sets[g]
        entries.append(
            LeaveOut(
                kind=label_set.kind,
                name=label_set.name,
                left_out=label_set.left_out,
                n_pairs=int(label_set.kept.sum()),
                n_positive=int(evidence.labels[label_set.kept].sum()),
                means=set_means(measured, g),
                n_defined=set_defined(measured, g),
                agreement=agreement,
                self_deltas=tuple(
                    self_delta(evidence.models, m, c, resampling)
                    for m, name in enumerate(evidence.models)
                    if name in label_set.left_out
                    for c in comparisons
                ),
            )
        )
    return tuple(entries)


def set_means(measured: Measured, g: int) -> dict[str, list[float]]:
    """Return every measure of every model on set `g`, over the queries that set defines."""
    means = {}
    for name, values in measured.macro.items():
        of_set = values[:, g, :]
        means[name] = defined_means(of_set[:, common_queries(of_set)]).tolist()
    return means | {name: values[:, g].tolist() for name, values in measured.micro.items()}


def set_defined(measured: Measured, g: int) -> dict[str, int]:
    """Return over how many queries the values of `set_means` are."""
    macro = {
        name: int(common_queries(values[:, g, :]).sum()) for name, values in measured.macro.items()
    }
    return macro | {
        name: int(not np.isnan(values[:, g]).any()) for name, values in measured.micro.items()
    }
