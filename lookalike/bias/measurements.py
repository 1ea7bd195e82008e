"""Every measure of every model on every label set, per query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.pool import Lists, PoolEvidence
from lookalike.bias.subsets import LabelSet
from lookalike.core.arrays import Bools, Floats
from lookalike.stats.defined_values import ratio
from lookalike.stats.micro_values import micro_values
from lookalike.stats.roc_auc import auc_and_ap, micro_auc_and_ap

MACRO_AUC, MACRO_AP, MICRO_AUC, MICRO_AP = "macro_auc", "macro_ap", "micro_auc", "micro_ap"
EQUAL_OUTSIDER = "equal_outsider_auc"


@dataclass(frozen=True)
class Measured:
    """Values on a list of label sets; the axes follow that list and the evidence's models.

    Attributes:
        macro: by measure name, shape (n_models, n_sets, n_queries), NaN where undefined.
            Which queries are defined depends on the labels alone, so all models share them.
        micro: by measure name, shape (n_models, n_sets).
        micro_by_query: by measure name, shape (n_models, n_sets, n_queries), from
            `lookalike.stats.micro_values`: what the queries' share in it is, for its interval.
    """

    macro: dict[str, Floats]
    micro: dict[str, Floats]
    micro_by_query: dict[str, Floats]


def precision_name(k: int) -> str:
    """Return the name under which P@k is reported."""
    return f"p@{k}"


def is_yes_no(measure: str) -> bool:
    """Whether a measure is 0 or 1 at every query: P@1 alone."""
    return measure == precision_name(1)


def measure(evidence: PoolEvidence, sets: Sequence[LabelSet], ks: Sequence[int]) -> Measured:
    """Return macro and micro ROC-AUC and average precision, and P@k, on every label set.

    P@k counts pairs outside the label set as misses, and is defined on the queries that have a
    positive in the *whole* pool whatever the set, so that sets are compared on the same queries.

    Args:
        evidence: the pool.
        sets: the label sets.
        ks: cut-offs of P@k, used if the evidence has lists.

    Returns:
        The values.
    """
    weights = np.stack([s.kept for s in sets]).astype(np.float64)
    per_query = auc_and_ap(
        evidence.scores, evidence.labels, evidence.queries, evidence.n_queries, weights
    )
    micro = micro_auc_and_ap(evidence.scores, evidence.labels, weights)
    auc, ap = micro_values(
        evidence.scores, evidence.labels, evidence.queries, evidence.n_queries, weights > 0
    )
    macro = {MACRO_AUC: per_query.auc, MACRO_AP: per_query.average_precision}
    if evidence.lists is not None:
        for k in ks:
            macro[precision_name(k)] = precision_at(evidence, weights > 0, k)
    return Measured(
        macro=macro,
        micro={MICRO_AUC: micro.auc[:, :, 0], MICRO_AP: micro.average_precision[:, :, 0]},
        micro_by_query={MICRO_AUC: auc, MICRO_AP: ap},
    )


def queries_with_positive(evidence: PoolEvidence) -> Bools:
    """Mark the queries with at least one judged positive, shape (n_queries,)."""
    n = np.bincount(evidence.queries, weights=evidence.labels, minlength=evidence.n_queries)
    has_positive: Bools = n > 0
    return has_positive


def precision_at(evidence: PoolEvidence, kept: Bools, k: int) -> Floats:
    """Return the share of the first k that are positives of a label set.

    Unjudged pairs, pairs outside the set and ranks past a short list count as misses: this is
    the lowest value that the missing labels allow.

    Args:
        evidence: the pool, with lists.
        kept: shape (n_sets, n_pairs).
        k: cut-off, >= 1.

    Returns:
        Shape (n_models, n_sets, n_queries); NaN for a query without a positive in the pool,
        and for a model without a list, or whose lists are complete above rank k only.

    Raises:
        ValueError: if k < 1 or there are no lists.
    """
    lists = _lists(evidence, k)
    n_sets, n_queries = kept.shape[0], evidence.n_queries
    values = np.empty((len(evidence.models), n_sets, n_queries))
    for m, ranks in enumerate(lists.ranks):
        hits = np.flatnonzero((ranks > 0) & (ranks <= k) & (evidence.labels == 1))
        label_set, column = np.nonzero(kept[:, hits])
        cells = label_set * n_queries + evidence.queries[hits[column]]
        n_hits = np.bincount(cells, minlength=n_sets * n_queries)
        values[m] = n_hits.reshape(n_sets, n_queries) / k
    values[~lists.reach(k)] = np.nan
    return np.where(queries_with_positive(evidence), values, np.nan)


@dataclass(frozen=True)
class Coverage:
    """How much of the first k of each list is judged, per query.

    Attributes:
        judged: shape (n_models, n_queries), share of the first k that is judged; NaN where the
            list is empty. Both are NaN where lists are complete above rank k only.
        slack: shape (n_models, n_queries), what P@k would gain if every unjudged image were a
            positive: holes / k.
    """

    judged: Floats
    slack: Floats


def coverage_at(evidence: PoolEvidence, k: int) -> Coverage:
    """Return judged@k and the width of the P@k bounds.

    Per query: BEIR and MTEB ask instead whether an image was judged for *any* query, which is
    far too kind. A list shorter than k is taken as long as it is.

    Args:
        evidence: the pool, with lists.
        k: cut-off, >= 1.

    Returns:
        The shares.

    Raises:
        ValueError: if k < 1 or there are no lists.
    """
    lists = _lists(evidence, k)
    n_listed = np.minimum(lists.lengths, k)
    is_listed = (lists.ranks > 0) & (lists.ranks <= k)
    n_judged = np.stack(
        [np.bincount(evidence.queries[row], minlength=evidence.n_queries) for row in is_listed]
    )
    is_short = lists.is_known & ~lists.reach(k)
    judged, slack = ratio(n_judged, n_listed), (n_listed - n_judged) / k
    return Coverage(*(np.where(is_short[:, None], np.nan, of) for of in (judged, slack)))


def _lists(evidence: PoolEvidence, k: int) -> Lists:
    if k < 1:
        raise ValueError(f"a cut-off is at least 1, not {k}")
    if evidence.lists is None:
        raise ValueError("cut-off measures need the places in the models' whole rankings")
    return evidence.lists
