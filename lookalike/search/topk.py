"""What an exact top-k search returns, and how partial results join.

Every candidate travels as one 64-bit key whose order is (score descending, index ascending),
so that ties are settled the same way whatever the block size, the shard or the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    def shifted(self, by: int) -> TopK:
        """Return the same candidates as rows of a catalog in which this shard starts at `by`."""
        return TopK(np.where(self.indices < 0, -1, self.indices + by), self.scores)


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


def merge_top_k(parts: Sequence[TopK], k: int) -> TopK:
    """Return the best k of several partial results over disjoint parts of one catalog.

    Associative and independent of the order of `parts`: shards may be searched anywhere and
    merged in any grouping. Indices must already be rows of the whole catalog (`TopK.shifted`).

    Args:
        parts: results with the same number of queries.
        k: depth of the result, >= 1.

    Returns:
        Depth k; padded with -1 and -inf.

    Raises:
        ValueError: for k < 1, no parts, or parts with different numbers of queries.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    if not parts:
        raise ValueError("there is nothing to merge: no parts were given")
    if len({part.indices.shape[0] for part in parts}) > 1:
        raise ValueError("the parts answer different numbers of queries")
    keys = [
        np.where(part.indices < 0, EMPTY, pack_keys(part.scores, part.indices)) for part in parts
    ]
    joined = np.concatenate([*keys, np.full((len(keys[0]), k), EMPTY)], axis=1)
    joined.sort(axis=1)
    return unpack_keys(joined[:, : -k - 1 : -1])
