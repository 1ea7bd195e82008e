"""Make the arrays behind a result's pages from what an evaluation has read and ranked."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.results.details import HEAD, Details
from evaluation.results.inputs import Gathered
from evaluation.runs.evaluated_models import Entrants
from lookalike.core.arrays import Floats, Ints
from lookalike.metrics.match import Matched, pair_scores


def details_of(gathered: Gathered, entrants: Entrants) -> Details:
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
