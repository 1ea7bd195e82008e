"""The exact search by whatever is installed, over arrays and over named vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s
from lookalike.io.tables import Run
from lookalike.io.vectors import VectorTable
from lookalike.search.filters import Filters
from lookalike.search.topk import TopK

Metric = Literal["cosine", "dot"]


def top_k(
    queries: NDArray[np.floating],
    catalog: NDArray[np.floating],
    k: int,
    *,
    filters: Filters | None = None,
) -> TopK:
    """Return the k catalog rows with the largest inner product for every query, exactly.

    Ties go to the lower row. A query with fewer than k admissible candidates is padded with row
    -1 and score -inf. Where torch and numba are installed the search compiled with them answers,
    else the one in plain numpy, which takes several times as long; the scores agree to float32
    rounding.

    Args:
        queries: shape (n_queries, d), finite.
        catalog: shape (n_images, d), finite.
        k: depth, 1 <= k <= n_images.
        filters: candidates to leave out.

    Returns:
        Shape (n_queries, k).

    Raises:
        ValueError: for k out of range, or values that are not finite.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> top_k(rows[:1], rows, 2).indices.tolist()
    [[0, 2]]
    >>> top_k(rows[:1], rows, 2, filters=Filters(own=np.array([0]))).indices.tolist()
    [[2, 1]]
    """
    is_fast = find_spec("torch") is not None and find_spec("numba") is not None
    search = import_module(f"lookalike.search.{'exact' if is_fast else 'lean'}")
    wide = (np.ascontiguousarray(rows, np.float32) for rows in (queries, catalog))
    nearest: TopK = search.top_k(*wide, k, filters=filters)
    return nearest


@dataclass(frozen=True)
class NearestImages:
    """The nearest images of each query, best first, in columns of one length.

    Attributes:
        queries, candidates: ids.
        ranks: counted from 1.
        scores: inner products, or cosines.
    """

    queries: Sequence[str]
    candidates: Sequence[str]
    ranks: Sequence[int]
    scores: Sequence[float]

    def as_run(self, name: str) -> Run:
        """Return them as a run that measures take."""
        return Run.of(name, zip(self.queries, self.candidates, self.scores, strict=True))


def nearest_images(
    queries: VectorTable, catalog: VectorTable, k: int, *, metric: Metric = "cosine"
) -> NearestImages:
    """Return the k images of a catalog that are nearest to each query, never the query itself.

    Args:
        queries: named vectors; one named like an image of the catalog is that image.
        catalog: named vectors, no name twice, at least two.
        k: how many, at least 1; as many as there are if the catalog has fewer.
        metric: "cosine", or "dot" for the inner product of the vectors as they are.

    Raises:
        ValueError: a name twice in the catalog, other dimensions, or k below 1.
    """
    row_of = {name: row for row, name in enumerate(catalog.ids)}
    if len(row_of) < len(catalog.ids):
        repeated = next(name for row, name in enumerate(catalog.ids) if row_of[name] != row)
        raise ValueError(f"the catalog has {repeated!r} twice")
    if queries.vectors.shape[1] != catalog.vectors.shape[1]:
        shapes = f"{queries.vectors.shape[1]} dimensions, the catalog {catalog.vectors.shape[1]}"
        raise ValueError(f"the queries have {shapes}")
    own = np.array([row_of.get(name, -1) for name in queries.ids], np.int64)
    rows = [table.vectors for table in (queries, catalog)]
    if metric == "cosine":
        rows = [_unit(vectors) for vectors in rows]
    nearest = top_k(rows[0], rows[1], min(k, len(catalog.ids)), filters=Filters(own=own))
    query, place = np.nonzero(nearest.indices >= 0)
    return NearestImages(
        [queries.ids[row] for row in query],
        [catalog.ids[row] for row in nearest.indices[query, place]],
        (place + 1).tolist(),
        nearest.scores[query, place].astype(np.float64).tolist(),
    )


def _unit(vectors: Float32s) -> Float32s:
    unit: Float32s = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
