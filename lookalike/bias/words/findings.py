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
from lookalike.bias.relatives import undeclared_relatives
from lookalike.bias.subsets import FAMILY, UNIQUES
from lookalike.bias.words.advice import (
    CUTOFF_COLUMN,
    FAMILY_COLUMN,
    OUTSIDER_COLUMN,
    RANDOM_COLUMN,
)
from lookalike.bias.words.titles import measure_title
from lookalike.metrics.leaderboard import ALL, POOLED_ONLY

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
    if not 0 < n_pooled < len(rows):
        return
    groups: dict[str, set[str]] = {}
    for one in (one for row in rows for one in row.advice):
        groups.setdefault(one.column, set()).add(one.comparable_with)
    cutoffs = "Compare P@k, Success@k and MRR@k among those only, up to the pool's depth,"
    if POOLED_ONLY not in groups[CUTOFF_COLUMN]:
        cutoffs = (
            "P@k, Success@k and MRR@k may be compared with nobody's: too few of the first images "
            "went to the judges. Compare"
        )
    columns = (OUTSIDER_COLUMN, FAMILY_COLUMN, RANDOM_COLUMN)
    fair = [name for name in columns if groups.get(name) == {ALL}]
    of_all = f", and all of them by the {' or the '.join(fair)}" if fair else ""
    yield (
        f"{n_pooled} of {len(rows)} models built the pool. {cutoffs} annotated AUC and AP within "
        f"each group{of_all}."
    )


def _on_self_deltas(leave_out: Sequence[LeaveOut]) -> Iterator[str]:
    """Yield, of each direction, the largest change whose interval leaves out 0."""
    deltas = [d for entry in leave_out if entry.kind == UNIQUES for d in entry.self_deltas]
    defined = [d for d in deltas if not np.isnan(d.delta.value)]
    shown = [d for d in defined if d.exceeds_gap and _is_told_from_zero(d)]
    shown.sort(key=lambda d: (d.measure != MACRO_AUC, -abs(d.delta.value)))
    gains = [d for d in shown if d.delta.value > 0]
    losses = [d for d in shown if d.delta.value < 0]
    if losses:
        yield "Models from outside lose: " + _on_one_direction(losses, defined, "less")
    if gains:
        yield "Building the pool costs a model: " + _on_one_direction(gains, defined, "more")


def _on_one_direction(shown: Sequence[SelfDelta], defined: Sequence[SelfDelta], way: str) -> str:
    """Return one change in words, and which other measures move the same way."""
    worst = shown[0]
    n_moved = sum(
        d.measure == worst.measure
        and d.exceeds_gap
        and d.delta.value * worst.delta.value > 0
        and not _holds_zero(d)
        for d in defined
    )
    n_models = sum(d.measure == worst.measure for d in defined)
    low, high = sorted((abs(worst.delta.interval.low), abs(worst.delta.interval.high)))
    of_family = {_family(d.measure): d.measure for d in reversed(shown)}  # the one that moves most
    of_family.pop(_family(worst.measure))
    others = sorted(of_family.values())
    after, before = worst.rank_after, worst.rank_before
    place = f"place {after} instead of {before}" if after != before else f"still place {after}"
    also = f" So do {', '.join(map(measure_title, others))}." if others else ""
    return (
        f"without the pairs that it alone proposed, {worst.model} would have "
        f"{abs(worst.delta.value):.3f} {way} by {measure_title(worst.measure)} (95 % interval "
        f"{low:.3f} to {high:.3f}, {worst.n_queries} queries; {place}). {n_moved} of {n_models} "
        "pooled models move by more than the usual gap between neighbours, so"
        f" the value of a newcomer does not stand beside theirs.{also}"
    )


def _holds_zero(d: SelfDelta) -> bool:
    """Whether the interval holds 0; a blank one, as of equal losses at each query, does not."""
    return d.delta.interval.low <= 0 <= d.delta.interval.high


def _family(measure: str) -> str:
    return measure.partition("@")[0]


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
    least, most = f"{min(rho):.2f}", f"{max(rho):.2f}"
    correlation = least if least == most else f"{least} to {most}"
    yield (
        f"The order of all {orders[0].n_models} models by macro ROC-AUC with one left out has a "
        f"Spearman correlation of {correlation} with the order on all "
        f"labels ({queries} queries; no "
        "interval covers it). That does not clear the pool, because it is the model left out that "
        "moves."
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
            f"{first} and {second} may be related, although they are of different families: "
            f"{share:.0%} of their proposals or errors are common. The equal-outsider and "
            "family-matched AUC are not fair to them until they are declared as one family."
        )
    if any(len(members) > 1 for members in evidence.pooled_families.values()):
        yield (
            "Some pooled models are related, and cover for each other when one is left out: read "
            f"the rows “{FAMILY}” and the family-matched AUC."
        )
    if evidence.unjudged_queries.size:
        yield (
            f"{evidence.unjudged_queries.size} proposed pairs have no label yet: every number "
            "here will move."
        )
    if evidence.n_own_product:
        yield (
            f"{evidence.n_own_product} judged pairs show the query's own product and are left out."
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
