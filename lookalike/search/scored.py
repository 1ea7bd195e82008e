"""The best k candidates of sources that score candidates instead of comparing vectors.

Pure: scores of a query's candidates in, the k best admissible ones out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.search.filters import FilterArrays
from lookalike.search.topk import TopK

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
ScoresOf = Callable[[int, Ints], Doubles]


def admissible(filters: FilterArrays, query: int) -> Mask:
    """Return which catalog rows a query may be answered with, shape (n_images,)."""
    allowed = np.ones(len(filters.catalog), bool)
    if filters.own[query] >= 0:
        allowed[filters.own[query]] = False
    for column, key in enumerate(filters.queries[query].tolist()):
        is_alike = filters.catalog[:, column] == key
        if column >= filters.n_apart:
            allowed &= is_alike & (key != -1)
        elif key != -1:
            allowed &= ~is_alike
    return allowed


def best_scored(filters: FilterArrays, k: int, scores_of: ScoresOf) -> TopK:
    """Return every query's k best candidates by score.

    Ties go to the lower row. What a source leaves at -inf it does not propose, so a query may
    have fewer than k. The first k of a deeper list are the same.

    Args:
        filters: who may not answer whom.
        k: depth, at least 1.
        scores_of: given a query's number and the admissible rows (ascending), their scores;
            -inf for what the source has no score for, otherwise finite.

    Returns:
        Shape (n_queries, k); padded with -1 and -inf.

    Raises:
        ValueError: for k < 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    n_queries = len(filters.own)
    indices = np.full((n_queries, k), -1, np.int64)
    kept = np.full((n_queries, k), -np.inf, np.float32)
    for query in range(n_queries):
        rows = np.flatnonzero(admissible(filters, query))
        scores = scores_of(query, rows)
        rows, scores = rows[scores > -np.inf], scores[scores > -np.inf]
        if len(rows) > k:  # all that may be among the best, ties of the last place included
            may = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            rows, scores = rows[may], scores[may]
        best = np.lexsort((rows, -scores))[:k]
        indices[query, : len(best)] = rows[best]
        kept[query, : len(best)] = scores[best]
    return TopK(indices, kept)


def random_scores(seed: int, query_sha256: str, n_images: int) -> Doubles:
    """Return a number in [0, 1) for each catalog row: the k largest are a uniform sample.

    Depends on the seed and the query alone, so the first k of a deeper sample are the same.
    """
    rng = np.random.default_rng([seed, int(query_sha256[:16], 16)])
    return rng.random(n_images)
