"""Find pictures that look the same: perceptual hashes that differ in few bits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

NEAR_BITS = 4  # of 64; on shop photos, 6 already pairs different garments in one pose
MOST_BITS = 16  # banding gains nothing beyond
MAX_PARTNERS = 50
BLOCK = 65_536

Indices = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]


def near_pairs(
    hashes: Hashes, max_bits: int = NEAR_BITS, max_partners: int = MAX_PARTNERS
) -> Indices:
    """Return all pairs of hashes that differ in at most `max_bits` bits.

    Exact, yet few pairs are compared. The 64 bits are cut into `max_bits` + 2 bands: bits that
    differ spoil at most `max_bits` of them, so near hashes agree in two bands at least, and only
    hashes that do are compared (multi-index hashing; Norouzi et al., CVPR 2012). A picture
    repeated thousands of times would make millions of pairs, so each one keeps at most
    `max_partners` partners that come after it: the nearest, and among equally near ones the
    earlier.

    Args:
        hashes: shape (n,), 64-bit perceptual hashes.
        max_bits: Hamming distance up to which two are near, 0 to 16.
        max_partners: at least 1.

    Returns:
        Shape (n_pairs, 3): earlier index, later index, bits that differ; sorted by the
        indices.

    Raises:
        ValueError: `max_bits` is out of range.

    >>> near_pairs(np.array([0b0000, 0b1111_1111, 0b0001], np.uint64)).tolist()
    [[0, 2, 1]]
    """
    if not 0 <= max_bits <= MOST_BITS:
        raise ValueError(f"max_bits must be 0 to {MOST_BITS}, not {max_bits}")
    if not len(hashes):
        return np.empty((0, 3), np.int64)
    values, value_of = np.unique(hashes, return_inverse=True)
    near = _near_values(values, max_bits)
    each = np.arange(len(values))
    both = np.concatenate(  # of each value: itself, and those near it, in both directions
        [np.stack([each, each, 0 * each], axis=1), near, near[:, [1, 0, 2]]]
    )
    both = both[np.argsort(both[:, 0], kind="stable")]
    first_near = np.searchsorted(both[:, 0], np.arange(len(values) + 1))

    holders = np.argsort(value_of, kind="stable")  # the pictures of each value, in their order
    place = value_of[holders] * len(hashes) + holders  # rises
    found = []
    for start in range(0, len(hashes), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(hashes)))
        first = first_near[value_of[rows]]
        row, which = _ranges(first, first_near[value_of[rows] + 1] - first)
        rows, partner_value, bits = rows[row], both[which, 1], both[which, 2]
        after = np.searchsorted(place, partner_value * len(hashes) + rows, side="right")
        end = np.searchsorted(place, (partner_value + 1) * len(hashes))
        row, which = _ranges(after, np.minimum(end - after, max_partners))
        found.append(
            _nearest(np.stack([rows[row], holders[which], bits[row]], axis=1), max_partners)
        )
    return np.concatenate(found)


def _near_values(values: Hashes, max_bits: int) -> Indices:
    """Return the near pairs of different, rising values: (m, 3), lower, higher index, bits."""
    edges = np.linspace(0, 64, max_bits + 3).round().astype(int).tolist()
    bands = [np.uint64(((1 << end) - 1) ^ ((1 << start) - 1)) for start, end in pairwise(edges)]
    found = [np.empty((0, 3), np.int64)]
    for one, other in combinations(range(len(bands)), 2):
        for a, b in _equal_pairs(values & (bands[one] | bands[other])):
            differing = values[a] ^ values[b]
            n_bits = np.bitwise_count(differing)
            is_near = n_bits <= max_bits
            for earlier in set(range(other)) - {one}:  # met before if these agree, too
                is_near &= (differing & bands[earlier]) != 0
            pairs = np.stack([np.minimum(a, b), np.maximum(a, b), n_bits], axis=1)
            found.append(pairs[is_near].astype(np.int64))
    return np.concatenate(found)


def _equal_pairs(keys: Hashes) -> Iterator[tuple[Indices, Indices]]:
    """Yield arrays of indices whose keys are equal, each pair once."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    left = np.arange(len(keys))
    for distance in range(1, len(keys)):
        left = left[: np.searchsorted(left, len(keys) - distance)]
        left = left[keys[left] == keys[left + distance]]  # sorted: who differs now, differs later
        if not len(left):
            return
        yield order[left], order[left + distance]


def _ranges(first: Indices, length: Indices) -> tuple[Indices, Indices]:
    """Return for ranges laid end to end the number of the range, and the place in it."""
    which = np.repeat(np.arange(len(first)), length)
    begin = np.cumsum(length) - length
    return which, np.arange(len(which)) - begin[which] + first[which]


def _nearest(pairs: Indices, max_partners: int) -> Indices:
    """Keep each row's nearest partners, the earlier of equally near ones; sort by the indices."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 2], pairs[:, 0]))]
    rank = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
    pairs = pairs[rank < max_partners]
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
