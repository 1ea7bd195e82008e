"""Find pictures that look the same: perceptual hashes that differ in few bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

NEAR_BITS = 4  # of 64; on shop photos, 6 already pairs different garments in one pose
MAX_PARTNERS = 50
BLOCK = 512


def near_pairs(
    hashes: npt.NDArray[np.uint64],
    max_bits: int = NEAR_BITS,
    max_partners: int = MAX_PARTNERS,
) -> npt.NDArray[np.int64]:
    """Return all pairs of hashes that differ in at most `max_bits` bits.

    Every pair is compared, block by block: exact, in constant memory, and 50,000 hashes take
    seconds. A picture repeated thousands of times would make millions of pairs, so each one
    keeps at most `max_partners` partners that come after it: the nearest, and among equally
    near ones the earlier.

    Args:
        hashes: shape (n,), 64-bit perceptual hashes.
        max_bits: Hamming distance up to which two are near, 0 to 64.
        max_partners: at least 1.

    Returns:
        Shape (n_pairs, 3): earlier index, later index, bits that differ; sorted by the
        indices.
    """
    found = [np.empty((0, 3), np.int64)]
    for start in range(0, len(hashes), BLOCK):
        block = hashes[start : start + BLOCK]
        n_bits = np.bitwise_count(block[:, None] ^ hashes[None, start:])
        n_bits[np.tril_indices(len(block), 0, n_bits.shape[1])] = 65  # itself and earlier ones
        rows, columns = np.nonzero(n_bits <= max_bits)
        bits = n_bits[rows, columns]
        order = np.lexsort((columns, bits, rows))
        rows, columns, bits = rows[order], columns[order], bits[order]
        first_of_row = np.searchsorted(rows, rows)
        kept = np.arange(len(rows)) - first_of_row < max_partners
        pairs = np.stack([rows[kept] + start, columns[kept] + start, bits[kept]], axis=1)
        found.append(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
    return np.concatenate(found).astype(np.int64)
