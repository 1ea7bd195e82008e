"""Fast scores of query x catalog blocks, each with a proven bound on its error.

A pair's exact score lies within `bound` of unit·block_score + shift. The search scores exactly
whatever this leaves open, so a looser bound costs time and never a result.

`QuantisedBlocks` rounds both sides to 8 bits and multiplies in integers (exactly, in 32 bits).
With q = a·q8 + e and c - m = b·c8 + f, where m is about the catalog's mean, Cauchy-Schwarz gives
|q·c - q·m - ab·q8·c8| <= |e||c - m| + |a·q8||f|; all four norms are measured, not assumed. The
mean moves all scores of a query alike, so taking it out tightens the bound and ranks nothing.
"""

from __future__ import annotations

import threading
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s
from lookalike.core.threads import Pool
from lookalike.search.kernels import RULED_OUT, BlockScores, Doubles, quantise, reach

_HALF_ULP = 2.0**-24
_TINY = 1e-30


class Blocks(Protocol):
    """Approximate scores of the loaded block; `scores` may be called from several threads."""

    ruled_out: float  # a block score that says "not a candidate"

    def load(self, block: Float32s, first: int) -> None:
        """Take catalog rows (n, d), the first of which is row `first` of the catalog.

        Raises:
            ValueError: if a row holds NaN or infinity.
        """

    def scores(self, queries: slice) -> BlockScores:
        """Return block scores (n_queries, n); the caller may overwrite them.

        They live in a buffer of the calling thread, until its next call.
        """

    def terms(self, queries: slice) -> Doubles:
        """Return (n_queries, 3): the shift, bound and unit of these queries' block scores."""


def quantised_is_fast() -> bool:
    """Tell whether this processor multiplies 8-bit integers exactly and fast (VNNI).

    Without VNNI the 8-bit kernels may saturate in 16 bits, so they are not used at all.
    """
    return bool(torch.cpu._is_vnni_supported())


def rounding_slack(dim: int) -> float:
    """Return the relative error of a float32 inner product summed in any order."""
    return (dim + 8) * _HALF_ULP


class _Buffers(threading.local):
    """One growing score buffer for each thread: fresh memory costs as much as the product."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._flat = torch.empty(0, dtype=dtype)

    def shaped(self, n_rows: int, n_columns: int) -> torch.Tensor:
        if self._flat.numel() < n_rows * n_columns:
            self._flat = torch.empty(n_rows * n_columns, dtype=self._flat.dtype)
        return self._flat[: n_rows * n_columns].view(n_rows, n_columns)


class FloatBlocks:
    """float32 products; the bound covers the rounding of two different orders of sums."""

    ruled_out = float("-inf")

    def __init__(self, queries: Float32s) -> None:
        self._queries = queries
        self._norms = _norms(queries)
        self._slack = rounding_slack(queries.shape[1])
        self._buffers = _Buffers(torch.float32)
        self._block = queries[:0]
        self._largest = 0.0

    def load(self, block: Float32s, first: int) -> None:
        self._block = block
        writable = block if block.flags.writeable else block.copy()  # torch warns of a mapped file
        norms = torch.linalg.vector_norm(torch.from_numpy(writable), dim=1).numpy()
        _require_finite(norms, first)
        self._largest = float(norms.max()) * (1 + 2 * self._slack)

    def scores(self, queries: slice) -> BlockScores:
        rows = self._queries[queries]
        out = self._buffers.shaped(len(rows), len(self._block))
        with np.errstate(over="ignore"):  # an infinite score is looked at in doubles
            return np.matmul(rows, self._block.T, out=out.numpy())

    def terms(self, queries: slice) -> Doubles:
        bound = 3 * self._slack * self._largest * self._norms[queries]
        return np.stack([np.zeros_like(bound), bound, np.ones_like(bound)], axis=1)


class QuantisedBlocks:
    """8-bit products in 32-bit integers; the module's docstring has the bound."""

    ruled_out = float(RULED_OUT)

    def __init__(self, queries: Float32s, sample: Float32s, block_rows: int, pool: Pool) -> None:
        mean = sample.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._mean = np.where(np.isfinite(mean), mean, np.float32(0))
        self._mean_norm = float(np.linalg.norm(self._mean))
        self._slack = rounding_slack(queries.shape[1])
        self._pool = pool
        self._buffers = _Buffers(torch.int32)
        # no narrower than four: some processors' products of single numbers are wrong
        width = max(4, queries.shape[1])
        self._c8 = np.zeros((block_rows, width), np.int8)
        self._n_rows = 0
        self._step = self._reach = self._reach_error = 0.0
        largest = np.maximum(queries.max(axis=1), -queries.min(axis=1))
        per_unit = (127 / np.maximum(largest, _TINY)).astype(np.float32)
        self._q8 = np.zeros((len(queries), width), np.int8)
        norms = quantise(queries, np.zeros_like(self._mean), per_unit, self._q8)
        self._unit = 1 / per_unit.astype(np.float64)
        self._norm, self._norm8, self._error = (norms * self._unit[:, None]).T * (
            1 + 2 * self._slack
        )
        self._shift = _inner_products(queries, self._mean)

    def load(self, block: Float32s, first: int) -> None:
        self._n_rows = len(block)
        parts = self._pool.parts(len(block))
        furthest = max(self._pool.each(lambda part: reach(block[part], self._mean).max(), parts))
        per_step = np.full(len(block), 127 / max(furthest, _TINY), np.float32)

        def quantise_part(part: slice) -> Float32s:
            norms: Float32s = quantise(block[part], self._mean, per_step[part], self._c8[part])
            return norms

        norms = np.concatenate(self._pool.each(quantise_part, parts))
        _require_finite(norms[:, 0], first)
        self._step = 1 / float(per_step[0])
        largest = norms.max(axis=0).astype(np.float64) * self._step * (1 + 2 * self._slack)
        self._reach, _, self._reach_error = largest.tolist()

    def scores(self, queries: slice) -> BlockScores:
        rows, block = torch.from_numpy(self._q8[queries]), torch.from_numpy(self._c8)
        out = self._buffers.shaped(len(rows), self._n_rows)
        scores: NDArray[np.int32] = torch._int_mm(rows, block[: self._n_rows].T, out=out).numpy()
        return scores

    def terms(self, queries: slice) -> Doubles:
        rounding = 4 * self._slack * self._norm[queries] * (self._reach + self._mean_norm)
        quantising = self._error[queries] * self._reach + self._norm8[queries] * self._reach_error
        unit = self._unit[queries] * self._step
        return np.stack([self._shift[queries], quantising + rounding, unit], axis=1)


def _norms(rows: Float32s) -> Doubles:
    norms: Doubles = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return norms


def _inner_products(rows: Float32s, vector: Float32s) -> Doubles:
    """Return rows · vector in double precision, a few rows at a time."""
    wide = vector.astype(np.float64)
    parts = [rows[i : i + 256].astype(np.float64) @ wide for i in range(0, len(rows), 256)]
    return np.concatenate(parts)


def _require_finite(norms: Float32s, first: int) -> None:
    bad = np.flatnonzero(~np.isfinite(norms))
    if len(bad):
        raise ValueError(f"catalog row {first + int(bad[0])} holds NaN or infinity, or overflows")
