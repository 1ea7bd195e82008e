"""The best k candidates of sources that score candidates instead of comparing vectors.

Pure: scores of a query's candidates in, the k best admissible ones out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.search.filters import FilterArrays
from lookalike.search.numpy_search import ruled_out
from lookalike.search.topk import TopK

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
ScoresOf = Callable[[int, Ints], Doubles]


def admissible(filters: FilterArrays, query: int) -> Mask:
    """Return which catalog rows a query may be answered with, shape (n_images,)."""
    asked, rows = slice(query, query + 1), np.arange(len(filters.catalog))
    keys = filters.queries[asked], filters.catalog
    allowed: Mask = ~ruled_out(filters.own[asked], rows, *keys, filters.n_apart)[0]
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
    found = TopK.nothing(len(filters.own), k)
    for query in range(len(filters.own)):
        rows = np.flatnonzero(admissible(filters, query))
        scores = scores_of(query, rows)
        rows, scores = rows[scores > -np.inf], scores[scores > -np.inf]
        if len(rows) > k:  # all that may be among the best, ties of the last place included
            may = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            rows, scores = rows[may], scores[may]
        best = np.lexsort((rows, -scores))[:k]
        found.indices[query, : len(best)] = rows[best]
        found.scores[query, : len(best)] = scores[best]
    return found


def random_scores(seed: int, query_sha256: str, n_images: int) -> Doubles:
    """Return a number in [0, 1) for each catalog row: the k largest are a uniform sample.

    Depends on the seed and the query alone, so the first k of a deeper sample are the same.
    """
    rng = np.random.default_rng([seed, int(query_sha256[:16], 16)])
    return rng.random(n_images)
