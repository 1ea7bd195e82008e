"""One row per evaluated model: its badge, its columns, and which of them may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.comparison import Estimate
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.measurements import (
    MACRO_AP,
    MACRO_AUC,
    MICRO_AP,
    MICRO_AUC,
    Measured,
    coverage_at,
    precision_name,
    queries_with_positive,
)
from lookalike.bias.outsiders import (
    POOLED,
    AdjustedScore,
    adjusted_scores,
    equal_outsider,
    family_matched,
    find_siblings,
    model_badge,
    random_negative_auc,
)
from lookalike.bias.overlap import forced_loss_ceiling
from lookalike.bias.subsets import LabelSet
from lookalike.bias.words.advice import ColumnAdvice, CutoffRow, advice, notes_on
from lookalike.core.arrays import Floats
from lookalike.metrics.contamination import corrected_auc
from lookalike.stats.defined_values import common_queries, mean_defined
from lookalike.stats.intervals import mean_interval, spread_interval
from lookalike.stats.proportion import Interval
from lookalike.stats.rank_correlation import places
from lookalike.stats.units import Units, unit_spread


@dataclass(frozen=True)
class MacroColumn:
    """A mean over queries.

    Attributes:
        value: the mean.
        interval: over queries.
        n_queries: queries it is over, the same for all models.
        n_units: independent units of these queries; None in older reports.
    """

    value: float
    interval: Interval
    n_queries: int
    n_units: int | None = None


@dataclass(frozen=True)
class ModelRow:
    """Everything the report says about one model.

    Attributes:
        name: the model.
        family: its family.
        badge: "pooled", "sibling" (of a pooled model) or "outsider".
        siblings: other pooled models of its family.
        rank: its place by macro ROC-AUC on all labels, None if undefined.
        macro_auc: ROC-AUC on annotated pairs (bpref where N <= R and nothing is tied).
        macro_ap: AP over judged pairs (AP').
        micro_auc: ROC-AUC over the pairs of all queries at once.
        micro_ap: AP over the pairs of all queries at once.
        equal_outsider_auc: macro ROC-AUC with every model treated as if it were unpooled.
        family_matched_auc: the same with whole families left out.
        random_negative_auc: pooled positives against random negatives; None without them.
        random_negative_corrected: the same without their contamination, None if unknown.
        cutoffs: P@k, judged@k and hole@k; empty without a list.
        forced_loss_ceiling: the highest macro ROC-AUC that its own proposals allow; None
            unless pooled.
        adjusted: by measure, the score adjustment of a model that is not pooled.
        advice: with whom each column may be compared.
        notes: what to know before reading the row.
        micro_ap_interval: of `micro_ap`; None in older reports.
    """

    name: str
    family: str
    badge: str
    siblings: tuple[str, ...]
    rank: int | None
    macro_auc: MacroColumn
    macro_ap: MacroColumn
    micro_auc: Estimate
    micro_ap: float
    equal_outsider_auc: MacroColumn
    family_matched_auc: MacroColumn
    random_negative_auc: MacroColumn | None
    random_negative_corrected: float | None
    cutoffs: tuple[CutoffRow, ...]
    forced_loss_ceiling: float | None
    adjusted: dict[str, AdjustedScore]
    advice: tuple[ColumnAdvice, ...]
    notes: tuple[str, ...]
    micro_ap_interval: Interval | None = None


def model_rows(
    evidence: PoolEvidence,
    sets: Sequence[LabelSet],
    measured: Measured,
    *,
    ks: Sequence[int],
    level: float = 0.95,
) -> tuple[ModelRow, ...]:
    """Return one row per evaluated model, in the order of the evidence.

    Args:
        evidence: the pool.
        sets: from `leave_out_sets`, the full set first.
        measured: values on them.
        ks: cut-offs, as given to `measure`.
        level: coverage of the intervals.

    Returns:
        The rows.
    """

    def column(values: Floats) -> list[MacroColumn]:
        return _macro_column(values, level, evidence.units)

    def micro(name: str, m: int) -> Estimate:
        value, by_query = float(measured.micro[name][m, 0]), measured.micro_by_query[name][m, 0]
        spread = unit_spread(by_query, evidence.unit_codes)
        return Estimate(value, spread_interval(value, spread, level))

    auc, ap = column(measured.macro[MACRO_AUC][:, 0]), column(measured.macro[MACRO_AP][:, 0])
    outside = column(equal_outsider(evidence, sets, measured))
    matched = column(family_matched(evidence, sets, measured))
    drawn = random_negative_auc(evidence)
    random = None if drawn is None else column(drawn)
    cutoffs = _cutoffs(evidence, measured, ks, level)
    adjusted = adjusted_scores(evidence, sets, measured)
    ranks = places([c.value for c in auc])
    rows = []
    for m, name in enumerate(evidence.models):
        ceiling = _ceiling(evidence, name)
        rows.append(
            ModelRow(
                name=name,
                family=evidence.family_of(name),
                badge=model_badge(evidence, name),
                siblings=find_siblings(evidence, name),
                rank=ranks[m],
                macro_auc=auc[m],
                macro_ap=ap[m],
                micro_auc=micro(MICRO_AUC, m),
                micro_ap=micro(MICRO_AP, m).value,
                micro_ap_interval=micro(MICRO_AP, m).interval,
                equal_outsider_auc=outside[m],
                family_matched_auc=matched[m],
                random_negative_auc=None if random is None else random[m],
                random_negative_corrected=_corrected(evidence, random, m),
                cutoffs=cutoffs[m],
                forced_loss_ceiling=ceiling,
                adjusted=adjusted.get(name, {}),
                advice=advice(evidence, name, cutoffs[m], has_random=random is not None),
                notes=notes_on(evidence, name, cutoffs[m], ceiling),
            )
        )
    return tuple(rows)


def _macro_column(values: Floats, level: float, units: Units | None) -> list[MacroColumn]:
    """Average (n_models, n_queries) over the queries that all models define."""
    is_common = common_queries(values)
    common = np.where(is_common, values, np.nan)
    means, _ = mean_defined(common)
    n_queries = int(is_common.sum())
    n_units = n_queries if units is None else units.count(is_common)
    groups = None if units is None else units.codes
    return [
        MacroColumn(mean, mean_interval(row, level, groups=groups), n_queries, n_units)
        for mean, row in zip(means.tolist(), common, strict=True)
    ]


def _cutoffs(
    evidence: PoolEvidence, measured: Measured, ks: Sequence[int], level: float
) -> list[tuple[CutoffRow, ...]]:
    """Return the cut-offs of every model, none for one without a list."""
    rows: list[tuple[CutoffRow, ...]] = [() for _ in evidence.models]
    if evidence.lists is None:
        return rows
    has_positive = queries_with_positive(evidence)
    for k in ks:
        coverage = coverage_at(evidence, k)
        slack, _ = mean_defined(coverage.slack[:, has_positive])
        judged, _ = mean_defined(coverage.judged)
        values = measured.macro[precision_name(k)][:, 0]
        for m, p in enumerate(_macro_column(values, level, evidence.units)):
            if not evidence.lists.is_known[m]:
                continue
            share = float(judged[m])
            precision, upper = Estimate(p.value, p.interval), p.value + float(slack[m])
            rows[m] += (CutoffRow(k, precision, upper, share, 1.0 - share),)
    return rows


def _ceiling(evidence: PoolEvidence, name: str) -> float | None:
    if model_badge(evidence, name) != POOLED:
        return None
    own = evidence.ranks[evidence.generators.index(name)]
    mean, _ = mean_defined(
        forced_loss_ceiling(own, evidence.labels, evidence.queries, evidence.n_queries)
    )
    return float(mean)


def _corrected(evidence: PoolEvidence, random: list[MacroColumn] | None, m: int) -> float | None:
    negatives = evidence.random_negatives
    if random is None or negatives is None or negatives.contamination is None:
        return None
    return corrected_auc(random[m].value, negatives_wrong=negatives.contamination)
