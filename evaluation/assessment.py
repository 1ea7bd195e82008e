"""Evaluate a campaign: every model, every measure, the pool's bias. For workers and commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.agreement import agreement
from annotation.models import Campaign
from catalog.formats.tables import Floats, Ints, Qrels, Run
from evaluation.bias.assemble import Extras, assemble_evidence
from evaluation.bias.report import BiasReport, BiasSettings, as_json, bias_report
from evaluation.details import HEAD, Details
from evaluation.embedding_runs import load_search
from evaluation.errors import InputError
from evaluation.gather import EmbeddedModel, Gathered, embedded_models, family_of, gather
from evaluation.match import Matched, match_run, pair_scores
from evaluation.measures import parse_measure
from evaluation.model_runs import asked_of
from evaluation.models import Run as UploadedRun
from evaluation.runs import load_run
from evaluation.sample_estimates import sample_estimates
from evaluation.sample_pairs import drawn_beside_pool, pooled_at_draw
from evaluation.scoring import Scored, coverage, score_runs
from evaluation.services_samples import sample_of
from evaluation.stats.bootstrap import Resampling
from evaluation.stats.proportion import Interval
from evaluation.stats.significance import MeasureTests
from evaluation.uncertainty import leaderboard_tests, mean_intervals

MEASURES = (
    *("vsd_hr@5", "vsd_mrr@5", "vsd_hr@9", "vsd_mrr@9", "Success@1", "Success@5", "MRR@5"),
    *("P@5", "P_max@5", "judged@5", "hole@5", "AP'"),
    *("macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc"),
)
TESTED = ("vsd_hr@5", "Success@5", "P@5", "AP'", "macro_roc_auc")
MAX_ATTRIBUTE_VALUES = 30

OnStep = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Assessment:
    """What an evaluation found, ready to be stored: JSON, and arrays for the pages."""

    inputs: dict[str, str]
    settings: dict[str, Any]
    summary: dict[str, Any]
    bias: dict[str, Any]
    by_query: dict[str, Any]
    details: Details


@dataclass(frozen=True)
class _Entrants:
    """The models to be scored beside the labels, and the uploads that cannot be, with reasons."""

    runs: list[Run]
    matches: list[Matched]
    families: dict[str, str]
    hashes: dict[str, str]
    left_out: list[dict[str, str]]


@dataclass(frozen=True)
class _Leaderboard:
    """Measures of all models, the intervals of means over queries, and paired tests."""

    scored: list[Scored]
    intervals: dict[str, list[Interval]]
    tests: list[MeasureTests]


def assess(
    campaign: Campaign, *, seed: int = 0, n_bootstraps: int = 1000, on_step: OnStep | None = None
) -> Assessment:
    """Return every measure of every model on a campaign's labels.

    Args:
        campaign: with at least one decided label.
        seed: of bootstraps and permutations.
        n_bootstraps: samples of queries behind each interval.
        on_step: told (done, total, what is done now).

    Raises:
        InputError: nothing is judged yet, or there is no model to evaluate.
    """
    with ThreadPoolExecutor(1) as beside:
        beside.submit(load_search)  # torch takes as long as the database takes to answer
        gathered = gather(campaign)
    models = embedded_models(gathered)
    uploads = list(UploadedRun.objects.filter(campaign=campaign))
    n_steps = len(models) + len(uploads) + 2
    tell: OnStep = on_step or (lambda done, total, note: None)
    entrants = _entrants(gathered, models, uploads, lambda done, note: tell(done, n_steps, note))
    tell(n_steps - 2, n_steps, "Computing measures and the pool's bias")
    resampling = Resampling.of(
        len(gathered.qrels.query_ids),
        n_bootstraps=n_bootstraps,
        rng=np.random.default_rng([seed, 1]),
    )
    with ThreadPoolExecutor(1) as beside:  # reads no database, which belongs to this thread
        pending = beside.submit(_leaderboard, gathered, entrants, resampling)
        report = _bias(gathered, entrants, seed=seed, n_bootstraps=n_bootstraps)
        board = pending.result()
    tell(n_steps - 1, n_steps, "Putting the result together")
    summary = _summary(gathered, board, entrants, report)
    sample = sample_of(campaign)
    if sample is not None:
        rng = np.random.default_rng([seed, 2])
        labels, pooled = gathered.all_labels, pooled_at_draw(sample)
        summary["sample"] = sample_estimates(sample, labels, pooled, rng, n_bootstraps)
    return Assessment(
        inputs={**gathered.hashes, **entrants.hashes},
        settings={"measures": list(MEASURES), "seed": seed, "n_bootstraps": n_bootstraps},
        summary=summary,
        bias=as_json(report) if report else {},
        by_query=_by_query(gathered.qrels, board.scored),
        details=_details(gathered, entrants),
    )


def _leaderboard(gathered: Gathered, entrants: _Entrants, resampling: Resampling) -> _Leaderboard:
    """Return every measure of every model with intervals and tests."""
    scored = score_runs(
        gathered.qrels,
        entrants.runs,
        [parse_measure(name) for name in MEASURES],
        products=gathered.products,
        missing="worst",
        matches=entrants.matches,
    )
    intervals = mean_intervals(scored, resampling)
    return _Leaderboard(scored, intervals, leaderboard_tests(scored, TESTED, resampling))


def _entrants(
    gathered: Gathered,
    models: Sequence[EmbeddedModel],
    uploads: Sequence[UploadedRun],
    tell: Callable[[int, str], None],
) -> _Entrants:
    """Return the runs of all models; an upload that the labels have outgrown is left out."""
    campaign = gathered.campaign
    if not models and not uploads:
        raise InputError(
            f"no model can be evaluated on “{campaign}”: embed its catalog or upload a run"
        )
    found = _Entrants([], [], {}, {}, [])
    asked = asked_of(gathered) if models else None
    for model in models:
        tell(len(found.runs), f"Ranking the catalog by {model.name}")
        if asked is not None:
            run = asked.run_of(model)
            found.runs.append(run)
            found.matches.append(match_run(gathered.qrels, run, products=gathered.products))
        found.hashes[f"model {model.name}"] = model.images.fingerprint
    for upload in uploads:
        tell(len(found.runs), f"Reading {upload.name}")
        run = load_run(upload.sha256, upload.name)
        found.hashes[f"run {upload.name}"] = upload.sha256
        matched = match_run(gathered.qrels, run, products=gathered.products)
        reason = _unusable(matched, upload)
        if reason:
            found.left_out.append({"name": upload.name, "reason": reason})
            continue
        found.runs.append(run)
        found.matches.append(matched)
        if upload.family:
            found.families[upload.name] = upload.family
    if not found.runs:
        reasons = "; ".join(f"{one['name']}: {one['reason']}" for one in found.left_out)
        raise InputError(f"no model can be evaluated on “{campaign}”: {reasons}")
    generators = gathered.proposals.generators if gathered.proposals else ()
    for name in (*generators, *(run.name for run in found.runs)):
        found.families.setdefault(name, family_of(name))
    return found


def _unusable(matched: Matched, upload: UploadedRun) -> str:
    """Return why a run cannot be scored on the labels as they are now, "" if it can."""
    if upload.missing == "worst":
        return ""
    said = coverage(matched)
    if said.n_scored == said.n_pairs:
        return ""
    return (
        f"it has no score for {said.n_pairs - said.n_scored} of {said.n_pairs} labelled pairs; "
        "upload it again with them, or let missing scores count as the worst"
    )


def _bias(
    gathered: Gathered, entrants: _Entrants, *, seed: int, n_bootstraps: int
) -> BiasReport | None:
    """Return the report on the pool's bias; None for a campaign without a pool."""
    pool = gathered.pool
    if pool is None or gathered.proposals is None:
        return None
    extras = Extras(
        families=entrants.families,
        products=gathered.products,
        votes=gathered.vote_table if len(gathered.vote_table.annotators) > 1 else None,
        attributes=_attributes(gathered),
        n_candidates=pool.catalog.images.count() - 1,
    )
    evidence = assemble_evidence(
        gathered.qrels, gathered.proposals, entrants.runs, missing="worst", extras=extras
    )
    settings = BiasSettings(n_bootstraps=n_bootstraps)
    return bias_report(evidence, np.random.default_rng(seed), settings)


def _attributes(gathered: Gathered) -> dict[str, dict[str, str]]:
    """Return the attributes that divide the images into few enough groups to compare."""
    found: dict[str, dict[str, str]] = {}
    for name, attributes in zip(gathered.images.names, gathered.images.attributes, strict=True):
        for key, value in attributes.items():
            found.setdefault(key, {})[name] = value
    n_images = len(gathered.images.names)
    return {
        key: values
        for key, values in sorted(found.items())
        if 1 < len(set(values.values())) <= MAX_ATTRIBUTE_VALUES and len(values) >= n_images / 2
    }


def _summary(
    gathered: Gathered, board: _Leaderboard, entrants: _Entrants, report: BiasReport | None
) -> dict[str, Any]:
    badges = {row.name: row.badge for row in report.model_rows} if report else {}
    intervals = board.intervals
    return {
        "labels": _label_counts(gathered),
        "agreement": as_json(
            agreement(np.stack([gathered.table.n_similar, gathered.table.n_different], axis=1))
        ),
        "is_simulated": gathered.campaign.is_simulated,
        "left_out": entrants.left_out,
        "tests": as_json(board.tests),
        "models": [
            {
                "name": one.name,
                "family": entrants.families[one.name],
                "badge": badges.get(one.name, "outsider"),
                "coverage": {"n_pairs": one.coverage.n_pairs, "n_scored": one.coverage.n_scored},
                "measures": {
                    name: as_json(
                        {
                            "value": found.value,
                            "n_defined": found.n_defined,
                            "interval": intervals[name][m] if name in intervals else None,
                            **found.details,
                        }
                    )
                    for name, found in one.outcomes.items()
                },
            }
            for m, one in enumerate(board.scored)
        ],
    }


def _label_counts(gathered: Gathered) -> dict[str, Any]:
    table = gathered.table
    n_decided = int(table.is_decided.sum())
    n_positive = int(table.is_similar[table.is_decided].sum())
    n_pairs = gathered.campaign.n_questions - len(drawn_beside_pool(gathered.campaign))
    is_tied = (table.n_similar == table.n_different) & (table.n_similar > 0)
    return {
        "n_pairs": n_pairs,
        "n_judged": len(table),
        "n_unjudged": n_pairs - len(table),
        "n_decided": n_decided,
        "n_positive": n_positive,
        "n_negative": n_decided - n_positive,
        "n_tied": int(is_tied.sum()),
        "n_queries": len(gathered.qrels.query_ids),
        "prevalence": n_positive / n_decided,
        "tie_rule": gathered.campaign.tie_rule,
    }


def _by_query(qrels: Qrels, scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the per-query values of each measure that has them."""
    values: dict[str, dict[str, Any]] = {}
    for one in scored:
        for name, found in one.outcomes.items():
            if found.by_query is not None:
                row = found.by_query.astype(object)
                row[np.isnan(found.by_query)] = None
                values.setdefault(name, {})[one.name] = row.tolist()
    return {"queries": list(qrels.query_ids), "values": values}


def _details(gathered: Gathered, entrants: _Entrants) -> Details:
    """Return the arrays for the pages; labelled pairs lie in the order of the labels."""
    qrels, images = gathered.qrels, gathered.images
    kept = gathered.table.is_decided
    id_of = dict(zip(images.names, images.ids.tolist(), strict=True))
    return Details(
        models=np.array([run.name for run in entrants.runs]),
        generators=np.array([source.spec for source in gathered.sources], np.str_),
        query_ids=np.array([id_of[name] for name in qrels.query_ids], np.int64),
        pair_queries=qrels.queries,
        pair_candidates=gathered.table.candidate_ids[kept],
        labels=qrels.labels,
        scores=np.stack([_all_scores(matched) for matched in entrants.matches]),
        heads=np.stack([_head(matched, id_of) for matched in entrants.matches]),
        proposed=_proposed(gathered),
    )


def _all_scores(matched: Matched) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return one score per labelled pair: NaN where it is not compared."""
    scores: Floats = np.full(matched.queries.size, np.nan)
    scores[~matched.is_excluded] = pair_scores(matched, "worst")
    return scores.astype(np.float32)


def _head(matched: Matched, id_of: dict[str, int]) -> Ints:
    """Return the image ids at the top of each query's list."""
    head = np.zeros((matched.n_queries, HEAD), np.int64)
    ids = np.array([id_of[name] for name in matched.candidate_ids], np.int64)
    queries = matched.run_queries[matched.by_rank]
    place = np.arange(queries.size) - np.searchsorted(queries, queries)
    shown = place < HEAD
    head[queries[shown], place[shown]] = ids[matched.run_candidates[matched.by_rank[shown]]]
    return head


def _proposed(gathered: Gathered) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return who proposed each labelled pair, shape (n_generators, n_pairs)."""
    stored = gathered.proposals
    table, kept = gathered.table, gathered.table.is_decided
    if stored is None:
        return np.zeros((len(gathered.sources), int(kept.sum())), np.bool_)
    place = {name: row for row, name in enumerate(gathered.images.names)}
    n = len(gathered.images.names)
    asked = np.array([place[name] for name in stored.query_ids], np.int64)[stored.queries]
    shown = np.array([place[name] for name in stored.candidate_ids], np.int64)[stored.candidates]
    pairs = gathered.images.rows(table.query_ids[kept]) * n + gathered.images.rows(
        table.candidate_ids[kept]
    )
    keys = asked * n + shown
    return np.stack(
        [np.isin(pairs, keys[stored.models == g]) for g in range(len(stored.generators))]
    )
