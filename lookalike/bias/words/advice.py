"""Which numbers of a model may be compared with whose, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.bias.comparison import Estimate
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.outsiders import (
    OUTSIDER,
    POOLED,
    SIBLING,
    find_siblings,
    model_badge,
)
from lookalike.bias.relatives import undeclared_relatives
from lookalike.metrics.leaderboard import ALL, NOBODY, OUTSIDERS_ONLY, POOLED_ONLY
from lookalike.metrics.measures import ON_JUDGED, parse_measure

JUDGED_FLOOR = 0.8
CUTOFF_COLUMN = "P@k, Success@k, MRR@k"
OUTSIDER_COLUMN, FAMILY_COLUMN = "equal-outsider AUC", "family-matched AUC"
RANDOM_COLUMN = "AUC on random negatives"
OF_THE_POOL = ("judged", "hole", "P_max")  # measures that tell of the pool, not of the model
UNRELATED = "models without relatives"


@dataclass(frozen=True)
class CutoffRow:
    """P@k with what the unjudged images could change.

    Attributes:
        k: the cut-off.
        precision: unjudged images counted as misses, over queries with a positive.
        upper: the same if every unjudged image were a positive.
        judged: mean judged@k over all queries with a list.
        hole: mean hole@k.
    """

    k: int
    precision: Estimate
    upper: float
    judged: float
    hole: float


@dataclass(frozen=True)
class ColumnAdvice:
    """One column of one model.

    Attributes:
        column: such as `CUTOFF_COLUMN`.
        comparable_with: "pooled models", "outsiders", "models without relatives", "all models"
            or "nobody".
        reason: why, in one sentence.
    """

    column: str
    comparable_with: str
    reason: str


def advice(
    evidence: PoolEvidence, model: str, cutoffs: Sequence[CutoffRow], has_random: bool
) -> tuple[ColumnAdvice, ...]:
    """Return for each column with whom this model may be compared.

    P, success and MRR are fair among pooled models only; annotated AUC and AP' among outsiders
    only; the AUC on random negatives among all. So is the equal-outsider AUC, except for models
    with relatives, whose labels stay in: for them, the family-matched AUC.

    Args:
        evidence: the pool.
        model: one of its evaluated models.
        cutoffs: its coverage; below `JUDGED_FLOOR` no cut-off measure is comparable.
        has_random: whether there is an AUC on random negatives.

    Returns:
        One entry per column.
    """
    badge = model_badge(evidence, model)
    columns = [_cutoff_advice(badge, cutoffs, evidence.depth), annotated_advice(badge)]
    columns += outsider_advice(evidence, model)
    if has_random:
        columns.append(
            ColumnAdvice(
                RANDOM_COLUMN,
                ALL,
                "nobody's top list made the negatives; having found the positives is a small edge, "
                f"the smaller the more models did: {len(evidence.generators)} here (in simulation "
                "a pooled model was .018 above its twin with 3 of them, .007 with 6)",
            )
        )
    return tuple(columns)


def notes_on(
    evidence: PoolEvidence, model: str, cutoffs: Sequence[CutoffRow], ceiling: float | None
) -> tuple[str, ...]:
    """Return what a reader must know about this model's row, in full sentences."""
    badge = model_badge(evidence, model)
    siblings = ", ".join(find_siblings(evidence, model))
    notes = [_BADGE_NOTES[badge].format(siblings=siblings)]
    if ceiling is not None and ceiling < 1.0:
        notes.append(
            f"Its own rejected proposals keep its annotated macro AUC at or below {ceiling:.3f}, "
            "whatever it does elsewhere."
        )
    if badge == POOLED and siblings:
        notes.append(
            f"Leaving it out alone hides little: {siblings} of the same family stays in the pool. "
            "Read the family row."
        )
    thin = [c for c in cutoffs if c.judged < JUDGED_FLOOR]
    if thin:
        worst = max(thin, key=lambda c: c.hole)
        note = f"{worst.hole:.0%} of its first {worst.k} are unjudged"
        if not math.isnan(worst.upper):
            note += f": P@{worst.k} lies anywhere between {worst.precision.value:.3f} and "
            note += f"{worst.upper:.3f}"
        notes.append(f"{note}.")
    return tuple(notes)


_BADGE_NOTES = {
    POOLED: (
        "It helped to build the pool: its own top candidates went to the judges, so P@k holds as "
        "far as the pool is deep, and its annotated AUC suffers, because its own mistakes are "
        "among the labels and an outsider's are not."
    ),
    SIBLING: (
        "It is not pooled but related to {siblings}: part of its top candidates is judged through "
        "them. It is neither punished nor flattered as much as an outsider; use the "
        "family-matched AUC."
    ),
    OUTSIDER: (
        "It did not build the pool: its unjudged candidates count as misses in P@k, and its "
        "annotated AUC is flattered because its own worst mistakes were never judged."
    ),
}


def cutoff_advice(badge: str, k: int, judged: float, depth: int) -> tuple[str, str]:
    """Return with whom a measure of the first k images may be compared, and why.

    Only models whose first k all went to the judges are treated alike, which those that built the
    pool are as far as it is deep.

    Args:
        badge: the model's part in the pool.
        k: the cut-off.
        judged: the model's mean judged@k.
        depth: of the pool.

    >>> cutoff_advice("pooled", 5, 0.95, 4)
    ('nobody', 'the pool is 4 deep, so what stands at rank 5 was judged by chance only')
    """
    if judged < JUDGED_FLOOR:
        return NOBODY, f"of its first {k} only {judged:.0%} are judged"
    if badge != POOLED:
        return NOBODY, "what the pool did not hold counts as a miss; compare the bounds"
    if k > depth:
        by_chance = f"what stands at rank {k} was judged by chance only"
        return NOBODY, f"the pool is {depth} deep, so {by_chance}"
    return POOLED_ONLY, f"the pool is {depth} deep, so its first {k} went to the judges"


def _cutoff_advice(badge: str, cutoffs: Sequence[CutoffRow], depth: int) -> ColumnAdvice:
    if not cutoffs:
        return ColumnAdvice(CUTOFF_COLUMN, NOBODY, "there are no top lists to compute them from")
    of_k = {c.k: cutoff_advice(badge, c.k, c.judged, depth) for c in cutoffs}
    if fair := [k for k, (whom, _) in of_k.items() if whom == POOLED_ONLY]:
        beyond = f"below the pool's depth of {depth} its candidates were judged by chance only"
        return ColumnAdvice(CUTOFF_COLUMN, POOLED_ONLY, f"up to k = {max(fair)}; {beyond}")
    best = max(cutoffs, key=lambda c: c.judged)
    even = "even " if best.judged < JUDGED_FLOOR else ""
    return ColumnAdvice(CUTOFF_COLUMN, NOBODY, even + of_k[best.k][1])


def outsider_advice(evidence: PoolEvidence, model: str) -> list[ColumnAdvice]:
    """Return with whom the equal-outsider AUC of a model is compared, then the family-matched."""
    column = OUTSIDER_COLUMN
    if len(evidence.generators) == 1:
        return [ColumnAdvice(column, NOBODY, "without its only model the pool is empty")]
    fair = "every model is judged on labels that its own proposals did not make"
    related = {name for name in evidence.models if _has_relatives(evidence, name)}
    if not related:
        return [ColumnAdvice(column, ALL, fair)]
    own = (
        ColumnAdvice(column, NOBODY, _relatives_reason(evidence, model))
        if model in related
        else ColumnAdvice(column, UNRELATED, fair)
    )
    family = FAMILY_COLUMN
    twins = [pair for *pair, _ in undeclared_relatives(evidence) if model in pair]
    if twins:
        reason = f"{' and '.join(twins[0])} may be related, but are of different families"
        return [own, ColumnAdvice(family, NOBODY, reason)]
    if len(evidence.pooled_families) == 1:
        return [own, ColumnAdvice(family, NOBODY, "without its only family the pool is empty")]
    return [own, ColumnAdvice(family, ALL, "no label made by a model's own family counts for it")]


def _relatives_reason(evidence: PoolEvidence, model: str) -> str:
    """Return why a model with relatives is compared with nobody, naming those undeclared."""
    pairs = [pair for *pair, _ in undeclared_relatives(evidence) if model in pair]
    others = [name for pair in pairs for name in pair if name != model]
    which = f"may be related to {', '.join(others)}; " if others else ""
    return f"{which}labels made by its relatives stay in"


def _has_relatives(evidence: PoolEvidence, model: str) -> bool:
    """Return whether another model of its family is pooled, or is compared with a pooled one."""
    twins = {name for *pair, _ in undeclared_relatives(evidence) for name in pair}
    if find_siblings(evidence, model) or model in twins:
        return True
    family = evidence.family_of(model)
    return family in evidence.pooled_families and any(
        evidence.family_of(other) == family for other in evidence.models if other != model
    )


def annotated_advice(badge: str) -> ColumnAdvice:
    """Return with whom annotated AUC and AP' of a model of this part in the pool are compared."""
    column = "annotated AUC and AP"
    if badge == POOLED:
        return ColumnAdvice(
            column, POOLED_ONLY, "its own negatives are among the labels, an outsider's are not"
        )
    if badge == SIBLING:
        return ColumnAdvice(column, NOBODY, "its family's negatives are among the labels")
    return ColumnAdvice(column, OUTSIDERS_ONLY, "no outsider's own negatives are labelled")


def comparable_with(measure: str, badge: str, judged: float | None, depth: int) -> tuple[str, str]:
    """Return with whom a value may be compared, and why.

    Args:
        measure: its name; with a cut-off, where it counts ranks.
        badge: the model's part in the pool.
        judged: the model's mean judged@k of that cut-off, None where it is not known.
        depth: of the pool.

    >>> comparable_with("P@5", "pooled", 1.0, 6)[0], comparable_with("P@5", "pooled", 1.0, 4)[0]
    ('pooled models', 'nobody')
    >>> comparable_with("judged@5", "outsider", 0.3, 6)
    ('all models', '')
    """
    parsed = parse_measure(measure)
    if parsed.needs_negatives or parsed.family in OF_THE_POOL:
        return ALL, ""
    if parsed.is_area or parsed.family in ON_JUDGED:
        advice = annotated_advice(badge)
        return advice.comparable_with, advice.reason
    known = 1.0 if judged is None else judged
    return cutoff_advice(badge, int(parsed.parameter or 1), known, depth)
