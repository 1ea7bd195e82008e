"""Exact top-k search in plain numpy, for processes that cannot afford torch and numba in memory.

Block products propose, and every pair that is kept is scored again by one fixed order of sums.
That takes several times as long as `lookalike.search.exact`; the scores agree to float32 rounding.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s, Ints
from lookalike.search.filters import FilterArrays, Filters
from lookalike.search.topk import TopK

_ROWS, _QUERIES = 2048, 512
_SPARE = 16  # proposals beyond k, so that rounding seldom leaves a query open
_PAIRS = 2048
_HALF_ULP = 2.0**-24
_EMPTY = np.float32(-np.inf)


class Rows(Protocol):
    """Vectors that may be made when asked for: float32, shape (n, d)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of dimensions."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def __getitem__(self, rows: slice | Ints, /) -> Float32s:
        """Return some rows."""


def top_k(queries: Float32s, catalog: Rows, k: int, *, filters: Filters | None = None) -> TopK:
    """Return the k catalog rows with the largest inner product for every query, exactly.

    Ties go to the lower row. A query with fewer than k admissible candidates is padded with row
    -1 and score -inf.

    Args:
        queries: shape (n_queries, d), float32, finite.
        catalog: n_images rows, read block by block.
        k: depth, 1 <= k <= n_images.
        filters: candidates to leave out.

    Returns:
        Shape (n_queries, k).

    Raises:
        ValueError: for k out of range, or a row that is not finite.
    """
    n_images = len(catalog)
    if not 1 <= k <= n_images:
        raise ValueError(f"k is {k}; it must be between 1 and {n_images}")
    rules = (filters or Filters()).arrays(len(queries), n_images)
    found = TopK.nothing(len(queries), k)
    for start in range(0, len(queries), _QUERIES):
        part = slice(start, start + _QUERIES)
        best = _answers(queries, catalog, k, rules, part)
        found.indices[part], found.scores[part] = best.indices, best.scores
    return found


def _answers(queries: Float32s, catalog: Rows, k: int, rules: FilterArrays, part: slice) -> TopK:
    """Return the best k of some of the queries."""
    asked = queries[part]
    kept = min(k + _SPARE, len(catalog))
    scores = np.full((len(asked), kept), _EMPTY)
    rows = np.full((len(asked), kept), -1, np.int64)
    largest = 0.0
    for start in range(0, len(catalog), _ROWS):
        block = catalog[start : start + _ROWS]
        _require_finite(block, start)
        largest = max(largest, float(np.einsum("nd,nd->n", block, block).max()) ** 0.5)
        found = asked @ block.T
        found[mask_of(rules, part, start, len(block))] = _EMPTY
        scores, rows = _best(scores, rows, found, start, kept)
    floor = scores.min(axis=1)  # of what was kept; all else scores less, but for rounding
    exact = pair_scores(asked, catalog, np.repeat(np.arange(len(asked)), kept), rows.ravel())
    best = TopK.of(exact.reshape(rows.shape), rows, k)
    bound = 6 * (asked.shape[1] + 8) * _HALF_ULP * largest * np.linalg.norm(asked, axis=1)
    is_open = (floor > _EMPTY) & (floor + bound >= best.scores[:, -1]) & (kept < len(catalog))
    for at in np.flatnonzero(is_open).tolist():
        row = _whole(queries, catalog, k, rules, part.start + at)
        best.indices[at], best.scores[at] = row.indices[0], row.scores[0]
    return best


def _whole(queries: Float32s, catalog: Rows, k: int, rules: FilterArrays, at: int) -> TopK:
    """Score the whole catalog for one query: more candidates tie than were kept."""
    rows = np.arange(len(catalog))
    scores = pair_scores(queries, catalog, np.full(rows.size, at), rows)
    out = mask_of(rules, slice(at, at + 1), 0, rows.size)[0]
    return TopK.of(scores[None], np.where(out, -1, rows)[None], k)


def _best(
    scores: Float32s, rows: Ints, found: Float32s, start: int, kept: int
) -> tuple[Float32s, Ints]:
    """Return the best of what was kept and a block that follows it."""
    both = np.concatenate([scores, found], axis=1)
    place = np.argpartition(both, -kept, axis=1)[:, -kept:]
    taken = np.take_along_axis(both, place, axis=1)
    before = np.take_along_axis(rows, np.minimum(place, kept - 1), axis=1)
    now = np.where(place < kept, before, place - kept + start)
    return taken, np.where(taken > _EMPTY, now, -1)


def pair_scores(queries: Float32s, catalog: Rows, of_query: Ints, rows: Ints) -> Float32s:
    """Return the inner product of each pair of rows, summed in float64; row -1 scores 0.

    Summed in float32, equal cosines far below 1 would differ by more than `core.near_ties` allows.

    Args:
        queries: shape (n_queries, d).
        catalog: its rows.
        of_query: shape (n_pairs,), each pair's query.
        rows: shape (n_pairs,), its catalog row.

    Returns:
        Shape (n_pairs,).
    """
    scores = np.zeros(rows.size, np.float32)
    for at in range(0, rows.size, _PAIRS):
        part = slice(at, at + _PAIRS)
        of_rows = catalog[np.maximum(rows[part], 0)]
        scores[part] = np.einsum("nd,nd->n", queries[of_query[part]], of_rows, dtype=np.float64)
    scores[rows < 0] = 0
    return scores


def block_scores(queries: Float32s, catalog: Rows) -> Float32s:
    """Return the inner product of every query with every row, as `pair_scores` adds them up.

    Args:
        queries: shape (n_queries, d).
        catalog: n_images rows, read block by block.

    Returns:
        Shape (n_queries, n_images).
    """
    scores = np.zeros((len(queries), len(catalog)), np.float32)
    asked = queries.astype(np.float64)
    for start in range(0, len(catalog), _ROWS):
        block = catalog[start : start + _ROWS].astype(np.float64)
        scores[:, start : start + _ROWS] = np.einsum("qd,nd->qn", asked, block)
    return scores


def mask_of(rules: FilterArrays, part: slice, start: int, n: int) -> NDArray[np.bool_]:
    """Mark what some queries may not find among n rows of the catalog, shape (n_queries, n)."""
    block = slice(start, start + n)
    keys = rules.queries[part], rules.catalog[block]
    mask: NDArray[np.bool_] = ruled_out(
        rules.own[part], np.arange(start, start + n), *keys, rules.n_apart
    )
    return mask


def ruled_out(own: Any, rows: Any, query_keys: Any, image_keys: Any, n_apart: int) -> Any:
    """Mark what each query may not be answered with, by the rules of `FilterArrays`.

    Args:
        own: shape (m,), the catalog row that is the query itself.
        rows: shape (n,) or (m, n), catalog rows.
        query_keys: shape (m, n_keys); an array of numpy or, like the others, a tensor of torch on
            one device.
        image_keys: shape (n, n_keys), or (m, n, n_keys) where, as `rows`, they are each query's.
        n_apart: how many of the keys must differ; the others must be alike.

    Returns:
        Shape (m, n), of booleans.
    """
    mask = own[:, None] == rows
    for column in range(query_keys.shape[1]):
        mine, theirs = query_keys[:, column, None], image_keys[..., column]
        is_same = (mine == theirs) & (mine != -1)
        mask |= is_same if column < n_apart else ~is_same
    return mask


def _require_finite(block: Float32s, start: int) -> None:
    bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
    if bad.size:
        raise ValueError(f"catalog row {start + int(bad[0])} holds NaN or infinity")
