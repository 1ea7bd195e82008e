"""Evaluate a pool that rounds have judged in part: estimates, never plain measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluation.models import RoundPlan
from evaluation.models import Run as UploadedRun
from evaluation.results.assessment import Assessment
from evaluation.results.inputs import (
    EmbeddedModel,
    EvaluationInputs,
    model_family,
    models_on,
    read_inputs,
)
from evaluation.results.left_out import count_left_out
from evaluation.results.stored import (
    LabelCounts,
    LeftOut,
    MeasureValue,
    ModelScores,
    NeighboursKnown,
    QueryValues,
    RoundsSummary,
    Summary,
    defined,
)
from evaluation.rounds.progress import rounds_progress, stored_draws, unfinished_problem
from evaluation.runs.pool_rankings import pooled_models, ranked_runs
from evaluation.runs.ranking_task import pooled_task
from evaluation.runs.stored_runs import load_run
from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.io.errors import InputError
from lookalike.metrics.match import Missing
from lookalike.metrics.pairs_scored import ScoredPairs
from lookalike.planning.estimates import Estimates, estimate, undrawn
from lookalike.planning.measures import needed_depth
from lookalike.planning.missing import share_needed
from lookalike.planning.pool_files import NamedPool, named_pool
from lookalike.planning.rounds import Round
from lookalike.planning.stopping import Looks, stop_advice
from lookalike.release.exports import RUN_DEPTH
from lookalike.release.scoring import GRADED_MEASURES, MEASURES
from lookalike.stats.intervals import METHOD
from pooling.models import Pool
from pooling.pools.queries import pool_pairs

NOT_POOLED = "candidates of it were never put to the judges, so nothing can be estimated for it"


def assess_rounds(plan: RoundPlan, *, seed: int = 0, progress: Progress = SILENT) -> Assessment:
    """Return an estimate of every measure that has one, for the pool's models.

    Args:
        plan: of a campaign that lacks labels of its pool.
        seed: of what is foretold.
        progress: told which step begins.

    Raises:
        InputError: a round is not done, no model has vectors, or no estimate is valid; why.
    """
    if unfinished := unfinished_problem(rounds_progress(plan)):
        raise InputError(unfinished)
    inputs = read_inputs(plan.campaign)
    models = pooled_models(inputs)
    named = _ranked_pool(inputs, models, progress)
    progress.note("Estimating measures")
    labels = named.labels(inputs.qrels)
    rounds = stored_draws(plan, _places(inputs, named))
    is_left_out = undrawn(labels, rounds)
    labels[is_left_out] = np.nan
    names, not_for = board_measures(inputs, named.pool.depth)
    try:
        found = estimate(named.pool, labels, rounds, [*names, plan.measure])
        known = _known(plan, found, labels, np.random.default_rng([seed, len(rounds)]))
    except Refused as problem:
        raise InputError(problem.message) from problem
    known = replace(
        known,
        not_for=tuple(not_for),
        n_left_out=int(is_left_out.sum()),
        labels=inputs.hashes["labels"],
    )
    uploads = _uploads(inputs, named, labels, rounds, names)
    return Assessment(
        inputs={
            **inputs.hashes,
            **{f"model {model.name}": model.images.fingerprint for model in models},
            **{f"run {name}": sha256 for name, sha256 in _upload_hashes(inputs)},
        },
        settings={
            "measures": [one.name for one in found.measures],
            "seed": seed,
            "n_bootstraps": 0,
            "intervals": METHOD,
        },
        summary=_summary(inputs, found, uploads, labels, known),
        report=None,
        by_query=QueryValues(),
        details=None,
    )


def board_measures(inputs: EvaluationInputs, depth: int) -> tuple[list[str], list[str]]:
    """Return the measures of the board that have an estimate in a pool so deep, and the others."""
    graded = () if inputs.qrels.grades is None else GRADED_MEASURES
    estimated: list[str] = []
    others: list[str] = []
    for name in (*MEASURES, *graded):
        try:
            has_estimate = needed_depth(name) <= depth
        except InputError:
            has_estimate = False
        (estimated if has_estimate else others).append(name)
    return estimated, others


def _ranked_pool(
    inputs: EvaluationInputs, models: list[EmbeddedModel], progress: Progress
) -> NamedPool:
    """Rank the catalog by every model, and return what it says of the pool's pairs."""
    pool = inputs.pool
    assert pool is not None  # noqa: S101 - else it has no models
    assert inputs.proposals is not None  # noqa: S101 - likewise
    task = pooled_task(pool, inputs.images)
    runs = ranked_runs(task, models, inputs.proposals, progress, depth=RUN_DEPTH)
    try:
        return named_pool(
            inputs.proposals, runs, products=inputs.products, unit_of=inputs.product_of
        )
    except Refused as problem:
        raise InputError(problem.message) from problem


def _places(inputs: EvaluationInputs, named: NamedPool) -> dict[tuple[int, int], int]:
    """Return where each pair of the pool stands, by image ids."""
    pool = inputs.pool
    assert isinstance(pool, Pool)  # noqa: S101 - as above
    ids = np.array(pool_pairs(pool), np.int64).reshape(-1, 2)
    names = zip(inputs.images.named(ids[:, 0]), inputs.images.named(ids[:, 1]), strict=True)
    place = {pair: at for at, pair in enumerate(named.pairs)}
    return {
        (query, candidate): place[pair]
        for (query, candidate), pair in zip(ids.tolist(), names, strict=True)
    }


def _known(
    plan: RoundPlan, found: Estimates, labels: Floats, rng: np.random.Generator
) -> RoundsSummary:
    """Return what may be claimed, and what is missing."""
    n_rounds = plan.rounds.count()
    known = RoundsSummary(
        n_rounds=n_rounds,
        n_pairs=found.pool.n_pairs,
        judged=found.judged,
        depth=found.pool.depth,
        not_for=(),
        n_left_out=0,
        n_found=int(np.nansum(labels)),
        n_similar=float(found.labels.sum()),
        measure=plan.measure,
        alpha=plan.alpha,
        n_looks=plan.n_looks,
        n_queries=found.pool.n_queries,
        n_units=found.pool.n_units,
    )
    if not known.is_planned:
        return known
    looks = Looks(plan.alpha, plan.n_looks)
    advice = stop_advice(found, labels, plan.measure, looks, alike=plan.alike)
    return replace(
        known,
        neighbours=tuple(
            NeighboursKnown(two.upper, two.lower, two.difference, two.verdict)
            for two in advice.neighbours
        ),
        half_width=float(np.max(advice.widths)),
        recall=advice.recall,
        share_needed=share_needed(
            found, labels, plan.measure, looks,
            rng=rng, width=plan.width, orders=plan.orders, alike=plan.alike,
        ),
    )  # fmt: skip


def _upload_hashes(inputs: EvaluationInputs) -> list[tuple[str, str]]:
    uploads = UploadedRun.objects.filter(campaign=inputs.campaign)
    return list(uploads.values_list("name", "sha256"))


def _uploads(
    inputs: EvaluationInputs,
    named: NamedPool,
    labels: Floats,
    rounds: list[Round],
    names: Sequence[str],
) -> tuple[list[Estimates], list[LeftOut]]:
    """Return estimates of the runs all of whose heads are in the pool, and the others.

    Labels are guessed from what the pool's models say: a run may have seen labels.
    """
    assert inputs.proposals is not None  # noqa: S101 - else there is no pool to rank
    found: list[Estimates] = []
    left_out: list[LeftOut] = []
    for upload in UploadedRun.objects.filter(campaign=inputs.campaign).order_by("pk"):
        run = load_run(upload.sha256, upload.name)
        missing: Missing = "worst" if upload.missing == "worst" else "error"
        try:
            own = named_pool(
                inputs.proposals,
                [run],
                missing=missing,
                products=inputs.products,
                unit_of=inputs.product_of,
            )
            if own.pool.depth < named.pool.depth:
                raise InputError(NOT_POOLED)
            pool = replace(own.pool, depth=named.pool.depth)
            found.append(estimate(pool, labels, rounds, names, guesses_from=named.pool))
        except InputError as problem:
            left_out.append(LeftOut(upload.name, str(problem)))
    return found, left_out


def _summary(
    inputs: EvaluationInputs,
    found: Estimates,
    uploads: tuple[list[Estimates], list[LeftOut]],
    labels: Floats,
    known: RoundsSummary,
) -> Summary:
    others = models_on(inputs.pool, inputs.sources) if inputs.pool else []
    outsiders = [model.name for model in others if model.name not in found.pool.models]
    return Summary(
        labels=_label_counts(inputs, labels),
        is_simulated=inputs.campaign.is_simulated,
        left_out=(*(LeftOut(name, NOT_POOLED) for name in outsiders), *uploads[1]),
        models=(
            *(_model(found, m, inputs, "pooled") for m in range(len(found.pool.models))),
            *(_model(one, 0, inputs, "outsider") for one in uploads[0]),
        ),
        rounds=known,
    )


def _model(found: Estimates, m: int, inputs: EvaluationInputs, badge: str) -> ModelScores:
    name = found.pool.models[m]
    return ModelScores(
        name=name,
        family=model_family(name),
        badge=badge,
        coverage=ScoredPairs(len(inputs.qrels), len(inputs.qrels)),
        measures={
            one.name: MeasureValue(defined(float(one.shown[m])), None, one.intervals()[m])
            for one in found.measures
        },
    )


def _label_counts(inputs: EvaluationInputs, labels: Floats) -> LabelCounts:
    """Return the counts of the labels that estimates rest on."""
    n_decided, n_positive = int((~np.isnan(labels)).sum()), int(np.nansum(labels))
    table = inputs.table
    return LabelCounts(
        n_pairs=labels.size,
        n_judged=len(table),
        n_unjudged=labels.size - len(table),
        n_decided=n_decided,
        n_positive=n_positive,
        n_negative=n_decided - n_positive,
        n_tied=int(((table.n_similar == table.n_different) & (table.n_similar > 0)).sum()),
        n_queries=len(inputs.qrels.query_ids),
        n_units=inputs.units.count(),
        unit=inputs.units.name,
        prevalence=n_positive / max(n_decided, 1),
        tie_rule=inputs.campaign.tie_rule,
        left_out=count_left_out(inputs),
    )
