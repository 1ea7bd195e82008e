"""One label set beside the full one: the order of the models, and each model's own change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from lookalike.bias.measurements import Measured, is_yes_no
from lookalike.core.arrays import Bools, Floats
from lookalike.core.each import each
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import common_queries
from lookalike.stats.intervals import UNDEFINED
from lookalike.stats.proportion import Interval
from lookalike.stats.rank_correlation import correlations, places
from lookalike.stats.rank_correlation_p import Orders, PValue, spearman_p, spearman_p_t


@dataclass(frozen=True)
class Estimate:
    """A number with its interval over queries, NaN where there is none."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class RankAgreement:
    """How a label set orders the models, against the full set.

    Attributes:
        measure: what the models are ordered by.
        n_models: how many are defined by it.
        n_queries: queries defined on both sets; for micro measures all queries.
        spearman: rho with average ranks.
        p: permutation p-value of rho, exact for few models.
        p_t: p of the t approximation, as the VSD paper prints it.
        tau_b: Kendall's tau_b.
        tau_ap: AP correlation with the full set as the truth.
        tau_ap_b: its symmetric form that allows ties on both sides.
        max_drop: most places lost by one model.
    """

    measure: str
    n_models: int
    n_queries: int
    spearman: Estimate
    p: PValue
    p_t: PValue
    tau_b: Estimate
    tau_ap: Estimate
    tau_ap_b: Estimate
    max_drop: Estimate


@dataclass(frozen=True)
class SelfDelta:
    """What leaving a model's proposals out does to its own value.

    Attributes:
        model: the model left out, alone or with its family.
        measure: name of the measure.
        before: its value on the full set.
        after: its value on what is left, over the same queries.
        delta: after - before. Below 0 for P@k: outsiders are punished. Above 0 for AUC: a
            model is punished for taking part, because its own negatives are in the labels.
        n_queries: queries defined on both sets.
        rank_before: place among all models on the full set, 1 is best; None if undefined.
        rank_after: its place on what is left.
        rank_shift: rank_before - rank_after, above 0 when it climbs.
        exceeds_gap: |delta| is larger than the usual gap between neighbours of the full order,
            so newcomers cannot be placed by this measure.
    """

    model: str
    measure: str
    before: float
    after: float
    delta: Estimate
    n_queries: int
    rank_before: int | None
    rank_after: int | None
    rank_shift: int | None
    exceeds_gap: bool


@dataclass(frozen=True)
class Comparison:
    """One measure of all models on the full set and on one label set, and by query.

    Attributes:
        measure: its name.
        full: shape (n_models,), over the common queries.
        part: shape (n_models,), over the common queries.
        changes: shape (n_models, n_queries), part - full by query, NaN at the others; of a micro
            measure what `lookalike.stats.micro_values` makes of it.
        n_queries: the common queries.
    """

    measure: str
    full: Floats
    part: Floats
    changes: Floats
    n_queries: int


def compare_with_full(measured: Measured, g: int) -> list[Comparison]:
    """Put every measure of set `g` beside the full set (index 0) on the queries both define."""
    comparisons = []
    for name, values in measured.macro.items():
        pair = values[:, [0, g], :]
        is_common = common_queries(pair)
        means = defined_means(pair[:, :, is_common])
        comparisons.append(
            Comparison(
                name,
                means[:, 0],
                means[:, 1],
                np.where(is_common, pair[:, 1] - pair[:, 0], np.nan),
                int(is_common.sum()),
            )
        )
    for name, at_once in measured.micro.items():
        values = measured.micro_by_query[name]
        changes = values[:, g] - values[:, 0]
        comparisons.append(
            Comparison(name, at_once[:, 0], at_once[:, g], changes, changes.shape[1])
        )
    return comparisons


def rank_agreements(
    compared: Sequence[Sequence[Comparison]], resampling: Resampling
) -> list[tuple[RankAgreement, ...]]:
    """Compare the order of the models on both sides.

    No interval stands beside a correlation of a few models: it is a step function of values that
    the noise of queries always pulls down, and none that we tried covers it.

    Args:
        compared: for each label set, from `compare_with_full`.
        resampling: permutations.

    Returns:
        For each label set, one entry per measure.
    """
    compared = [[_defined(c) for c in row] for row in compared]
    sizes = sorted({c.full.size for row in compared for c in row}, reverse=True)
    orders = {n: Orders.of(n, resampling.rng) for n in sizes}
    estimated = each(lambda row: [_estimates(c) for c in row], compared)
    return [
        tuple(
            RankAgreement(
                measure=c.measure,
                n_models=c.full.size,
                n_queries=c.n_queries,
                p=spearman_p(c.full, c.part, orders[c.full.size]),
                p_t=spearman_p_t(found["spearman"].value, c.full.size),
                **found,
            )
            for c, found in zip(row, of_row, strict=True)
        )
        for row, of_row in zip(compared, estimated, strict=True)
    ]


def _defined(c: Comparison) -> Comparison:
    """Return the same without undefined models, unless all of them are."""
    kept = ~np.isnan(c.full)
    if kept.all() or not kept.any():
        return c
    return replace(
        c,
        full=c.full[kept],
        part=c.part[kept],
        changes=c.changes[kept],
    )


def _estimates(c: Comparison) -> dict[str, Estimate]:
    """Return every correlation of the two orders."""
    value = correlations(c.full, c.part)
    return {
        field.name: Estimate(float(getattr(value, field.name)), UNDEFINED)
        for field in fields(value)
    }


def self_delta(models: Sequence[str], m: int, c: Comparison, resampling: Resampling) -> SelfDelta:
    """Return what the label set changes for model `m` itself, in value and in place."""
    before, after = places(c.full)[m], places(c.part)[m]
    delta = float(c.part[m] - c.full[m])
    changes = c.changes[[m]].T
    (interval,) = resampling.differences(changes, is_yes_no=is_yes_no(c.measure))
    return SelfDelta(
        model=models[m],
        measure=c.measure,
        before=float(c.full[m]),
        after=float(c.part[m]),
        delta=Estimate(delta, interval),
        n_queries=c.n_queries,
        rank_before=before,
        rank_after=after,
        rank_shift=None if before is None or after is None else before - after,
        exceeds_gap=bool(abs(delta) > typical_gap(c.full)),
    )


def typical_gap(values: Floats) -> float:
    """Return the median difference between neighbours of the ordered values; NaN for one."""
    gaps = np.diff(np.sort(values[~np.isnan(values)]))
    return float(np.median(gaps)) if gaps.size else float("nan")


def defined_means(values: Floats | Bools) -> Floats:
    """Return the mean over the last axis, NaN for no query."""
    if values.shape[-1] == 0:
        return np.full(values.shape[:-1], np.nan)
    means: Floats = values.mean(axis=-1)
    return means
