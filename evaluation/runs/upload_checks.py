"""Check an uploaded run on arrival, and turn embeddings into scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.runs.ranking_task import N_PRODUCTS, ranking_task
from evaluation.runs.targets import Target, names_of_target
from lookalike.io.errors import FormatError, InputError
from lookalike.io.named_images import named_rows, rows_by_image
from lookalike.io.runs import run_rows
from lookalike.io.tables import Run
from lookalike.io.vectors import VectorTable, holds_vectors, read_vectors
from lookalike.metrics.embedding_runs import embedding_run
from lookalike.metrics.match import Missing
from lookalike.metrics.pairs_scored import pairs_scored


def read_arrival(
    target: Target,
    name: str,
    path: Path,
    *,
    ids_path: Path | None = None,
    missing: Missing,
    lower_is_better: bool = False,
) -> tuple[Run, dict[str, Any]]:
    """Return an uploaded run with images named by SHA-256, and what it covers, to be stored.

    That is its kind, "scores" or "embeddings"; n_pairs put to the judges, without those that are
    never compared, of them n_scored, and their share; n_rows of scores that are kept;
    n_other_queries of the run that the campaign does not ask, which are left out; notes on its
    scores. For embeddings alone: n_images with a vector, n_without_vector of the catalogs, and the
    dim of the vectors.

    Args:
        target: the campaign.
        name: of the run.
        path: a TREC run, CSV or parquet of scores, or embeddings as .npy, .npz or parquet.
        ids_path: ids of a .npy.
        missing: "error" refuses a run without a score for every pair.
        lower_is_better: its scores are distances.

    Raises:
        FormatError: what is wrong, with the line or row.
        InputError: pairs without a score, or embeddings for a campaign without a pool.
    """
    if holds_vectors(path) or ids_path is not None:
        run, extra = _from_vectors(target, name, path, read_vectors(path, ids_path))
    else:
        run, extra = _from_scores(target, name, path, lower_is_better=lower_is_better)
    scored = pairs_scored(target.pairs(), run, target.products, path, missing)
    counts = {"n_pairs": scored.n_pairs, "n_scored": scored.n_scored, "n_rows": len(run)}
    unknown: dict[str, Any] = {"n_other_queries": 0, "notes": []}
    unknown |= {"n_images": None, "n_without_vector": None, "dim": None}
    return run, {"kind": "", **counts, **unknown, **extra, "share": scored.share}


def _from_scores(
    target: Target, name: str, path: Path, *, lower_is_better: bool
) -> tuple[Run, dict[str, Any]]:
    file = run_rows(path)
    named = named_rows(file.rows, names_of_target(target).find, path, file.unit)
    whole = file.run(path, name, named, merge=True, lower_is_better=lower_is_better)
    asked = set(target.images.named(np.unique(target.query_ids)))
    is_asked = np.array([query in asked for query in whole.query_ids])
    kept = is_asked[whole.queries]
    if not kept.any():
        raise FormatError(path, None, "it scores none of the campaign’s queries")
    n_other = int((~is_asked).sum())
    details = {"kind": "scores", "n_other_queries": n_other, "notes": list(whole.notes)}
    return _part(whole, kept), details


def _part(run: Run, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Run:
    """Return some rows of a run, with codes of their own."""
    query_codes, queries = np.unique(run.queries[kept], return_inverse=True)
    candidate_codes, candidates = np.unique(run.candidates[kept], return_inverse=True)
    return replace(
        run,
        query_ids=tuple(run.query_ids[code] for code in query_codes.tolist()),
        candidate_ids=tuple(run.candidate_ids[code] for code in candidate_codes.tolist()),
        queries=queries,
        candidates=candidates,
        scores=run.scores[kept],
    )


def _from_vectors(
    target: Target, name: str, path: Path, table: VectorTable
) -> tuple[Run, dict[str, Any]]:
    if target.pool is None:
        raise InputError("embeddings need a pool, whose catalog they rank; upload scores instead")
    row_of = rows_by_image(path, table, names_of_target(target).find)
    rows = np.array([row_of.get(image, -1) for image in target.images.names], np.int64)
    ids = target.images.ids
    pool = target.pool
    ranked = np.array(pool.catalog.images.order_by("id").values_list("id", flat=True), np.int64)
    needed = np.union1d(ranked, target.query_ids)
    without = np.setdiff1d(needed, ids[rows >= 0])
    task = ranking_task(
        pool, target.images, target.query_ids, target.candidate_ids, without.tolist()
    )
    if not task.query_ids.size or not task.catalog_ids.size:
        raise FormatError(path, None, "it has vectors of none of the queries or none of the images")
    place = dict(zip(ids.tolist(), rows.tolist(), strict=True))
    run = embedding_run(
        name,
        table.vectors[[place[i] for i in task.query_ids.tolist()]],
        table.vectors[[place[i] for i in task.catalog_ids.tolist()]],
        task.gallery,
        n_products=N_PRODUCTS,
    )
    return run, {
        "kind": "embeddings",
        "n_images": int((rows >= 0).sum()),
        "n_without_vector": without.size,
        "dim": table.vectors.shape[1],
    }
