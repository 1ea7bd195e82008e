"""Approximate top-k search by an inverted-file index, and how much of the exact result it finds.

Source: Sivic and Zisserman (ICCV 2003), as faiss builds it: vectors are kept by the nearest of
some centroids, and a query looks only into the lists of the centroids nearest to it. Vectors are
held as float16, and what is found is scored again as the exact search scores it. Only tasks and
commands import this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import faiss
import numpy as np
from numba import njit
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s, Ints
from lookalike.search.exact import Vectors, top_k
from lookalike.search.filters import FilterArrays, Filters, Keys
from lookalike.search.kernels import inner_product
from lookalike.search.numpy_search import ruled_out
from lookalike.search.topk import EMPTY, TopK, pack_keys, unpack_keys

LISTS_PER_ROOT = 4  # lists = 4 sqrt(n), as faiss advises
LEAST_PER_LIST = 39  # images; k-means has too little to learn from below
PROBED_SHARE = 1 / 8  # of the lists
TRAINED_ON = 64  # images for each list
SPARE = 32  # asked for beyond k, so that rules on candidates seldom leave a query short
MOST_ASKED = 2048
ROWS, QUERIES = 65_536, 64  # handled at once
MIB = 1 << 20


class IndexTooLargeError(ValueError):
    """The index would not fit into the memory that it may take; says how much it needs."""


@dataclass(frozen=True)
class Approximate:
    """What an index found.

    Attributes:
        nearest: the candidates, in the layout of the exact search.
        n_lists, n_probed: lists of the index, and how many each query looked into.
        n_exact: queries that these left short of k and the exact search completed.
    """

    nearest: TopK
    n_lists: int
    n_probed: int
    n_exact: int


def approximate_top_k(
    queries: Vectors,
    catalog: Vectors,
    k: int,
    *,
    filters: Filters,
    seed: int = 0,
    memory_mib: int = 4096,
) -> Approximate:
    """Return k catalog rows with a large inner product for every query, most of the largest.

    Rows that the filters rule out are passed over while lists are read; a query that has fewer
    than k in the end is searched exactly. Scores and ties are those of `top_k`.

    Args:
        queries: shape (n_queries, d), float32, finite.
        catalog: shape (n_images, d), float32 or float16; may be memory-mapped.
        k: depth, 1 <= k <= n_images.
        filters: candidates to leave out.
        seed: of the k-means that makes the lists.
        memory_mib: bound of the index.

    Raises:
        IndexTooLargeError: the index needs more memory.
        ValueError: for k out of range.
    """
    if not 1 <= k <= len(catalog):
        raise ValueError(f"k is {k}; it must be between 1 and {len(catalog)}")
    wide = np.ascontiguousarray(queries, np.float32)
    index = _built(catalog, seed, memory_mib)
    rules = filters.arrays(len(wide), len(catalog))
    keys = np.full((len(wide), k), EMPTY)
    left, asked = np.arange(len(wide)), min(len(catalog), k + SPARE)
    while len(left):
        for start in range(0, len(left), QUERIES):
            part = left[start : start + QUERIES]
            keys[part] = _best(index, (wide[part], catalog), rules, part, (k, asked))
        left = left[keys[left, -1] == EMPTY]
        if asked >= min(len(catalog), MOST_ASKED):
            break
        asked = min(4 * asked, len(catalog), MOST_ASKED)
    if len(left):
        exact = top_k(wide[left], catalog, k, filters=filters_for(filters, left))
        keys[left] = np.where(exact.indices < 0, EMPTY, pack_keys(exact.scores, exact.indices))
    return Approximate(unpack_keys(keys), index.nlist, index.nprobe, len(left))


def recall(found: TopK, exact: TopK) -> Float32s:
    """Return which part of each query's exact candidates was found, shape (n_queries,).

    A query without any exact candidate has missed nothing: 1.
    """
    shares = np.ones(len(exact.indices), np.float32)
    for query, (mine, best) in enumerate(zip(found.indices, exact.indices, strict=True)):
        wanted = best[best >= 0]
        if len(wanted):
            shares[query] = np.isin(wanted, mine).mean()
    return shares


def _built(catalog: Vectors, seed: int, memory_mib: int) -> faiss.IndexIVFScalarQuantizer:
    n, dim = catalog.shape
    n_lists = max(1, min(round(LISTS_PER_ROOT * n**0.5), n // LEAST_PER_LIST))
    needed = (n * (2 * dim + 8) + 4 * dim * min(n, TRAINED_ON * n_lists + ROWS)) / MIB
    if needed > memory_mib:
        raise IndexTooLargeError(
            f"an index of {n:,} vectors of {dim} numbers needs {needed:,.0f} MiB, and "
            f"{memory_mib:,} are allowed"
        )
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dim), dim, n_lists, faiss.ScalarQuantizer.QT_fp16,
        faiss.METRIC_INNER_PRODUCT, False,
    )  # fmt: skip
    index.cp.seed = seed % (1 << 31)
    index.cp.min_points_per_centroid = 1  # a small catalog makes one list, and needs no warning
    index.nprobe = max(1, round(n_lists * PROBED_SHARE))
    rng = np.random.default_rng(seed)
    sample = np.sort(rng.permutation(n)[: TRAINED_ON * n_lists])
    index.train(np.ascontiguousarray(catalog[sample], np.float32))
    for start in range(0, n, ROWS):
        index.add(np.ascontiguousarray(catalog[start : start + ROWS], np.float32))
    return index


def _best(
    index: faiss.IndexIVFScalarQuantizer,
    vectors: tuple[Float32s, Vectors],
    rules: FilterArrays,
    part: Ints,
    depth: tuple[int, int],
) -> Ints:
    """Return the keys of the k best admitted rows of some queries, best first, EMPTY beyond."""
    (queries, catalog), (k, asked) = vectors, depth
    _, rows = index.search(queries, asked)
    found = np.ascontiguousarray(catalog[np.maximum(rows, 0)], np.float32)
    scores = _scored(queries, found)
    keys = np.where(_admitted(rules, part, rows), pack_keys(scores, rows), EMPTY)
    keys.sort(axis=1)
    best = keys[:, : -k - 1 : -1]
    return np.pad(best, ((0, 0), (0, k - best.shape[1])), constant_values=EMPTY)


def _admitted(rules: FilterArrays, part: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Return which of the rows (n, m) may answer the queries `part` (n,)."""
    keys = rules.queries[part], rules.catalog[np.maximum(rows, 0)]
    allowed: NDArray[np.bool_] = ~ruled_out(rules.own[part], rows, *keys, rules.n_apart)
    return allowed & (rows >= 0)


def filters_for(filters: Filters, part: Ints) -> Filters:
    """Return the filters of some queries."""

    def of(all_keys: Sequence[Keys]) -> list[Keys]:
        return [Keys(keys.queries[part], keys.catalog) for keys in all_keys]

    own = None if filters.own is None else filters.own[part]
    return Filters(own=own, apart=of(filters.apart), alike=of(filters.alike))


@njit(cache=True, nogil=True)
def _scored(queries: Float32s, found: Float32s) -> Float32s:
    """Return the exact score of each found row (n, m, d) with its query (n, d)."""
    scores = np.empty(found.shape[:2], np.float32)
    for query in range(found.shape[0]):
        for place in range(found.shape[1]):
            scores[query, place] = inner_product(queries[query], found[query, place])
    return scores
