"""Evaluate a campaign: every model, every measure, the pool's bias. For workers and commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign
from catalog.embeddings import load_vectors
from catalog.models import EmbeddingSet
from evaluation.bias.assemble import Extras, assemble_evidence
from evaluation.bias.report import BiasReport, BiasSettings, as_json, bias_report
from evaluation.embedding_runs import Gallery, embedding_run
from evaluation.errors import InputError
from evaluation.formats.read import read_run
from evaluation.formats.tables import Ints, Qrels, Run
from evaluation.gather import EmbeddedModel, Gathered, embedded_models, family_of, gather
from evaluation.measures import parse_measure
from evaluation.models import Run as UploadedRun
from evaluation.runs import run_path
from evaluation.scoring import Scored, score_runs

MEASURES = (
    *("vsd_hr@5", "vsd_mrr@5", "vsd_hr@9", "vsd_mrr@9", "Success@1", "Success@5", "MRR@5"),
    *("P@5", "P_max@5", "judged@5", "hole@5", "AP'"),
    *("macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc"),
)
N_PRODUCTS = 20  # heads of lists show this many products: cut-offs up to here are exact
MAX_ATTRIBUTE_VALUES = 30

OnStep = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Assessment:
    """What an evaluation found, ready to be stored as JSON."""

    inputs: dict[str, str]
    settings: dict[str, Any]
    summary: dict[str, Any]
    bias: dict[str, Any]
    by_query: dict[str, Any]


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
    gathered = gather(campaign)
    models = embedded_models(gathered)
    uploads = list(UploadedRun.objects.filter(campaign=campaign))
    if not models and not uploads:
        raise InputError(
            f"no model can be evaluated on “{campaign}”: embed its catalog or upload a run"
        )
    n_steps = len(models) + len(uploads) + 2
    tell: OnStep = on_step or (lambda done, total, note: None)
    runs: list[Run] = []
    asked = _asked(gathered) if models else None
    for model in models:
        tell(len(runs), n_steps, f"Ranking the catalog by {model.name}")
        if asked is not None:
            runs.append(asked.run_of(model))
    for upload in uploads:
        tell(len(runs), n_steps, f"Reading {upload.name}")
        stored = read_run(run_path(upload.sha256))
        runs.append(Run(upload.name, stored.query_ids, stored.candidate_ids,
                        stored.queries, stored.candidates, stored.scores))  # fmt: skip
    tell(len(runs), n_steps, "Computing measures")
    generators = gathered.proposals.generators if gathered.proposals else ()
    families = {name: family_of(name) for name in (*generators, *(run.name for run in runs))}
    families |= {upload.name: upload.family for upload in uploads if upload.family}
    missing = "worst" if any(upload.missing == "worst" for upload in uploads) else "error"
    scored = score_runs(
        gathered.qrels,
        runs,
        [parse_measure(name) for name in MEASURES],
        products=gathered.products,
        missing="worst" if missing == "worst" else "error",
    )
    tell(len(runs) + 1, n_steps, "Analysing the pool's bias")
    report = _bias(gathered, runs, families, seed=seed, n_bootstraps=n_bootstraps)
    return Assessment(
        inputs={**gathered.hashes, **{f"model {m.name}": m.images.fingerprint for m in models},
                **{f"run {u.name}": u.sha256 for u in uploads}},
        settings={"measures": list(MEASURES), "seed": seed, "n_bootstraps": n_bootstraps},
        summary=_summary(gathered, scored, families, report),
        bias=as_json(report) if report else {},
        by_query=_by_query(gathered.qrels, scored),
    )  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """The questions to every embedded model, and which vectors answer them."""

    query_ids: Ints
    catalog_ids: Ints
    gallery: Gallery

    def run_of(self, model: EmbeddedModel) -> Run:
        return embedding_run(
            model.name,
            _vectors(model.queries, self.query_ids),
            _vectors(model.images, self.catalog_ids),
            self.gallery,
            n_products=N_PRODUCTS,
        )


def _asked(gathered: Gathered) -> _Asked:
    """Return what the models are asked: the labelled queries over the pool's catalog."""
    pool = gathered.pool
    if pool is None:
        raise InputError("embedding sets need a pool, whose catalog they rank")
    images, table = gathered.images, gathered.table
    judged_queries = table.query_ids[table.is_decided]
    judged_images = table.candidate_ids[table.is_decided]
    catalog_ids = np.array(
        pool.catalog.images.order_by("id").values_list("id", flat=True), np.int64
    )
    query_ids = np.unique(judged_queries)
    products = images.product_numbers()
    if not pool.exclude_same_product:
        products[:] = -1
    names = images.named(catalog_ids)
    place = {name: row for row, name in enumerate(names)}
    gallery = Gallery(
        query_ids=images.named(query_ids),
        image_ids=names,
        own=np.array([place.get(name, -1) for name in images.named(query_ids)], np.int64),
        query_products=products[images.rows(query_ids)],
        image_products=products[images.rows(catalog_ids)],
        judged_queries=np.searchsorted(query_ids, judged_queries),
        judged_images=np.searchsorted(catalog_ids, judged_images),
    )
    return _Asked(query_ids, catalog_ids, gallery)


def _vectors(embedding_set: EmbeddingSet, image_ids: Ints) -> np.ndarray:
    """Return one vector for each image, in the order asked for."""
    stored_ids, vectors = load_vectors(embedding_set)
    order = np.argsort(stored_ids)
    at = np.minimum(np.searchsorted(stored_ids, image_ids, sorter=order), stored_ids.size - 1)
    rows = order[at] if stored_ids.size else np.zeros(0, np.int64)
    if rows.size != image_ids.size or (stored_ids[rows] != image_ids).any():
        raise InputError(
            f"{embedding_set} lacks vectors of some images; embed the catalog again with it"
        )
    return vectors[rows]


def _bias(
    gathered: Gathered, runs: Sequence[Run], families: dict[str, str], *, seed: int,
    n_bootstraps: int,
) -> BiasReport | None:  # fmt: skip
    """Return the report on the pool's bias; None for a campaign without a pool."""
    pool = gathered.pool
    if pool is None or gathered.proposals is None:
        return None
    extras = Extras(
        families=families,
        products=gathered.products,
        votes=gathered.vote_table if len(gathered.vote_table.annotators) > 1 else None,
        attributes=_attributes(gathered),
        n_candidates=pool.catalog.images.count() - 1,
    )
    evidence = assemble_evidence(
        gathered.qrels, gathered.proposals, runs, missing="worst", extras=extras
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
    gathered: Gathered,
    scored: Sequence[Scored],
    families: dict[str, str],
    report: BiasReport | None,
) -> dict[str, Any]:
    badges = {row.name: row.badge for row in report.model_rows} if report else {}
    return {
        "labels": _label_counts(gathered),
        "is_simulated": gathered.campaign.is_simulated,
        "models": [
            {
                "name": one.name,
                "family": families.get(one.name, one.name),
                "badge": badges.get(one.name, "outsider"),
                "coverage": {"n_pairs": one.coverage.n_pairs, "n_scored": one.coverage.n_scored},
                "measures": {
                    name: as_json(
                        {"value": found.value, "n_defined": found.n_defined, **found.details}
                    )
                    for name, found in one.outcomes.items()
                },
            }
            for one in scored
        ],
    }


def _label_counts(gathered: Gathered) -> dict[str, Any]:
    table = gathered.table
    n_decided = int(table.is_decided.sum())
    n_positive = int(table.is_similar[table.is_decided].sum())
    n_pairs = gathered.campaign.n_questions
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
                rounded = [float(value) for value in found.by_query]
                values.setdefault(name, {})[one.name] = as_json(rounded)
    return {"queries": list(qrels.query_ids), "values": values}
