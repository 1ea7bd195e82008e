"""Exact top-k search by inner product over catalogs that need not fit in memory.

The catalog is read once, block by block, for all queries. `lookalike.search.blocks` gives fast
approximate scores with a proven error bound; every pair that could still enter a query's top k
is scored again in float32 by one fixed order of sums. The result is therefore the exact ranking
by those float32 scores, whatever the block size, the threads or the cut into shards. Cosine
similarity is the inner product of unit vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s
from lookalike.core.threads import Pool
from lookalike.search.blocks import (
    Blocks,
    FloatBlocks,
    QuantisedBlocks,
    quantised_is_fast,
)
from lookalike.search.filters import FilterArrays, Filters
from lookalike.search.kernels import offer_block
from lookalike.search.topk import MAX_INDEX, TopK

Vectors = NDArray[np.float32] | NDArray[np.float16]
Method = Literal["auto", "quantised", "float32"]

_MIB = 1 << 20
_MOST_BLOCK_ROWS = 8192
_MOST_QUERY_ROWS = 512
_MEAN_SAMPLE = 4096


@dataclass(frozen=True)
class Plan:
    """Block sizes that keep the search's own buffers within a memory setting."""

    block_rows: int
    query_rows: int

    @classmethod
    def within(cls, memory_mib: int, dim: int, n_queries: int, n_threads: int) -> Plan:
        """Return block sizes for buffers of about `memory_mib` MiB.

        Half goes to a catalog block (float32 and 8-bit), half to the scores of one block of
        queries per thread. Under about 1 MiB the smallest sizes win.
        """
        half = memory_mib * _MIB // 2
        block_rows = min(_MOST_BLOCK_ROWS, max(64, half // (5 * dim)))
        affordable = max(1, half // (4 * block_rows * n_threads))
        query_rows = min(_MOST_QUERY_ROWS, affordable, -(-n_queries // n_threads))
        return cls(block_rows, query_rows)


def top_k(
    queries: Vectors,
    catalog: Vectors | Sequence[Vectors],
    k: int,
    *,
    filters: Filters | None = None,
    memory_mib: int = 256,
    n_threads: int | None = None,
    method: Method = "auto",
) -> TopK:
    """Return the k catalog rows with the largest inner product for every query, exactly.

    Ties go to the lower row; the same input gives the same bytes for every block size, memory
    setting, method and cut into shards. A query with fewer than k admissible candidates is
    padded with row -1 and score -inf. Same ranking as a flat faiss index; scores agree to
    float32 rounding.

    Args:
        queries: shape (n_queries, d), float32 or float16, finite.
        catalog: shape (n_images, d), or shards of it in order; may be memory-mapped.
        k: depth, 1 <= k <= n_images.
        filters: candidates to leave out, applied inside the search.
        memory_mib: bound of the search's own buffers (inputs and result not counted).
        n_threads: processor threads; None takes those this process may run on.
        method: "quantised" proposes with 8-bit integers, "float32" with float32; "auto" takes
            the first where the processor has the instructions. The result is the same.

    Returns:
        Shape (n_queries, k).

    Raises:
        ValueError: for k out of range, shapes or dtypes that do not fit, or values that are
            NaN or infinite (the row is named).
    """
    shards = as_shards(catalog)
    n_images = checked(queries, shards, k)
    rules = (filters or Filters()).arrays(len(queries), n_images)
    return best_admitted(queries, shards, k, rules, memory_mib, n_threads=n_threads, method=method)


def best_admitted(
    queries: Vectors,
    shards: list[Vectors],
    k: int,
    rules: FilterArrays,
    memory_mib: int,
    *,
    n_threads: int | None = None,
    method: Method = "auto",
) -> TopK:
    """Do the work of `top_k`, on arguments that `checked` has seen."""
    if not len(queries):
        return TopK.nothing(0, k)
    wide = np.ascontiguousarray(queries, np.float32)
    with Pool(n_threads) as pool:
        plan = Plan.within(memory_mib, queries.shape[1], len(queries), pool.n_threads)
        blocks: Blocks
        if method == "quantised" or (method == "auto" and quantised_is_fast()):
            blocks = QuantisedBlocks(wide, _sample(shards), plan.block_rows, pool)
        else:
            blocks = FloatBlocks(wide)
        search = _Search(wide, k, rules=rules, blocks=blocks, plan=plan, pool=pool)
        for first, block in slices(shards, plan.block_rows):
            search.add(first, block)
    return search.result()


class _Search:
    """The running best of every query: heaps that `offer_block` fills."""

    def __init__(
        self,
        queries: Float32s,
        k: int,
        *,
        rules: FilterArrays,
        blocks: Blocks,
        plan: Plan,
        pool: Pool,
    ) -> None:
        self._buffer = np.empty((plan.block_rows, queries.shape[1]), np.float32)
        self._queries, self._rules, self._blocks, self._pool = queries, rules, blocks, pool
        self._best = TopK.nothing(len(queries), k)
        self._parts = [
            slice(start, min(start + plan.query_rows, len(queries)))
            for start in range(0, len(queries), plan.query_rows)
        ]

    def _widened(self, stored: Vectors) -> Float32s:
        """Return the rows as float32 in memory, in a buffer that the next block reuses."""
        if stored.dtype == np.float32 and stored.flags.c_contiguous:
            return np.asarray(stored, np.float32)
        wide = self._buffer[: len(stored)]
        self._pool.each(
            lambda part: np.copyto(wide[part], stored[part]), self._pool.parts(len(stored))
        )
        return wide

    def add(self, first: int, stored: Vectors) -> None:
        """Let the rows of one block compete, for all queries."""
        block = self._widened(stored)
        self._blocks.load(block, first)
        image_keys = self._rules.catalog[first : first + len(block)]

        def offer(part: slice) -> None:
            looks = (self._blocks.scores(part), self._blocks.ruled_out, self._blocks.terms(part))
            own, query_keys = self._rules.own[part], self._rules.queries[part]
            rules = (own, query_keys, image_keys, self._rules.n_apart)
            best = (self._best.scores[part], self._best.indices[part])
            offer_block(looks, (self._queries[part], block, first), rules, best)

        self._pool.each(offer, self._parts)

    def result(self) -> TopK:
        """Return the heaps sorted, best first."""
        return TopK.of(self._best.scores, self._best.indices, self._best.k)


def as_shards(catalog: Vectors | Sequence[Vectors]) -> list[Vectors]:
    """Return the shards of a catalog; one array is one shard."""
    return [catalog] if isinstance(catalog, np.ndarray) else list(catalog)


def slices(shards: list[Vectors], block_rows: int, begin: int = 0) -> Iterator[tuple[int, Vectors]]:
    """Yield (first catalog row, rows as stored) of every block from row `begin` on, in order."""
    first = 0
    for shard in shards:
        for start in range(max(0, begin - first), len(shard), block_rows):
            yield first + start, shard[start : start + block_rows]
        first += len(shard)


def _sample(shards: list[Vectors]) -> Float32s:
    """Return up to _MEAN_SAMPLE rows spread evenly over the catalog."""
    step = -(-sum(len(shard) for shard in shards) // _MEAN_SAMPLE)
    parts, offset = [], 0
    for shard in shards:
        parts.append(np.asarray(shard[offset::step], np.float32))
        offset = (offset - len(shard)) % step
    return np.concatenate(parts)


def checked(queries: Vectors, shards: list[Vectors], k: int) -> int:
    """Return the number of images, once everything fits together.

    Raises:
        ValueError: it does not; says what.
    """
    if not shards:
        raise ValueError("the catalog has no shards")
    for name, vectors in [("queries", queries), *((f"shard {i}", s) for i, s in enumerate(shards))]:
        if vectors.ndim != 2:
            raise ValueError(f"{name}: shape {vectors.shape}, two dimensions are needed")
        if vectors.dtype not in (np.float32, np.float16):
            raise ValueError(f"{name}: {vectors.dtype}, float32 or float16 is needed")
        if vectors.shape[1] != queries.shape[1]:
            raise ValueError(
                f"{name}: {vectors.shape[1]} dimensions, the queries have {queries.shape[1]}"
            )
    if not np.isfinite(queries).all():
        row = int(np.flatnonzero(~np.isfinite(queries).all(axis=1))[0])
        raise ValueError(f"query row {row} holds NaN or infinity")
    n_images = sum(len(shard) for shard in shards)
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    if k > n_images:
        raise ValueError(f"k is {k}, more than the catalog's {n_images} images")
    if n_images > MAX_INDEX:
        raise ValueError(f"{n_images} images are more than one search can number ({MAX_INDEX})")
    return n_images
