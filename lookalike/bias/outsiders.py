"""Ways to compare models inside and outside the pool on equal terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.comparison import defined_means
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.measurements import MACRO_AUC, Measured
from lookalike.bias.subsets import FAMILY, UNIQUES, LabelSet, leave_out_sets
from lookalike.core.arrays import Floats
from lookalike.stats.roc_auc import auc_and_ap

POOLED, SIBLING, OUTSIDER = "pooled", "sibling", "outsider"


@dataclass(frozen=True)
class AdjustedScore:
    """A score lifted by what the pool's models lose without their own proposals.

    Attributes:
        raw: on all labels.
        added: mean of before - after over the pooled models.
        value: raw + added, clipped to [0, 1].
        is_clipped: the sum lay outside, a sign that the pool is too small for this.
    """

    raw: float
    added: float
    value: float
    is_clipped: bool


def model_badge(evidence: PoolEvidence, model: str) -> str:
    """Return "pooled", "sibling" (its family has a pooled model) or "outsider"."""
    if model in evidence.generators:
        return POOLED
    return SIBLING if evidence.family_of(model) in evidence.pooled_families else OUTSIDER


def find_siblings(evidence: PoolEvidence, model: str) -> tuple[str, ...]:
    """Return the other pooled models of the model's family."""
    members = evidence.pooled_families.get(evidence.family_of(model), ())
    return tuple(evidence.generators[g] for g in members if evidence.generators[g] != model)


def equal_outsider(evidence: PoolEvidence, sets: Sequence[LabelSet], measured: Measured) -> Floats:
    """Return the ROC-AUC of every model with all of them treated as outsiders.

    A pooled model is judged on the labels that would exist without it; any other model on each
    of those label sets in turn, averaged. So all are outsiders to pools of the same size. Only
    queries that every such set defines count. Where errors run in families, `family_matched`
    is fairer.

    Args:
        evidence: the pool.
        sets: from `leave_out_sets`.
        measured: values on them.

    Returns:
        Shape (n_models, n_queries), NaN where any of the sets leaves a query undefined.
    """
    return _own_or_mean(evidence, sets, measured, UNIQUES)


def equal_outsider_by_query(
    evidence: PoolEvidence, query_ids: Sequence[str], wanted: Sequence[str]
) -> dict[str, Floats]:
    """Return what `equal_outsider` does, by model and at queries by name.

    Args:
        evidence: the pool.
        query_ids: the names of its queries.
        wanted: names in the order that is wanted; what the pool lacks is NaN.
    """
    sets = [one for one in leave_out_sets(evidence) if one.kind == UNIQUES]
    weights = np.stack([one.kept for one in sets]).astype(np.float64)
    found = auc_and_ap(
        evidence.scores, evidence.labels, evidence.queries, evidence.n_queries, weights
    )
    values = equal_outsider(evidence, sets, Measured({MACRO_AUC: found.auc}, {}, {}))
    place = {query: at for at, query in enumerate(query_ids)}
    at = [place.get(query, evidence.n_queries) for query in wanted]
    padded = np.pad(values, ((0, 0), (0, 1)), constant_values=np.nan)
    return dict(zip(evidence.models, padded[:, at], strict=True))


def family_matched(evidence: PoolEvidence, sets: Sequence[LabelSet], measured: Measured) -> Floats:
    """Return the ROC-AUC of every model on labels without its own family's proposals.

    A model whose family is not in the pool is judged on the pool without each family in turn,
    averaged. Equals `equal_outsider` where no pooled family has two members and no outsider a
    pooled relative. Arguments and result are those of `equal_outsider`.
    """
    return _own_or_mean(evidence, sets, measured, FAMILY)


def adjusted_scores(
    evidence: PoolEvidence, sets: Sequence[LabelSet], measured: Measured
) -> dict[str, dict[str, AdjustedScore]]:
    """Return, for each unpooled model and macro measure, its score adjusted for the pool.

    Source: Webber and Park (SIGIR 2009): μ_new + mean_i (μ_i - μ_i^-i) over the pooled models.
    A sensitivity, not an estimate: with few pooled models it overshoots.

    Args:
        evidence: the pool.
        sets: from `leave_out_sets`, the full set first.
        measured: values on them.

    Returns:
        {model: {measure: adjustment}}, empty if no pooled model is evaluated.
    """
    columns = {s.name: g for g, s in enumerate(sets) if s.kind == UNIQUES}
    pooled = [n for n in evidence.generators if n in evidence.models]
    if not pooled:
        return {}
    adjusted: dict[str, dict[str, AdjustedScore]] = {}
    for measure, values in measured.macro.items():
        losses = []
        for name in pooled:
            own = values[evidence.models.index(name)]
            lost = own[0] - own[columns[name]]
            losses.append(float(defined_means(lost[~np.isnan(lost)])))
        known = [loss for loss in losses if not np.isnan(loss)]
        added = float(np.mean(known)) if known else float("nan")
        for m, name in enumerate(evidence.models):
            if name not in pooled:
                own = values[m, 0]
                raw = float(defined_means(own[~np.isnan(own)]))
                value = float(np.clip(raw + added, 0.0, 1.0))
                is_clipped = not 0.0 <= raw + added <= 1.0 and not np.isnan(value)
                adjusted.setdefault(name, {})[measure] = AdjustedScore(
                    raw, added, value, is_clipped
                )
    return adjusted


def random_negative_auc(evidence: PoolEvidence) -> Floats | None:
    """Return the ROC-AUC of pooled positives against random negatives.

    Args:
        evidence: the pool with its frozen list of negatives.

    Returns:
        Shape (n_models, n_queries), NaN for a query without positives or negatives, and for a
        model without scores of the negatives; None without a list.
    """
    negatives = evidence.random_negatives
    if negatives is None:
        return None
    is_positive = evidence.labels == 1
    is_unknown = np.isnan(negatives.scores).any(axis=1, keepdims=True)
    found: Floats = auc_and_ap(
        np.concatenate([evidence.scores[:, is_positive], np.nan_to_num(negatives.scores)], axis=1),
        np.repeat([1.0, 0.0], [int(is_positive.sum()), negatives.queries.size]),
        np.concatenate([evidence.queries[is_positive], negatives.queries]),
        evidence.n_queries,
    ).auc[:, 0]
    return np.where(is_unknown, np.nan, found)


def _own_or_mean(
    evidence: PoolEvidence, sets: Sequence[LabelSet], measured: Measured, kind: str
) -> Floats:
    columns = {s.name: g for g, s in enumerate(sets) if s.kind == kind}
    names = [evidence.family_of(m) if kind == FAMILY else m for m in evidence.models]
    auc = measured.macro[MACRO_AUC]
    every = auc[:, list(columns.values())]
    is_common = ~np.isnan(every).any(axis=(0, 1))
    values = np.stack(
        [
            auc[m, columns[name]] if name in columns else every[m].mean(axis=0)
            for m, name in enumerate(names)
        ]
    )
    return np.where(is_common, values, np.nan)
