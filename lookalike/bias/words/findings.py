"""The main points of a bias report, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lookalike.bias.comparison import SelfDelta
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.leave_out import LeaveOut
from lookalike.bias.measurements import MACRO_AUC
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.outsiders import POOLED, undeclared_relatives
from lookalike.bias.subsets import FAMILY, UNIQUES

SMALL_POOL = 4


def findings(
    evidence: PoolEvidence, rows: Sequence[ModelRow], leave_out: Sequence[LeaveOut]
) -> tuple[str, ...]:
    """Return what a reader should take from the report in full sentences, the chief one first."""
    return (
        *_on_columns(rows),
        *_on_self_deltas(leave_out),
        *_on_agreement(leave_out),
        *_on_limits(evidence, rows),
    )


def _on_columns(rows: Sequence[ModelRow]) -> Iterator[str]:
    n_pooled = sum(row.badge == POOLED for row in rows)
    if 0 < n_pooled < len(rows):
        yield (
            f"{n_pooled} of {len(rows)} models built the pool. Compare P@k, Success@k and MRR@k "
            "among those only, annotated AUC and AP among the others only, and all of them by "
            "the equal-outsider AUC (family-matched where models are related) or the AUC on "
            "random negatives."
        )


def _on_self_deltas(leave_out: Sequence[LeaveOut]) -> Iterator[str]:
    """Yield, of each measure, the largest change whose interval leaves out 0."""
    deltas = [d for entry in leave_out if entry.kind == UNIQUES for d in entry.self_deltas]
    defined = [d for d in deltas if not np.isnan(d.delta.value)]
    shown = [d for d in defined if d.exceeds_gap and _is_told_from_zero(d)]
    strongest: dict[str, SelfDelta] = {}  # of all cut-offs of a measure, the one that moves most
    for d in sorted(shown, key=lambda d: -abs(d.delta.value)):
        strongest.setdefault(d.measure.partition("@")[0], d)
    for worst in sorted(strongest.values(), key=lambda d: d.measure):
        of_measure = [d for d in defined if d.measure == worst.measure]
        n_beyond = sum(d.measure == worst.measure for d in shown)
        ends = worst.delta.interval
        who = "outsiders are punished" if worst.delta.value < 0 else "taking part is punished"
        yield (
            f"{worst.measure}: without its own proposals, {worst.model} moves by "
            f"{worst.delta.value:+.3f} (interval {ends.low:+.3f} to {ends.high:+.3f}, "
            f"{worst.n_queries} queries; {worst.rank_before} to {worst.rank_after} in the order): "
            f"{who}. For {n_beyond} of {len(of_measure)} pooled models the change is told from 0 "
            "and larger than the usual gap between neighbours, so a newcomer's place by this "
            "measure says little."
        )


def _is_told_from_zero(d: SelfDelta) -> bool:
    return d.delta.interval.low > 0 or d.delta.interval.high < 0


def _on_agreement(leave_out: Sequence[LeaveOut]) -> Iterator[str]:
    orders = [
        a
        for entry in leave_out
        if entry.kind == UNIQUES
        for a in entry.agreement
        if a.measure == MACRO_AUC and not np.isnan(a.spearman.value)
    ]
    if not orders:
        return
    rho, n = [a.spearman.value for a in orders], [a.n_queries for a in orders]
    queries = f"{min(n)} to {max(n)}" if min(n) < max(n) else f"{n[0]}"
    yield (
        f"With one model left out, the order of all {orders[0].n_models} by macro AUC has a "
        f"Spearman correlation of {min(rho):.2f} to {max(rho):.2f} with the order on all labels "
        f"({queries} queries; no interval covers it). However high, that cannot show the bias, "
        "because it is the model left out that moves: read the self-deltas."
    )


def _on_limits(evidence: PoolEvidence, rows: Sequence[ModelRow]) -> Iterator[str]:
    n_generators = len(evidence.generators)
    if n_generators == 1:
        yield "One model built the pool: without it nothing is left, so nothing can be left out."
    elif n_generators < SMALL_POOL:
        yield (
            f"Only {n_generators} models built the pool; the score adjustment is known to "
            "overshoot there."
        )
    for first, second, share in undeclared_relatives(evidence):
        yield (
            f"{first} and {second} make {share:.0%} of their proposals in common, as relatives do, "
            "but are of different families: the equal-outsider and family-matched AUC are not fair "
            "to them until they are declared as one family."
        )
    if any(len(members) > 1 for members in evidence.pooled_families.values()):
        yield (
            "Some pooled models are related. Leaving one out is masked by its relatives: read "
            f"the {FAMILY} rows and the family-matched AUC."
        )
    if evidence.unjudged_queries.size:
        yield (
            f"{evidence.unjudged_queries.size} proposed pairs have no label yet: every number "
            "here will move."
        )
    if evidence.n_outside_pool:
        yield (
            f"{evidence.n_outside_pool} judged pairs were proposed by no model and are left out."
        )
    if evidence.lists is None:
        yield "The runs score judged pairs only, so there is no P@k, judged@k or hole@k."
    elif not evidence.lists.is_known.all():
        names = zip(evidence.models, evidence.lists.is_known, strict=True)
        bare = ", ".join(name for name, is_known in names if not is_known)
        yield f"Scored on judged pairs only, so without P@k, judged@k or hole@k: {bare}."
    if rows and rows[0].macro_auc.n_queries < evidence.n_queries:
        yield (
            f"Macro AUC is defined on {rows[0].macro_auc.n_queries} of {evidence.n_queries} "
            "queries: the others lack a positive or a negative."
        )
