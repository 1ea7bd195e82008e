"""Runs in a .npz: ranked lists as faiss returns them (I and D), or a matrix of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.io.errors import FormatError
from lookalike.io.tables import Row
from lookalike.io.vector_arrays import (
    VECTOR_NAMES,
    Array,
    NpzFile,
    ids_of,
    one_of,
    open_npz,
    shape_of,
)

INDICES = ("i", "indices", "index", "labels", "neighbors", "neighbours", "knn")
SCORES = (
    *("d", "scores", "score", "distances", "distance", "similarities", "similarity"),
    *("score_matrix", "matrix", "sim"),
)
QUERY_IDS = ("query_ids", "queries", "query", "query_id", "qids")
CANDIDATE_IDS = (
    *("candidate_ids", "candidates", "candidate", "corpus_ids", "gallery_ids", "catalog_ids"),
    *("image_ids", "doc_ids", "docids", "ids", "id", "names", "paths"),
)
NEEDED = (
    "needed: I, D, query_ids and candidate_ids, or scores (one row for each query), query_ids and "
    "candidate_ids; ids alone name both"
)


def holds_run_arrays(path: Path) -> bool:
    """Say by the names of its arrays whether a .npz file holds a run, not vectors.

    Raises:
        FormatError: a damaged file.
    """
    with open_npz(path) as file:
        names = file.names
    has_ids = one_of(names, CANDIDATE_IDS) is not None
    has_scores = one_of(names, SCORES) is not None
    return has_ids and has_scores and one_of(names, VECTOR_NAMES) is None


def array_rows(path: Path) -> tuple[Iterator[Row], int | None]:
    """Return the pairs of a run in a .npz file, and its exact depth as of `Run`.

    Ranked lists hold a row for each query: positions of candidates in I (-1 for none) and their
    scores in D, best first. Lists that leave candidates out are complete down to their length. A
    matrix scores each candidate (column) for each query (row).

    Raises:
        FormatError: another shape or type, ids that do not fit, or a position of no candidate.
    """
    with open_npz(path) as file:
        index_name, score_name = one_of(file.names, INDICES), one_of(file.names, SCORES)
        candidate_name = one_of(file.names, CANDIDATE_IDS)
        query_name = one_of(file.names, QUERY_IDS) or candidate_name
        if score_name is None or candidate_name is None or query_name is None:
            raise FormatError(path, None, f"it holds {', '.join(file.names)}; {NEEDED}")
        scores, indices = _arrays(path, file, score_name, index_name)
        queries, candidates = (
            ids_of(path, names) for names in file.read([query_name, candidate_name])
        )
    if len(queries) != len(scores):
        reason = f"{len(queries):,} ids of queries for {len(scores):,} rows of {score_name}"
        raise FormatError(path, None, reason)
    if indices is None:
        if len(candidates) != scores.shape[1]:
            reason = f"{len(candidates):,} ids of candidates for {scores.shape[1]:,} columns of "
            raise FormatError(path, None, reason + score_name)
        return _matrix_rows(queries, candidates, scores), None
    _check_indices(path, indices, len(candidates))
    return (
        _list_rows(queries, candidates, indices, scores),
        _depth(queries, candidates, indices),
    )


def _arrays(
    path: Path, file: NpzFile, score_name: str, index_name: str | None
) -> tuple[Array, Ints | None]:
    scores, *others = file.read([score_name, *([index_name] if index_name else [])])
    if scores.ndim != 2 or scores.dtype.kind not in "fiu":
        reason = f"{score_name} must be numbers of shape (queries, k), not {shape_of(scores)}"
        raise FormatError(path, None, reason)
    if not others:
        return scores, None
    [indices] = others
    if indices.shape != scores.shape or indices.dtype.kind not in "iu":
        reason = f"{index_name} must be whole numbers of the shape of {score_name}, "
        raise FormatError(path, None, f"{reason}{scores.shape}, not {shape_of(indices)}")
    return scores, indices.astype(np.int64)


def _check_indices(path: Path, indices: Ints, n_candidates: int) -> None:
    is_none = (indices < -1) | (indices >= n_candidates)
    if is_none.any():
        row, place = (int(at[0]) for at in np.nonzero(is_none))
        reason = f"position {indices[row, place]} is none of {n_candidates:,} candidates"
        raise FormatError(path, row + 1, reason, unit="row")


def _depth(queries: Sequence[str], candidates: Sequence[str], indices: Ints) -> int | None:
    """Return how deep every list is; None if each holds all candidates but the query itself."""
    n_listed = (indices >= 0).sum(axis=1)
    row_of = {name: row for row, name in enumerate(candidates)}
    own = np.array([row_of.get(query, -2) for query in queries])
    lacks_own = (own >= 0) & ~(indices == own[:, None]).any(axis=1)
    if (n_listed + lacks_own >= len(candidates)).all():
        return None
    return max(1, int(n_listed.min(initial=len(candidates))))


def _list_rows(
    queries: Sequence[str], candidates: Sequence[str], indices: Ints, scores: Array
) -> Iterator[Row]:
    for row, query in enumerate(queries):
        pairs = zip(indices[row].tolist(), scores[row].tolist(), strict=True)
        for rank, (column, score) in enumerate(pairs, 1):
            if column >= 0:
                yield Row(row + 1, query, candidates[column], score, rank)


def _matrix_rows(queries: Sequence[str], candidates: Sequence[str], scores: Array) -> Iterator[Row]:
    for row, query in enumerate(queries):
        for candidate, score in zip(candidates, scores[row].tolist(), strict=True):
            if candidate != query:  # often NaN or an infinity there
                yield Row(row + 1, query, candidate, score)
