"""Evaluate a campaign: every model, every measure, the pool's bias. For workers and commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign
from catalog.vectors.projections import seen_among
from evaluation.below_pool.estimates import sample_estimates
from evaluation.below_pool.pairs import drawn_beside_pool, pooled_at_draw
from evaluation.below_pool.services import find_sample
from evaluation.models import Run as UploadedRun
from evaluation.results.detail_arrays import make_details
from evaluation.results.details import Details
from evaluation.results.inputs import EvaluationInputs, models_on, read_inputs
from evaluation.results.left_out import count_left_out
from evaluation.results.negatives import DrawnNegatives, draw_at_evaluation
from evaluation.results.stored import (
    LabelCounts,
    MeasureValue,
    ModelScores,
    QueryValues,
    SampleEstimates,
    Summary,
    defined,
)
from evaluation.runs.evaluated_models import EvaluatedModels, read_models
from lookalike.agreement.coefficients import agreement
from lookalike.agreement.human_line import HumanLine, human_line
from lookalike.bias.evidence.assemble import Extras, assemble_evidence, dividing_attributes
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.bias.outsiders import equal_outsider_by_query
from lookalike.bias.report import BiasReport, BiasSettings, bias_report
from lookalike.core.arrays import Floats
from lookalike.core.progress import SILENT, Progress
from lookalike.metrics.embedding_runs import load_search
from lookalike.metrics.measures import known_measures, parse_measure
from lookalike.metrics.pairs_scored import ScoredPairs
from lookalike.metrics.scoring import Outcome, Scored, score_runs
from lookalike.metrics.uncertainty import leaderboard_tests, mean_intervals
from lookalike.release.scoring import GRADED_MEASURES, MEASURES, drawn_measures
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.intervals import METHOD
from lookalike.stats.proportion import Interval
from lookalike.stats.significance import MeasureTests, paired_tests
from pooling.pools.statistics import count_brute_force_pairs

TESTED = ("vsd_hr@5", "Success@5", "MRR@5", "P@5", "AP'", "macro_roc_auc", GRADED_MEASURES[0],
          "macro_roc_auc_random", "macro_roc_auc_band")  # fmt: skip


@dataclass(frozen=True)
class Assessment:
    """An evaluation, ready to be stored.

    Attributes:
        inputs: SHA-256 of each input by name.
        settings: measures, seed, number of bootstraps.
        report: None for a campaign without a pool, or judged in part.
        details: arrays for the pages; None for a campaign judged in part.
    """

    inputs: dict[str, str]
    settings: dict[str, Any]
    summary: Summary
    report: BiasReport | None
    by_query: QueryValues
    details: Details | None


def assess(
    campaign: Campaign, *, seed: int = 0, n_bootstraps: int = 1000, progress: Progress = SILENT
) -> Assessment:
    """Return every measure of every model on a campaign's labels.

    A pool that rounds have judged in part is for `evaluation.rounds.assessment` instead.

    Args:
        campaign: with at least one decided label.
        seed: of bootstraps and permutations.
        n_bootstraps: samples of queries behind each interval.
        progress: told which step begins.

    Raises:
        InputError: nothing is judged yet, or there is no model to evaluate.
    """
    with ThreadPoolExecutor(1) as beside:
        beside.submit(load_search)  # torch takes as long as the database takes to answer
        inputs = read_inputs(campaign)
    notions = [inputs.campaign.notion_model]
    embedded = models_on(inputs.pool, inputs.sources, notions) if inputs.pool else []
    uploads = list(UploadedRun.objects.filter(campaign=campaign))
    n_steps = len(embedded) + len(uploads) + 2
    progress.start(0, n_steps, "Reading models and runs", is_long=True)
    sample = _sample(inputs)
    negatives = draw_at_evaluation(inputs, embedded, seed=seed, sample=sample)
    models = read_models(inputs, embedded, uploads, progress, negatives.pairs)
    progress.update(n_steps - 2, note="Computing measures and the pool's bias")

    def draw() -> Resampling:
        """Return the same random numbers for each measure; a release draws them again."""
        n_queries, rng = len(inputs.qrels.query_ids), np.random.default_rng([seed, 1])
        return Resampling.of(n_queries, n_bootstraps=n_bootstraps, rng=rng, units=inputs.units)

    with ThreadPoolExecutor(1) as beside:  # reads no database, which belongs to this thread
        pending = beside.submit(_leaderboard, inputs, models, negatives, draw)
        evidence = _evidence(inputs, models, negatives)
        report, outsiders = None, {}
        if evidence is not None:
            settings = BiasSettings(n_bootstraps=n_bootstraps)
            report = bias_report(evidence, np.random.default_rng(seed), settings)
            outsiders = _outsiders(inputs, evidence)
        scored, intervals, tests = pending.result()
    if outsiders:
        values = np.array(list(outsiders.values()))
        tests.append(paired_tests(EQUAL_OUTSIDER, list(outsiders), values, draw()))
    progress.update(n_steps - 1, note="Putting the result together")
    return Assessment(
        inputs={**inputs.hashes, **models.hashes, **negatives.hashes},
        settings={
            "measures": list(_measures(inputs, negatives)),
            "seed": seed,
            "n_bootstraps": n_bootstraps,
            "intervals": METHOD,
        },
        summary=Summary(
            labels=_label_counts(inputs),
            agreement=agreement(
                np.stack([inputs.table.n_similar, inputs.table.n_different], axis=1)
            ),
            is_simulated=campaign.is_simulated,
            left_out=tuple(models.left_out),
            tests=tuple(tests),
            models=_model_scores(scored, intervals, models, report, inputs),
            sample=sample,
            negatives=negatives.summaries(),
            human=_human(inputs),
        ),
        report=report,
        by_query=_by_query(inputs, scored, outsiders),
        details=make_details(inputs, models),
    )


def _measures(inputs: EvaluationInputs, negatives: DrawnNegatives) -> tuple[str, ...]:
    """Return the measures of a campaign; where pairs are graded, those that take grades too.

    Areas on drawn negatives are among them where some were drawn.

    Those of the VSD benchmark count each product once: without products they would be others.
    """
    graded = () if inputs.qrels.grades is None else GRADED_MEASURES
    drawn = drawn_measures(negatives.by_kind)
    return tuple(known_measures((*MEASURES, *graded, *drawn), inputs.products))


def _leaderboard(
    inputs: EvaluationInputs,
    models: EvaluatedModels,
    negatives: DrawnNegatives,
    draw: Callable[[], Resampling],
) -> tuple[list[Scored], dict[str, list[Interval]], list[MeasureTests]]:
    """Return every measure of every model, the intervals of means over queries, and tests."""
    names, drawn = _measures(inputs, negatives), negatives.by_kind
    scored = score_runs(
        inputs.qrels,
        models.runs,
        [parse_measure(name) for name in names],
        products=inputs.products,
        missing="worst",
        matches=models.aligned,
        without_list=models.without_list,
        negatives=drawn.get("uniform"),
        band_negatives=drawn.get("band"),
        missing_negatives="undefined",
    )
    tested = [name for name in TESTED if name in names]
    tests = [test for name in tested for test in leaderboard_tests(scored, [name], draw())]
    return scored, mean_intervals(scored, units=inputs.units), tests


def _evidence(
    inputs: EvaluationInputs, models: EvaluatedModels, negatives: DrawnNegatives
) -> PoolEvidence | None:
    """Return what the report on the pool's bias needs; None for a campaign without a pool."""
    pool = inputs.pool
    if pool is None or inputs.proposals is None:
        return None
    extras = Extras(
        families=models.families,
        products=inputs.products,
        votes=inputs.vote_table if len(inputs.vote_table.annotators) > 1 else None,
        attributes=dividing_attributes(inputs.images.names, inputs.images.attributes),
        unit_of=inputs.product_of,
        negatives=negatives.uniform.pairs if negatives.uniform else (),
        contamination=negatives.uniform.contamination if negatives.uniform else None,
        n_catalogue_pairs=count_brute_force_pairs(pool),
    )
    return assemble_evidence(
        inputs.qrels, inputs.proposals, models.runs, missing="worst", extras=extras
    )


def _outsiders(inputs: EvaluationInputs, evidence: PoolEvidence) -> dict[str, Floats]:
    """Return the equal-outsider AUC of each model at every labelled query."""
    asked = inputs.proposals.query_ids if inputs.proposals else ()
    return equal_outsider_by_query(evidence, asked, inputs.qrels.query_ids)


def _model_scores(
    board: Sequence[Scored],
    intervals: dict[str, list[Interval]],
    models: EvaluatedModels,
    report: BiasReport | None,
    inputs: EvaluationInputs,
) -> tuple[ModelScores, ...]:
    badges = {row.name: row.badge for row in report.model_rows} if report else {}
    return tuple(
        ModelScores(
            name=scored.name,
            family=models.families[scored.name],
            badge=badges.get(scored.name, "outsider"),
            has_list=scored.name not in models.without_list,
            n_seen_queries=len(
                seen_among(models.specs.get(scored.name, ""), inputs.qrels.query_ids)
            ),
            tied=scored.tied[1] if scored.tied else 0.0,
            coverage=ScoredPairs(scored.coverage.n_pairs, scored.coverage.n_scored),
            measures={
                name: MeasureValue(
                    outcome.value,
                    outcome.n_defined,
                    intervals[name][m] if name in intervals else None,
                    outcome.details,
                    _n_units(inputs, outcome),
                )
                for name, outcome in scored.outcomes.items()
            },
        )
        for m, scored in enumerate(board)
    )


def _n_units(inputs: EvaluationInputs, outcome: Outcome) -> int | None:
    """Return how many products the queries of a mean have; None of no mean over queries."""
    if outcome.by_query is None:
        return None
    return inputs.units.count(~np.isnan(np.asarray(outcome.by_query)))


def _sample(inputs: EvaluationInputs) -> SampleEstimates | None:
    """Return the estimates from the sample below the pool, None without one."""
    sample = find_sample(inputs.campaign)
    if sample is None:
        return None
    return sample_estimates(sample, inputs.all_labels, pooled_at_draw(sample))


def _human(inputs: EvaluationInputs) -> HumanLine | None:
    """Return how the judges of the labelled pairs do against each other."""
    places = {(query, candidate): at for at, (query, candidate, _) in enumerate(inputs.qrels)}
    rows = [
        (places[query, candidate], who, answer)
        for query, candidate, who, answer in inputs.vote_table.rows
        if (query, candidate) in places
    ]
    pairs, judges, answers = np.array(rows, np.int64).reshape(-1, 3).T
    queries, is_similar = inputs.qrels.queries[pairs], answers.astype(np.bool_)
    return human_line(queries, pairs, judges, is_similar, units=inputs.units)


def _label_counts(inputs: EvaluationInputs) -> LabelCounts:
    table = inputs.table
    n_decided = int(table.is_decided.sum())
    n_positive = int(table.is_similar[table.is_decided].sum())
    n_pairs = inputs.campaign.n_questions - len(drawn_beside_pool(inputs.campaign))
    is_tied = (table.n_similar == table.n_different) & (table.n_similar > 0)
    return LabelCounts(
        n_pairs=n_pairs,
        n_judged=len(table),
        n_unjudged=n_pairs - len(table),
        n_decided=n_decided,
        n_positive=n_positive,
        n_negative=n_decided - n_positive,
        n_tied=int(is_tied.sum()),
        n_queries=len(inputs.qrels.query_ids),
        n_units=inputs.units.count(),
        unit=inputs.units.name,
        prevalence=n_positive / n_decided,
        tie_rule=inputs.campaign.tie_rule,
        left_out=count_left_out(inputs),
    )


def _by_query(
    inputs: EvaluationInputs, board: Sequence[Scored], outsiders: dict[str, Floats]
) -> QueryValues:
    """Return the per-query values of each measure that has them."""
    values: dict[str, dict[str, list[float | None]]] = {}
    for scored in board:
        for name, outcome in scored.outcomes.items():
            if outcome.by_query is not None:
                row = values.setdefault(name, {})
                row[scored.name] = [defined(value) for value in outcome.by_query.tolist()]
    if outsiders:
        values[EQUAL_OUTSIDER] = {
            name: [defined(value) for value in row.tolist()] for name, row in outsiders.items()
        }
    return QueryValues(list(inputs.qrels.query_ids), values, inputs.units.codes.tolist())
