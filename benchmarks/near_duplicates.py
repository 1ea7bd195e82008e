"""Find near-duplicates by banding and by comparing all: `python -m benchmarks.near_duplicates`.

Hashes are drawn: random ones, with planted copies, near copies and one picture that is repeated
a thousand times. All pairs are compared for 50,000 of them, and the results must be equal; both
are timed, and banding alone for a million. The memory is the process's peak.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from lookalike.images.near_duplicates import MAX_PARTNERS, NEAR_BITS, Hashes, Indices, near_pairs

BLOCK = 512


def planted(n: int, seed: int) -> Hashes:
    """Return n hashes, a tenth of them others with 0 to 6 bits turned, 1 in 1,000 equal."""
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**64, n, np.uint64, endpoint=False)
    copies = rng.choice(n, n // 10, replace=False)
    hashes[copies] = hashes[rng.integers(0, n, len(copies))]
    for row, n_bits in zip(copies, rng.integers(0, 7, len(copies)), strict=True):
        for bit in rng.choice(64, n_bits, replace=False):
            hashes[row] ^= np.uint64(1) << np.uint64(bit)
    hashes[rng.choice(n, n // 1000, replace=False)] = hashes[0]
    return hashes


def among_all_pairs(
    hashes: Hashes, max_bits: int = NEAR_BITS, max_partners: int = MAX_PARTNERS
) -> Indices:
    """Return what `near_pairs` does, by comparing every pair, block by block."""
    found = [np.empty((0, 3), np.int64)]
    for start in range(0, len(hashes), BLOCK):
        block = hashes[start : start + BLOCK]
        n_bits = np.bitwise_count(block[:, None] ^ hashes[None, start:])
        n_bits[np.tril_indices(len(block), 0, n_bits.shape[1])] = 65  # itself and earlier ones
        rows, columns = np.nonzero(n_bits <= max_bits)
        bits = n_bits[rows, columns]
        order = np.lexsort((columns, bits, rows))
        rows, columns, bits = rows[order], columns[order], bits[order]
        kept = np.arange(len(rows)) - np.searchsorted(rows, rows) < max_partners
        pairs = np.stack([rows[kept] + start, columns[kept] + start, bits[kept]], axis=1)
        found.append(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
    return np.concatenate(found).astype(np.int64)


def main() -> None:
    """Print the times."""
    seconds = {}
    for n in (50_000, 200_000, 1_000_000):
        hashes = planted(n, seed=1)
        began = time.perf_counter()
        found = near_pairs(hashes)
        seconds[n] = time.perf_counter() - began
        print(f"banding, {n:>9,} hashes: {len(found):>7,} pairs in {seconds[n]:6.2f} s")
        if n == 50_000:
            began = time.perf_counter()
            expected = among_all_pairs(hashes)
            took = time.perf_counter() - began
            assert np.array_equal(found, expected)
            print(f"all pairs, {n:>7,} hashes: the same in {took:6.2f} s")
    exponent = np.log(seconds[1_000_000] / seconds[200_000]) / np.log(5)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"grows with n to the {exponent:.2f}; at most {peak:.2f} GiB of memory")


if __name__ == "__main__":
    main()
