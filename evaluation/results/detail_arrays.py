"""Make the arrays behind a result's pages from what an evaluation has read and ranked."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.results.details import HEAD, Details
from evaluation.results.inputs import EvaluationInputs
from evaluation.runs.evaluated_models import EvaluatedModels
from lookalike.core.arrays import Floats, Ints
from lookalike.metrics.match import AlignedRun, pair_scores


def make_details(inputs: EvaluationInputs, models: EvaluatedModels) -> Details:
    """Return the arrays for the pages; labelled pairs lie in the order of the labels."""
    qrels, images = inputs.qrels, inputs.images
    kept = inputs.table.is_decided
    id_of = dict(zip(images.names, images.ids.tolist(), strict=True))
    return Details(
        models=np.array([run.name for run in models.runs]),
        generators=np.array([source.spec for source in inputs.sources], np.str_),
        query_ids=np.array([id_of[name] for name in qrels.query_ids], np.int64),
        pair_queries=qrels.queries,
        pair_candidates=inputs.table.candidate_ids[kept],
        labels=qrels.labels,
        scores=np.stack([_all_scores(aligned) for aligned in models.aligned]),
        heads=np.stack([_head(aligned, id_of) for aligned in models.aligned]),
        proposed=_proposed(inputs),
    )


def _all_scores(aligned: AlignedRun) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return one score per labelled pair: NaN where it is not compared."""
    scores: Floats = np.full(aligned.queries.size, np.nan)
    scores[~aligned.is_excluded] = pair_scores(aligned, "worst")
    return scores.astype(np.float32)


def _head(aligned: AlignedRun, id_of: dict[str, int]) -> Ints:
    """Return the image ids at the top of each query's list."""
    head = np.zeros((aligned.n_queries, HEAD), np.int64)
    ids = np.array([id_of[name] for name in aligned.candidate_ids], np.int64)
    queries = aligned.run_queries[aligned.by_rank]
    place = np.arange(queries.size) - np.searchsorted(queries, queries)
    shown = place < HEAD
    head[queries[shown], place[shown]] = ids[aligned.run_candidates[aligned.by_rank[shown]]]
    return head


def _proposed(inputs: EvaluationInputs) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return who proposed each labelled pair, shape (n_generators, n_pairs)."""
    stored = inputs.proposals
    table, kept = inputs.table, inputs.table.is_decided
    if stored is None:
        return np.zeros((len(inputs.sources), int(kept.sum())), np.bool_)
    place = {name: row for row, name in enumerate(inputs.images.names)}
    n = len(inputs.images.names)
    queries = np.array([place[name] for name in stored.query_ids], np.int64)[stored.queries]
    shown = np.array([place[name] for name in stored.candidate_ids], np.int64)[stored.candidates]
    pairs = inputs.images.rows(table.query_ids[kept]) * n + inputs.images.rows(
        table.candidate_ids[kept]
    )
    keys = queries * n + shown
    return np.stack(
        [np.isin(pairs, keys[stored.models == g]) for g in range(len(stored.generators))]
    )
