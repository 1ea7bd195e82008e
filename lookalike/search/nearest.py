"""The exact search by whatever is installed, over arrays and over named vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Bools, Float32s, Ints
from lookalike.core.near_ties import are_tied, first_of_ties
from lookalike.core.unit_vectors import unit_rows
from lookalike.io.tables import Run
from lookalike.io.vectors import VectorTable
from lookalike.search import numpy_search
from lookalike.search.filters import Filters
from lookalike.search.topk import TopK

Metric = Literal["cosine", "dot"]
SPARE = 16  # ranks below k that are searched, for candidates that tie with the last


def top_k(
    queries: NDArray[np.floating],
    catalog: NDArray[np.floating],
    k: int,
    *,
    filters: Filters | None = None,
    tie_order: Ints | None = None,
) -> TopK:
    """Return the k catalog rows with the largest inner product for every query, exactly.

    Ties, as `core.near_ties` states them, go to the lower row. A query with fewer than k
    admissible candidates is padded with row -1 and score -inf. Where torch and numba are installed
    the search compiled with them answers, else the one in plain numpy, which takes several times
    as long; both give the same scores.

    Args:
        queries: shape (n_queries, d), finite, searched as float32.
        catalog: shape (n_images, d), likewise.
        k: depth, 1 <= k <= n_images.
        filters: candidates to leave out.
        tie_order: shape (n_images,), distinct; of tied rows the one with the least number comes
            first. None: the row.

    Returns:
        Shape (n_queries, k).

    Raises:
        ValueError: for k out of range, other shapes, values that are not finite, or a row so long
            that its products leave float32.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> top_k(rows[:1], rows, 2).indices.tolist()
    [[0, 2]]
    >>> top_k(rows[:1], rows, 2, filters=Filters(own=np.array([0]))).indices.tolist()
    [[2, 1]]
    """
    asked, images = _float32(queries, "query"), _float32(catalog, "catalog")
    if asked.shape[1] != images.shape[1]:
        shapes = f"{asked.shape[1]} dimensions, the catalog {images.shape[1]}"
        raise ValueError(f"the queries have {shapes}")
    if not 1 <= k <= len(images):
        raise ValueError(f"k is {k}; it must be between 1 and {len(images)}")
    place = np.arange(len(images)) if tie_order is None else tie_order
    depth = k + SPARE
    while True:
        depth = min(depth, len(images))
        found = _in_order(asked, images, _search(asked, images, depth, filters), place)
        if depth >= len(images) or not _goes_on_tied(found, k):
            return TopK(found.indices[:, :k], found.scores[:, :k])
        depth *= 4


def _search(queries: Float32s, catalog: Float32s, k: int, filters: Filters | None) -> TopK:
    if find_spec("torch") is None or find_spec("numba") is None:
        return numpy_search.top_k(queries, catalog, k, filters=filters)
    from lookalike.search import exact  # noqa: PLC0415  # loads torch and numba

    return exact.top_k(queries, catalog, k, filters=filters)


def _in_order(queries: Float32s, catalog: Float32s, found: TopK, place: Ints) -> TopK:
    """Return lists by the score that runs of vectors have, and tied rows by their place."""
    query, column = np.nonzero(found.indices >= 0)
    rows = found.indices[query, column]
    scores = numpy_search.pair_scores(queries, catalog, query, rows)
    order = np.lexsort((-scores, query))
    query, rows, scores = query[order], rows[order], scores[order]
    is_start = np.r_[True, query[1:] != query[:-1]][: query.size]
    group = np.cumsum(first_of_ties(scores, is_start))
    order = np.lexsort((place[rows], group))
    result = TopK.nothing(len(queries), found.k)
    result.indices[query, column], result.scores[query, column] = rows[order], scores[order]
    return result


def _goes_on_tied(found: TopK, k: int) -> bool:
    """Whether a candidate that ties with the k-th may be missing: so does the last one found."""
    kth, last = found.scores[:, k - 1], found.scores[:, -1]
    is_full = np.isfinite(last)
    return bool(are_tied(kth[is_full], last[is_full]).any())


@dataclass(frozen=True)
class NearestImages:
    """The nearest images of each query, best first, in columns of one length.

    Attributes:
        queries, candidates: ids.
        ranks: counted from 1.
        scores: inner products, or cosines.
        depth: down to which rank the lists are complete; None where they hold every candidate.
    """

    queries: Sequence[str]
    candidates: Sequence[str]
    ranks: Sequence[int]
    scores: Sequence[float]
    depth: int | None = None

    def as_run(self, name: str) -> Run:
        """Return them as a run that measures take, which knows its exact depth."""
        rows = zip(self.queries, self.candidates, self.scores, strict=True)
        return Run.of(name, rows, depth=self.depth)


def nearest_images(
    queries: VectorTable, catalog: VectorTable, k: int, *, metric: Metric = "cosine"
) -> NearestImages:
    """Return the k images of a catalog that are nearest to each query, never the query itself.

    Tied images, as `core.near_ties` states them, are in the order of their names.

    Args:
        queries: named vectors; one named like an image of the catalog is that image.
        catalog: named vectors, no name twice, at least two.
        k: how many, at least 1; as many as there are if the catalog has fewer.
        metric: "cosine", or "dot" for the inner product of the vectors as they are.

    Raises:
        ValueError: a name twice in the catalog, other dimensions, k below 1, another metric, or
            a vector that is not finite, or too long or too short to be searched.
    """
    if metric not in get_args(Metric):
        raise ValueError(f"unknown metric {metric!r}; one of {', '.join(get_args(Metric))}")
    row_of = {name: row for row, name in enumerate(catalog.ids)}
    if len(row_of) < len(catalog.ids):
        repeated = next(name for row, name in enumerate(catalog.ids) if row_of[name] != row)
        raise ValueError(f"the catalog has {repeated!r} twice")
    if queries.vectors.shape[1] != catalog.vectors.shape[1]:
        shapes = f"{queries.vectors.shape[1]} dimensions, the catalog {catalog.vectors.shape[1]}"
        raise ValueError(f"the queries have {shapes}")
    own = np.array([row_of.get(name, -1) for name in queries.ids], np.int64)
    rows = [queries.vectors, catalog.vectors]
    if metric == "cosine":
        rows = [_unit(queries.vectors, "query"), _unit(catalog.vectors, "catalog")]
    tie_order = np.empty(len(row_of), np.int64)
    tie_order[[row_of[name] for name in sorted(row_of)]] = np.arange(len(row_of))
    depth = min(k, len(catalog.ids))
    nearest = top_k(rows[0], rows[1], depth, filters=Filters(own=own), tie_order=tie_order)
    n_others = len(catalog.ids) - (own >= 0)
    scores = nearest.scores if metric == "dot" else np.clip(nearest.scores, -1.0, 1.0)
    query, place = np.nonzero(nearest.indices >= 0)
    return NearestImages(
        [queries.ids[row] for row in query],
        [catalog.ids[row] for row in nearest.indices[query, place]],
        (place + 1).tolist(),
        scores[query, place].astype(np.float64).tolist(),
        k if k < n_others.max(initial=0) else None,
    )


def _unit(vectors: NDArray[np.floating], owner: str) -> NDArray[np.floating]:
    """Return vectors of length 1, in at least float32."""
    wide = _real(vectors, owner)
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("nd,nd->n", wide, wide)
    _refuse_row(owner, ~np.isfinite(wide).all(axis=1), "holds NaN or infinity")
    _refuse_row(owner, ~np.asarray(wide.any(axis=1)), "has length 0, so no cosine")
    is_length: Bools = np.isfinite(squares) & (squares >= np.finfo(wide.dtype).tiny)
    _refuse_row(owner, ~is_length, f"is too long or too short for cosines in {wide.dtype}")
    return unit_rows(wide)


def _float32(vectors: NDArray[np.floating], owner: str) -> Float32s:
    """Return vectors whose inner products float32 can hold."""
    wide = _real(vectors, owner)
    with np.errstate(over="ignore", under="ignore"):
        rows: Float32s = np.ascontiguousarray(wide, np.float32)
        is_held: Bools = np.isfinite(np.einsum("nd,nd->n", rows, rows))
    if not is_held.all():
        _refuse_row(owner, ~np.isfinite(wide).all(axis=1), "holds NaN or infinity")
        _refuse_row(owner, ~is_held, "is too long for inner products in float32")
    return rows


def _real(vectors: NDArray[np.floating], owner: str) -> NDArray[np.floating]:
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise ValueError(f"{owner} vectors must have the shape (n, d), not {vectors.shape}")
    if vectors.dtype.kind not in "fiu":
        raise ValueError(f"{owner} vectors must be real numbers, not {vectors.dtype}")
    return vectors.astype(np.result_type(vectors.dtype, np.float32), copy=False)


def _refuse_row(owner: str, is_bad: Bools, reason: str) -> None:
    if is_bad.any():
        raise ValueError(f"{owner} row {int(is_bad.argmax())} {reason}")
