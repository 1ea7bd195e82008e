"""What an exact top-k search returns, and how partial results join.

Every candidate travels as one 64-bit key whose order is (score descending, index ascending),
so that ties are settled the same way whatever the block size, the shard or the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Float32s, Ints

EMPTY = np.iinfo(np.int64).min
MAX_INDEX = (1 << 32) - 2
_LOW = np.int64(0xFFFFFFFF)


@dataclass(frozen=True)
class TopK:
    """The best candidates of each query, best first.

    Attributes:
        indices: shape (n_queries, k); catalog rows, -1 where a query has fewer candidates.
        scores: shape (n_queries, k), float32; -inf where `indices` is -1.
    """

    indices: Ints
    scores: Float32s

    def __post_init__(self) -> None:
        if self.indices.ndim != 2 or self.indices.shape != self.scores.shape:
            raise ValueError(
                f"indices {self.indices.shape} and scores {self.scores.shape} must be one (q, k)"
            )

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    @classmethod
    def nothing(cls, n_queries: int, k: int) -> TopK:
        """Return no candidate for each query, to be filled."""
        shape = (n_queries, k)
        return cls(np.full(shape, -1, np.int64), np.full(shape, -np.inf, np.float32))

    @classmethod
    def of(cls, scores: Float32s, rows: Ints, k: int) -> TopK:
        """Return the best k of each query's candidates (n_queries, m); row -1 is none."""
        keys = np.where(rows < 0, EMPTY, pack_keys(scores, rows))
        keys.sort(axis=1)
        return unpack_keys(keys[:, : -k - 1 : -1])


def pack_keys(scores: Float32s, indices: Ints) -> Ints:
    """Return one int64 per candidate; a larger key is a better candidate.

    The high half is the float32 score mapped onto integers in the same order (-0.0 as 0.0),
    the low half the complement of the index: of two equal scores the lower index wins.
    """
    bits = (scores + np.float32(0.0)).view(np.int32)
    ordered = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    return (ordered.astype(np.int64) << 32) | (_LOW - indices)


def unpack_keys(keys: Ints) -> TopK:
    """Return the candidates of keys (n_queries, k) that are sorted best first."""
    indices = np.where(keys == EMPTY, np.int64(-1), _LOW - (keys & _LOW))
    ordered = (keys >> 32).astype(np.int32)
    scores = (ordered ^ ((ordered >> 31) & np.int32(0x7FFFFFFF))).view(np.float32)
    return TopK(indices, np.where(keys == EMPTY, np.float32(-np.inf), scores))
