"""Fewer annotators: how labels and the order of the models depend on who judged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from lookalike.agreement.majority import majority
from lookalike.bias.comparison import defined_means
from lookalike.bias.evidence.pool import PoolEvidence, Votes
from lookalike.core.arrays import Bools, Floats
from lookalike.stats.rank_correlation import correlations
from lookalike.stats.roc_auc import auc_and_ap

ALL_PANELS_UP_TO = 8
PANELS_PER_SIZE = 36
BATCH = 16  # labellings at once


@dataclass(frozen=True)
class Labelling:
    """What a panel's majority says.

    Attributes:
        labels: shape (n_pairs,), 1 where more than half of its answers are yes; a tie is 0.
        is_labelled: shape (n_pairs,), False where nobody of the panel judged the pair.
        is_tie: shape (n_pairs,).
    """

    labels: Bools
    is_labelled: Bools
    is_tie: Bools


@dataclass(frozen=True)
class PanelRow:
    """One sub-panel against the whole panel.

    Attributes:
        annotators: who is in it.
        n_annotators: how many.
        is_even: even panels can tie, and a tie counts as negative: their labels lean to no.
        n_labelled: pairs with at least one of its answers.
        n_ties: pairs on which it is split evenly.
        n_positive: pairs it labels positive.
        flip_rate: share of its labelled pairs that the whole panel labels otherwise.
        alpha: Krippendorff's nominal alpha of its answers, NaN for one annotator.
        macro_auc: of every model on its labels, in the order of the evidence.
        n_queries: queries defined under its labels and under the whole panel's.
        tau_b: order of the models under its labels, against the whole panel's.
        max_drop: most places lost by one model, None without a common query.
    """

    annotators: tuple[str, ...]
    n_annotators: int
    is_even: bool
    n_labelled: int
    n_ties: int
    n_positive: int
    flip_rate: float
    alpha: float
    macro_auc: list[float]
    n_queries: int
    tau_b: float
    max_drop: int | None


@dataclass(frozen=True)
class PanelAblation:
    """All sub-panels, or a seeded part of them where there are too many.

    Attributes:
        rows: by size, then in the order of the annotators; the whole panel last.
        is_complete: whether every sub-panel is there.
    """

    rows: tuple[PanelRow, ...]
    is_complete: bool


def panel_labels(votes: Votes, members: tuple[int, ...]) -> Labelling:
    """Return what the majority of some annotators says; a tie is negative, as in VSD.

    Args:
        votes: all answers.
        members: columns of the annotators who count.

    Returns:
        Labels, and where they are missing or rest on a tie.
    """
    is_given = votes.is_given[:, list(members)]
    n_yes = (votes.answers[:, list(members)] & is_given).sum(axis=1)
    n_no = is_given.sum(axis=1) - n_yes
    found = majority(n_yes, n_no, "negative")
    return Labelling(found.is_similar, found.is_decided, (n_yes == n_no) & found.is_decided)


def krippendorff_alpha(answers: Bools, is_given: Bools) -> float:
    """Return Krippendorff's nominal alpha of yes/no answers; missing ones are allowed.

    1 is perfect, 0 what chance would give. At 85 % positives it is low even where annotators
    nearly always agree, so show the raw agreement beside it.

    Args:
        answers: shape (n_pairs, n_annotators), read where `is_given`.
        is_given: same shape.

    Returns:
        Alpha; NaN if no pair has two answers or all answers are the same.
    """
    n_given = is_given.sum(axis=1)
    yes = (answers & is_given).sum(axis=1)[n_given > 1].astype(np.float64)
    n_given = n_given[n_given > 1]
    n_yes, n_no = yes.sum(), (n_given - yes).sum()
    if n_yes == 0 or n_no == 0:
        return float("nan")
    disagreed = (yes * (n_given - yes) / (n_given - 1)).sum()
    return float(1.0 - (n_yes + n_no - 1.0) * disagreed / (n_yes * n_no))


def panels(n_annotators: int, rng: np.random.Generator) -> tuple[list[tuple[int, ...]], bool]:
    """Return every non-empty sub-panel, or a seeded part of each size, and which it is.

    Args:
        n_annotators: size of the whole panel.
        rng: draws the part where there are more than `ALL_PANELS_UP_TO` annotators.

    Returns:
        The panels as columns, the whole one last, and whether they are all.
    """
    everyone = range(n_annotators)
    if n_annotators <= ALL_PANELS_UP_TO:
        return [p for e in range(1, n_annotators + 1) for p in combinations(everyone, e)], True
    chosen: list[tuple[int, ...]] = []
    for size in range(1, n_annotators + 1):
        wanted = min(PANELS_PER_SIZE, comb(n_annotators, size))
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < wanted:
            members = rng.choice(n_annotators, size, replace=False)
            drawn.add(tuple(sorted(members.tolist())))
        chosen += sorted(drawn)
    return chosen, False


def panel_ablation(evidence: PoolEvidence, votes: Votes, rng: np.random.Generator) -> PanelAblation:
    """Judge the models again under the majority of every sub-panel.

    The reference is the majority of all annotators, recomputed here with ties as negatives,
    not the labels of the evidence, which may follow another rule.

    Args:
        evidence: the pool.
        votes: the answers behind its labels.
        rng: draws the panels if there are too many.

    Returns:
        One row per panel.
    """
    members, is_complete = panels(len(votes.annotators), rng)
    whole = panel_labels(votes, members[-1])
    reference = macro_auc_on(evidence, [whole])[:, 0]
    rows: list[PanelRow] = []
    for at in range(0, len(members), BATCH):
        batch = members[at : at + BATCH]
        labellings = [panel_labels(votes, m) for m in batch]
        auc = macro_auc_on(evidence, labellings)
        rows += [
            _row(votes, m, (labelling, whole), (auc[:, i], reference))
            for i, (m, labelling) in enumerate(zip(batch, labellings, strict=True))
        ]
    return PanelAblation(tuple(rows), is_complete)


def macro_auc_on(evidence: PoolEvidence, labellings: list[Labelling]) -> Floats:
    """Return ROC-AUC per model, labelling and query from one sort; NaN where undefined.

    Every pair enters twice, once as a positive and once as a negative; the weights let one of
    the two count.
    """
    yes = np.stack([x.labels & x.is_labelled for x in labellings]).astype(np.float64)
    no = np.stack([~x.labels & x.is_labelled for x in labellings]).astype(np.float64)
    return auc_and_ap(
        np.concatenate([evidence.scores, evidence.scores], axis=1),
        np.repeat([1.0, 0.0], evidence.n_pairs),
        np.tile(evidence.queries, 2),
        evidence.n_queries,
        np.concatenate([yes, no], axis=1),
    ).auc


def _row(
    votes: Votes,
    members: tuple[int, ...],
    labellings: tuple[Labelling, Labelling],
    aucs: tuple[Floats, Floats],
) -> PanelRow:
    """Put a panel (first of each couple) beside the whole one (second)."""
    (panel, whole), (auc, reference) = labellings, aucs
    is_common = ~np.isnan(auc).any(axis=0) & ~np.isnan(reference).any(axis=0)
    ours, theirs = defined_means(auc[:, is_common]), defined_means(reference[:, is_common])
    order = correlations(theirs, ours)
    flipped = (panel.labels != whole.labels)[panel.is_labelled]
    columns = list(members)
    return PanelRow(
        annotators=tuple(votes.annotators[e] for e in members),
        n_annotators=len(members),
        is_even=len(members) % 2 == 0,
        n_labelled=int(panel.is_labelled.sum()),
        n_ties=int(panel.is_tie.sum()),
        n_positive=int((panel.labels & panel.is_labelled).sum()),
        flip_rate=float(flipped.mean()) if flipped.size else float("nan"),
        alpha=krippendorff_alpha(votes.answers[:, columns], votes.is_given[:, columns]),
        macro_auc=ours.tolist(),
        n_queries=int(is_common.sum()),
        tau_b=float(order.tau_b),
        max_drop=int(order.max_drop) if is_common.any() else None,
    )
