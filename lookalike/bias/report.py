"""The whole bias report from one set of arrays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from lookalike.bias.attributes import AttributeBias, attribute_bias
from lookalike.bias.depth import DepthRow, depth_ablation
from lookalike.bias.discovery import Discovery, discovery
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.judge_noise import FEWEST_VOTERS, JudgeNoise, judge_noise
from lookalike.bias.leave_out import LeaveOut, leave_out_report
from lookalike.bias.measurements import EQUAL_OUTSIDER, MACRO_AUC, Measured, is_yes_no, measure
from lookalike.bias.model_rows import ModelRow, model_rows
from lookalike.bias.order import NeighbourOrder, order_kept
from lookalike.bias.outsiders import equal_outsider
from lookalike.bias.overlap import (
    GeneratorRow,
    Overlap,
    PoolSummary,
    generator_rows,
    overlap,
    pool_summary,
)
from lookalike.bias.panels import PanelAblation, panel_ablation
from lookalike.bias.paper_view import PaperRow, paper_table
from lookalike.bias.subsets import CONTRIBUTIONS, UNIQUES, LabelSet, leave_out_sets
from lookalike.bias.words.findings import findings
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.intervals import METHOD
from lookalike.stats.significance import MeasureTests, paired_tests


@dataclass(frozen=True)
class BiasSettings:
    """How much work the report does.

    Attributes:
        n_bootstraps: samples of queries behind the intervals of differences and the share of
            samples that keep an order; 0 for none.
        n_permutations: sign flips behind every p-value of many queries.
        level: coverage of the intervals.
        ks: cut-offs of P@k; None for 5, 10, 20 and the pool's depth.
    """

    n_bootstraps: int = 1_000
    n_permutations: int = 10_000
    level: float = 0.95
    ks: tuple[int, ...] | None = None


@dataclass(frozen=True)
class BiasReport:
    """All that is known of a pool's bias; `as_json` makes it storable.

    Attributes:
        settings: what it was made with, the cut-offs filled in.
        models: the names behind every list "in the order of the models".
        pool: counts.
        overlap: of the generators.
        generators: what each brought.
        model_rows: every model's columns with badge and advice.
        leave_out: both leave-one-out meanings and the families, against all labels.
        paper: the VSD paper's table under `uniques` and under `contributions`.
        order: how sure each two neighbours of the macro ROC-AUC order are.
        tests: paired tests per measure.
        depths: the pool at every depth.
        panels: the labels of every sub-panel, None without votes.
        discovery: what the next model or depth may find.
        attributes: one entry per attribute given.
        findings: the main points in plain words.
        units: of the queries that intervals and tests are over, such as "product"; None in
            reports made before, which took each query for one.
        n_units: how many there are.
        judges: what other judges, or other answers, could change; None without three judges'
            votes, and in reports made before it was computed.
        intervals: how they were made; `lookalike.stats.intervals.METHOD` of reports made now.
    """

    settings: BiasSettings
    models: tuple[str, ...]
    pool: PoolSummary
    overlap: Overlap
    generators: tuple[GeneratorRow, ...]
    model_rows: tuple[ModelRow, ...]
    leave_out: tuple[LeaveOut, ...]
    paper: dict[str, tuple[PaperRow, ...]]
    order: tuple[NeighbourOrder, ...]
    tests: tuple[MeasureTests, ...]
    depths: tuple[DepthRow, ...]
    panels: PanelAblation | None
    discovery: Discovery
    attributes: tuple[AttributeBias, ...]
    findings: tuple[str, ...]
    intervals: str = "percentile"
    judges: JudgeNoise | None = None
    units: str | None = None
    n_units: int | None = None


def bias_report(
    evidence: PoolEvidence,
    rng: np.random.Generator,
    settings: BiasSettings | None = None,
) -> BiasReport:
    """Return the whole report; the same evidence, generator state and settings give the same.

    Source: `docs/pool-bias.md` says what each part means and where it comes from.

    Args:
        evidence: the pool, its labels and the models.
        rng: seeded by the caller, who stores the seed.
        settings: how much work to do.

    Returns:
        The report. What cannot be computed is NaN or None with the reason among the findings.
    """
    with threadpool_limits(limits=1, user_api="blas"):  # the cores are shared out already
        return _report(evidence, rng, settings or BiasSettings())


def bias_findings(
    evidence: PoolEvidence,
    rng: np.random.Generator,
    settings: BiasSettings | None = None,
) -> tuple[str, ...]:
    """Return the findings of the report that `bias_report` makes of the same, in less time."""
    with threadpool_limits(limits=1, user_api="blas"):
        basis = _basis(evidence, rng, settings or BiasSettings())
    return findings(evidence, basis.rows, basis.leave_out)


@dataclass(frozen=True)
class _Basis:
    """What findings are made from, and the other parts of a report share."""

    settings: BiasSettings
    resampling: Resampling
    sets: list[LabelSet]
    measured: Measured
    rows: tuple[ModelRow, ...]
    leave_out: tuple[LeaveOut, ...]


def _basis(evidence: PoolEvidence, rng: np.random.Generator, chosen: BiasSettings) -> _Basis:
    ks = chosen.ks or tuple(sorted({5, 10, 20, evidence.depth}))
    resampling = Resampling.of(
        evidence.n_queries,
        n_bootstraps=chosen.n_bootstraps,
        rng=rng,
        level=chosen.level,
        n_permutations=chosen.n_permutations,
        units=evidence.units,
    )
    sets = leave_out_sets(evidence)
    measured = measure(evidence, sets, ks)
    return _Basis(
        settings=dataclasses.replace(chosen, ks=ks),
        resampling=resampling,
        sets=sets,
        measured=measured,
        rows=model_rows(evidence, sets, measured, ks=ks, level=chosen.level),
        leave_out=leave_out_report(evidence, sets, measured, resampling),
    )


def _report(evidence: PoolEvidence, rng: np.random.Generator, chosen: BiasSettings) -> BiasReport:
    basis = _basis(evidence, rng, chosen)
    ks, resampling = basis.settings.ks or (), basis.resampling
    sets, measured = basis.sets, basis.measured
    votes = evidence.votes
    return BiasReport(
        settings=basis.settings,
        models=evidence.models,
        pool=pool_summary(evidence),
        overlap=overlap(evidence),
        generators=generator_rows(evidence),
        model_rows=basis.rows,
        leave_out=basis.leave_out,
        paper={
            kind: paper_table(evidence, sets, measured, kind, rng)
            for kind in (UNIQUES, CONTRIBUTIONS)
        },
        order=order_kept(evidence.models, measured.macro[MACRO_AUC][:, 0], resampling),
        tests=_tests(evidence, sets, measured, resampling),
        depths=depth_ablation(evidence, ks, resampling),
        panels=None if votes is None else panel_ablation(evidence, votes, rng),
        discovery=discovery(evidence),
        attributes=tuple(attribute_bias(evidence, a, chosen.level) for a in evidence.attributes),
        findings=findings(evidence, basis.rows, basis.leave_out),
        intervals=METHOD,
        judges=judge_noise(evidence, votes, resampling)
        if votes is not None and len(votes.annotators) >= FEWEST_VOTERS
        else None,
        units=None if evidence.units is None else evidence.units.name,
        n_units=None if evidence.units is None else evidence.units.count(),
    )


def _tests(
    evidence: PoolEvidence, sets: list[LabelSet], measured: Measured, resampling: Resampling
) -> tuple[MeasureTests, ...]:
    """Test every macro measure on all labels, and the equal-outsider AUC."""
    values = {name: v[:, 0] for name, v in measured.macro.items()}
    values[EQUAL_OUTSIDER] = equal_outsider(evidence, sets, measured)
    return tuple(
        paired_tests(n, evidence.models, v, resampling, is_yes_no=is_yes_no(n))
        for n, v in values.items()
    )
