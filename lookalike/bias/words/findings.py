"""The main points of a bias report, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lookalike.bias.comparison import SelfDelta
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.leave_out import LeaveOut
from lookalike.bias.measurements import MACRO_AUC
from lookalike.bias.model_rows import ModelRow
from lookalike.bias.outsiders import POOLED
from lookalike.bias.subsets import FAMILY, UNIQUES

SMALL_POOL = 4
STABLE = 0.9


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
    deltas = [d for entry in leave_out if entry.kind == UNIQUES for d in entry.self_deltas]
    defined = [d for d in deltas if not np.isnan(d.delta.value)]
    strongest: dict[str, SelfDelta] = {}  # of all cut-offs of a measure, the one that moves most
    for d in sorted(defined, key=lambda d: -abs(d.delta.value)):
        strongest.setdefault(d.measure.partition("@")[0], d)
    for measure in sorted(s.measure for s in strongest.values()):
        mine = [d for d in defined if d.measure == measure]
        beyond = [d for d in mine if d.exceeds_gap]
        if not beyond:
            continue
        worst = max(mine, key=lambda d: abs(d.delta.value))
        who = "outsiders are punished" if worst.delta.value < 0 else "taking part is punished"
        yield (
            f"{measure}: without its own proposals, {worst.model} moves by "
            f"{worst.delta.value:+.3f} ({worst.rank_before} to {worst.rank_after} in the order): "
            f"{who}. For {len(beyond)} of {len(mine)} pooled models the change is larger than "
            "the usual gap between neighbours, so a newcomer's place by this measure says little."
        )


def _on_agreement(leave_out: Sequence[LeaveOut]) -> Iterator[str]:
    rho = [
        a.spearman.value
        for entry in leave_out
        if entry.kind == UNIQUES
        for a in entry.agreement
        if a.measure == MACRO_AUC and not np.isnan(a.spearman.value)
    ]
    if not rho:
        return
    spread = f"(Spearman {min(rho):.2f} to {max(rho):.2f} with the order on all labels)"
    if min(rho) >= STABLE:
        yield (
            f"The order of all models by macro AUC hardly changes when one is left out {spread}. "
            "That cannot show the bias, because it is the model left out that moves: read the "
            "self-deltas."
        )
    else:
        yield f"The order of all models by macro AUC depends on who built the pool {spread}."


def _on_limits(evidence: PoolEvidence, rows: Sequence[ModelRow]) -> Iterator[str]:
    n_generators = len(evidence.generators)
    if n_generators == 1:
        yield "One model built the pool: without it nothing is left, so nothing can be left out."
    elif n_generators < SMALL_POOL:
        yield (
            f"Only {n_generators} models built the pool; the score adjustment is known to "
            "overshoot there."
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
