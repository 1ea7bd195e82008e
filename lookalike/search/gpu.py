"""Exact top-k search on a device of torch: it proposes there, and the processor decides.

The shards go to the device block by block, for queries that stay there. What it computes is
approximate, with a proven bound on the error; of each query the m > k best pairs are kept. Those
that could be among the k best are scored again by the kernel of `lookalike.search.exact`. Where the
bound proves that nothing left behind could be, these are the answer; where it does not, the query
is searched by `lookalike.search.exact`. So ids and scores are the processor's, bit for bit.
`lookalike.search.precision` has the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s, Ints
from lookalike.core.memory import free_memory, is_out_of_memory
from lookalike.core.progress import SILENT, Progress
from lookalike.core.threads import Pool
from lookalike.search.exact import Vectors, as_shards, best_admitted, checked
from lookalike.search.feed import fed
from lookalike.search.filters import FilterArrays, Filters
from lookalike.search.kernels import score_pairs
from lookalike.search.numpy_search import ruled_out
from lookalike.search.precision import Precision, largest_norm, narrowed, products, whole_sums
from lookalike.search.topk import TopK

MIB = 1 << 20
_MOST_BLOCK_ROWS, _LEAST_BLOCK_ROWS = 1 << 16, 64
_BYTES_PER_VALUE = 40  # of a block: stored twice here and there, widened, scaled, narrowed
_BYTES_PER_PAIR = 16  # scores, masks, and what finding the largest of them takes
_SPARE = 32  # pairs kept beyond k, at least
_LARGEST_NORM, _LARGEST_SCORE = 1e18, 1e38  # beyond, float32 overflows


class _NotOnDeviceError(Exception):
    """The device cannot do the search; says why."""


@dataclass(frozen=True)
class DevicePlan:
    """Block sizes that keep the buffers on the device within a memory setting."""

    block_rows: int
    query_rows: int

    @classmethod
    def within(cls, memory_mib: int, dim: int, n_queries: int) -> DevicePlan:
        """Return sizes for about `memory_mib` MiB: half for blocks, half for their scores."""
        half = memory_mib * MIB // 2
        block_rows = half // (_BYTES_PER_VALUE * dim)
        block_rows = min(_MOST_BLOCK_ROWS, max(_LEAST_BLOCK_ROWS, block_rows))
        n_parts = -(-n_queries // max(1, half // (_BYTES_PER_PAIR * block_rows)))
        return cls(block_rows, -(-n_queries // n_parts))

    def halved(self) -> DevicePlan | None:
        """Return blocks of half as many rows; None when they are small enough already."""
        if self.block_rows <= _LEAST_BLOCK_ROWS:
            return None
        return DevicePlan(self.block_rows // 2, self.query_rows)


@dataclass(frozen=True)
class _Best:
    """The best pairs so far, on the device, and what bounds their errors.

    Attributes:
        scores, rows: shape (n_queries, m), best first; scores in units of the queries' scales.
        norm, error: the largest norm of an image's vector, and of what narrowing took of one.
    """

    scores: torch.Tensor
    rows: torch.Tensor
    norm: torch.Tensor
    error: torch.Tensor


def top_k(
    queries: Vectors,
    catalog: Vectors | Sequence[Vectors],
    k: int,
    *,
    device: str,
    filters: Filters | None = None,
    memory_mib: int = 2048,
    progress: Progress = SILENT,
) -> TopK:
    """Return what `lookalike.search.exact.top_k` returns, most of it computed on a device.

    A device whose memory is full is given blocks of half the size, again and again; if even the
    smallest do not fit, the processor searches alone.

    Args:
        queries: shape (n_queries, d), float32 or float16, finite.
        catalog: shape (n_images, d), or shards of it in order; may be memory-mapped.
        k: depth, 1 <= k <= n_images.
        device: cuda, cuda:N, mps or cpu.
        filters: candidates to leave out, applied inside the search.
        memory_mib: bound of the search's own buffers, on the device as in memory (queries,
            inputs and result not counted).
        progress: told when the processor has to search alone.

    Raises:
        ValueError: as `lookalike.search.exact.top_k` does.
    """
    shards = as_shards(catalog)
    n_images = checked(queries, shards, k)
    rules = (filters or Filters()).arrays(len(queries), n_images)
    if not len(queries):
        return best_admitted(queries, shards, k, rules, memory_mib)
    where = torch.device(device)
    try:
        with whole_sums(where), Pool() as pool:
            search = _DeviceSearch(queries, k, rules, where, memory_mib, pool=pool)
            found, is_open = search.answers(shards)
    except _NotOnDeviceError as problem:
        progress.note(f"{problem}; the processor searches instead")
        return best_admitted(queries, shards, k, rules, memory_mib)
    if is_open.any():
        left = FilterArrays(
            rules.own[is_open], rules.queries[is_open], rules.catalog, rules.n_apart
        )
        exact = best_admitted(queries[is_open], shards, k, left, memory_mib)
        found.indices[is_open], found.scores[is_open] = exact.indices, exact.scores
    return found


class _DeviceSearch:
    """One search: the queries and the rules on the device."""

    def __init__(
        self,
        queries: Vectors,
        k: int,
        rules: FilterArrays,
        device: torch.device,
        memory_mib: int,
        *,
        pool: Pool,
    ) -> None:
        self._k, self._n_apart, self._device, self._pool = k, rules.n_apart, device, pool
        self._queries = np.ascontiguousarray(queries, np.float32)
        self._n_images = len(rules.catalog)
        self._kept = min(self._n_images, k + max(_SPARE, k))
        self._plan = DevicePlan.within(memory_mib, queries.shape[1], len(queries))
        self._precision = Precision.of(device)
        self._step = max(  # pairs that a thread scores at once
            1, memory_mib * MIB // (32 * queries.shape[1] * pool.n_threads)
        )
        with _full_memory_of(device):
            wide = torch.from_numpy(self._queries.copy()).to(device)
            self._x, scales, errors = narrowed(wide, self._precision.narrow, each=True)
            self._own, self._keys, self._image_keys = (
                torch.from_numpy(rule).to(device)
                for rule in (rules.own, rules.queries, rules.catalog)
            )
        self._scales = scales.flatten().cpu().numpy().astype(np.float64)
        self._errors = errors.cpu().numpy() * self._scales
        self._norms = np.sqrt(np.einsum("nd,nd->n", self._queries, self._queries, dtype=np.float64))

    def answers(self, shards: list[Vectors]) -> tuple[TopK, NDArray[np.bool_]]:
        """Return each query's k best, and which queries the bound leaves open.

        Raises:
            _NotOnDeviceError: its memory does not suffice, or it computes less exactly than the
                bound allows for.
        """
        best = self._proposed(shards)
        norm, error = float(best.norm), float(best.error)
        score = float(self._norms.max()) * norm
        if not (norm < _LARGEST_NORM and score < _LARGEST_SCORE):  # or NaN
            # `lookalike.search.exact` says in which row
            n_queries = len(self._queries)
            return TopK.nothing(n_queries, self._k), np.ones(n_queries, np.bool_)
        scores = best.scores.cpu().numpy() * self._scales[:, None]
        rows = best.rows.cpu().numpy()
        dim = self._queries.shape[1]
        bound = self._precision.bound(self._norms, self._errors, (norm, error), dim)
        bound = np.broadcast_to(bound[:, None], scores.shape)
        is_near = (rows >= 0) & (scores >= scores[:, self._k - 1 : self._k] - 2 * bound)
        exact = np.full(scores.shape, -np.inf, np.float32)
        exact[is_near] = self._rescored(shards, np.nonzero(is_near)[0], rows[is_near])
        if (np.abs(exact[is_near] - scores[is_near]) > bound[is_near]).any():
            raise _NotOnDeviceError(f"{self._device} multiplies less exactly than is known of it")
        found = TopK.of(exact, np.where(is_near, rows, -1), self._k)
        is_full = (rows[:, -1] >= 0) & (self._kept < self._n_images)
        is_open: NDArray[np.bool_] = is_full & (scores[:, -1] + bound[:, 0] >= found.scores[:, -1])
        return found, is_open

    def _proposed(self, shards: list[Vectors]) -> _Best:
        """Return the best pairs by the device's own scores; halve the blocks while it is full."""
        first, best = 0, self._nothing_yet()
        while True:
            try:
                blocks = fed(shards, first, self._plan.block_rows, self._device, self._pool)
                for first_of, stored in blocks:
                    best = self._after(best, first_of, stored)
                    first = first_of + len(stored)
            except (RuntimeError, MemoryError) as problem:
                if not is_out_of_memory(problem):
                    raise
                smaller = self._plan.halved()
                if smaller is None:
                    raise _NotOnDeviceError(f"the memory of {self._device} is full") from problem
                self._plan = smaller
            else:
                return best
            free_memory(self._device)  # once what the error held on to is gone

    def _nothing_yet(self) -> _Best:
        shape = (len(self._queries), self._kept)
        with _full_memory_of(self._device):
            zero = torch.zeros((), device=self._device)
            return _Best(
                torch.full(shape, -torch.inf, device=self._device),
                torch.full(shape, -1, dtype=torch.int64, device=self._device),
                zero,
                zero,
            )

    def _after(self, best: _Best, first: int, stored: torch.Tensor) -> _Best:
        """Return the best pairs once the rows of a block have competed, for all queries."""
        wide = stored.float()
        y, scale, errors = narrowed(wide, self._precision.narrow)
        norm = largest_norm(wide)
        del wide
        rows = torch.arange(first, first + len(y), device=self._device)
        keys = self._image_keys[first : first + len(y)]
        scores, kept = [], []
        for start in range(0, len(self._queries), self._plan.query_rows):
            part = slice(start, start + self._plan.query_rows)
            block = products(self._x[part], y)
            mask = ruled_out(self._own[part], rows, self._keys[part], keys, self._n_apart)
            looks, columns = block.masked_fill_(mask, -torch.inf).topk(min(self._kept, len(y)))
            looks = looks.float() * scale
            columns = torch.where(looks > -torch.inf, columns + first, -1)
            both = torch.cat([best.scores[part], looks], dim=1)
            largest, places = both.topk(self._kept)
            scores.append(largest)
            kept.append(torch.cat([best.rows[part], columns], dim=1).gather(1, places))
        return _Best(
            torch.cat(scores),
            torch.cat(kept),
            torch.maximum(best.norm, norm),
            torch.maximum(best.error, errors.amax() * scale),
        )

    def _rescored(self, shards: list[Vectors], of_query: Ints, rows: Ints) -> Float32s:
        """Return the exact score of each pair, reading the catalog in its own order."""
        order = np.argsort(rows, kind="stable")
        begins = np.cumsum([0, *map(len, shards)])
        scores = np.empty(rows.size, np.float32)

        def score(part: slice) -> None:
            pairs = order[part]
            found = np.empty((pairs.size, self._queries.shape[1]), np.float32)
            cuts = np.searchsorted(rows[pairs], begins)
            for shard, begin, (at, end) in zip(shards, begins, pairwise(cuts), strict=False):
                np.copyto(found[at:end], shard[rows[pairs[at:end]] - begin])
            scores[pairs] = score_pairs(self._queries, of_query[pairs], found)

        step = min(self._step, -(-rows.size // self._pool.n_threads))
        starts = range(0, rows.size, max(1, step))
        self._pool.each(score, [slice(start, start + step) for start in starts])
        return scores


@contextmanager
def _full_memory_of(device: torch.device) -> Iterator[None]:
    """Say that a device is full in the words of a search that has nothing to make smaller."""
    try:
        yield
    except (RuntimeError, MemoryError) as problem:
        if not is_out_of_memory(problem):
            raise
        raise _NotOnDeviceError(f"the memory of {device} is full") from problem
