"""The inner loops of the exact search, compiled by numba; they run without Python's lock.

Sums are reassociated for vector instructions, in an order that depends only on the number of
dimensions: the score of a pair is the same number wherever the pair is met.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s, Ints

Doubles = NDArray[np.float64]
BlockScores = NDArray[np.int32] | NDArray[np.float32]

RULED_OUT = int(np.iinfo(np.int32).min)  # an integer block score that no threshold lets through
_LOWEST = float(RULED_OUT + 1)
_HIGHEST = float(np.iinfo(np.int32).max)
_LOWEST_FLOAT = -3e38  # -inf rules a pair out among float block scores
_SUMS = {"reassoc", "nsz", "contract"}
_STRIDE = 64  # block scores that one vectorised comparison passes over


# Plain tuples: numba's cache on disk would name a class, and break when the class is renamed.
Looks = tuple[BlockScores, float, Doubles]
Block = tuple[Float32s, Float32s, int]
Rules = tuple[Ints, Ints, Ints, int]
Best = tuple[Float32s, Ints]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def inner_product(left: Float32s, right: Float32s) -> np.float32:
    total = np.float32(0.0)
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@njit(cache=True, nogil=True)
def score_pairs(queries: Float32s, of_query: Ints, rows: Float32s) -> Float32s:
    """Return the exact score of each row (n, d) with its query; shape (n,)."""
    scores = np.empty(len(rows), np.float32)
    for i in range(len(rows)):
        scores[i] = inner_product(queries[of_query[i]], rows[i])
    return scores


@njit(cache=True, nogil=True)
def reach(rows: Float32s, mean: Float32s) -> Float32s:
    """Return the largest distance from the mean in each dimension; NaN counts as none."""
    furthest = np.zeros(mean.size, np.float32)
    for r in range(rows.shape[0]):
        row = rows[r]
        for i in range(mean.size):
            away = abs(row[i] - mean[i])
            furthest[i] = away if away > furthest[i] else furthest[i]
    return furthest


@njit(cache=True, nogil=True, fastmath=_SUMS)
def quantise(rows: Float32s, mean: Float32s, per_step: Float32s, out: NDArray[np.int8]) -> Float32s:
    """Round (rows - mean)·per_step to 8 bits.

    Args:
        rows: shape (n, d).
        mean: shape (d,).
        per_step: shape (n,); at most 127 / (largest distance from the mean in that row).
        out: shape (n, at least d), written.

    Returns:
        Shape (n, 3), in steps: norm of the scaled row, of the rounded row, of their difference.
    """
    norms = np.empty((rows.shape[0], 3), np.float32)
    for r in range(rows.shape[0]):
        row, line, scale = rows[r], out[r], per_step[r]
        before = after = error = np.float32(0.0)
        for i in range(mean.size):
            scaled = (row[i] - mean[i]) * scale
            rounded = np.rint(scaled)
            line[i] = np.int8(rounded)
            before += scaled * scaled
            after += rounded * rounded
            error += (rounded - scaled) * (rounded - scaled)
        norms[r, 0] = np.sqrt(before)
        norms[r, 1] = np.sqrt(after)
        norms[r, 2] = np.sqrt(error)
    return norms


@njit(cache=True, nogil=True)
def _worse(score: np.float32, index: int, than: np.float32, than_index: int) -> bool:
    return bool(score < than or (score == than and index > than_index))


@njit(cache=True, nogil=True)
def _offer(scores: Float32s, indices: Ints, score: np.float32, index: int) -> bool:
    """Replace the heap's worst candidate, its root, if this one is better; say whether it was."""
    if not _worse(scores[0], indices[0], score, index):
        return False
    at = 0
    while 2 * at + 1 < scores.size:
        child = 2 * at + 1
        other = child + 1
        if other < scores.size and _worse(
            scores[other], indices[other], scores[child], indices[child]
        ):
            child = other
        if not _worse(scores[child], indices[child], score, index):
            break
        scores[at] = scores[child]
        indices[at] = indices[child]
        at = child
    scores[at] = score
    indices[at] = index
    return True


@njit(cache=True, nogil=True)
def _admissible(rules: Rules, r: int, index: int, column: int) -> bool:
    own, query_keys, image_keys, n_apart = rules
    if own[r] == index:
        return False
    query, image = query_keys[r], image_keys[column]
    for key in range(n_apart):
        if query[key] != -1 and query[key] == image[key]:
            return False
    for key in range(n_apart, query.size):
        if query[key] == -1 or query[key] != image[key]:
            return False
    return True


@njit(cache=True, nogil=True)
def _least(floor: np.float32, terms: Doubles, quantised: bool) -> float:
    """Return the smallest block score that a pair worth `floor` can have."""
    value = (floor - terms[0] - terms[1]) / terms[2]
    if quantised:
        return float(min(max(np.floor(value) - 1.0, _LOWEST), _HIGHEST))
    return float(max(value, _LOWEST_FLOAT))


@njit(cache=True, nogil=True)
def _any_reaches(values: BlockScores, least: float) -> bool:
    reached = False
    for i in range(values.size):
        reached |= values[i] >= least
    return reached


@njit(cache=True, nogil=True)
def _best_looking(line: BlockScores, k: int, rules: Rules, r: int, first: int) -> Ints:
    """Return the columns of the row's k highest block scores; -1 where there are fewer."""
    looks = np.full(k, -np.inf, np.float32)
    columns = np.full(k, -1, np.int64)
    for column in range(line.size):
        look = np.float32(line[column])
        if look > looks[0] and _admissible(rules, r, first + column, column):
            _offer(looks, columns, look, column)
    return columns


@njit(cache=True, nogil=True)
def offer_block(looks: Looks, block: Block, rules: Rules, best: Best) -> int:
    """Let a block's rows compete for the top k of each query.

    Every pair whose block score allows it to be among the best is scored exactly and, if it is,
    replaces the worst of them. A query whose heap is not full starts with the k pairs that look
    best, so that its threshold is high from the first column on.

    Args:
        looks: block scores (m, n), int32 or float32, overwritten; the block score that no
            threshold lets through; terms (m, 3): shift, bound, unit. A pair's exact score lies
            within `bound` of block_score·unit + shift.
        block: queries (m, d), the block's rows (n, d), the catalog row of the first of these.
        rules: as in `FilterArrays`: own (m,), keys (m, c) and (n, c), n_apart.
        best: scores and indices (m, k), -1 while empty; each row a heap, its worst first.
            Updated.

    Returns:
        How many pairs were scored exactly.
    """
    block_scores, ruled_out, terms = looks
    queries, rows, first = block
    least = np.empty(1, block_scores.dtype)
    quantised = ruled_out == RULED_OUT
    n_exact = 0
    for r in range(block_scores.shape[0]):
        line, query, scores, indices = block_scores[r], queries[r], best[0][r], best[1][r]
        if indices[0] == -1:
            for column in _best_looking(line, scores.size, rules, r, first):
                if column >= 0:
                    line[column] = ruled_out
                    _offer(scores, indices, inner_product(query, rows[column]), first + column)
                    n_exact += 1
        least[0] = _least(scores[0], terms[r], quantised)
        for start in range(0, line.size, _STRIDE):
            if not _any_reaches(line[start : start + _STRIDE], least[0]):
                continue
            for column in range(start, min(start + _STRIDE, line.size)):
                index = first + column
                if line[column] >= least[0] and _admissible(rules, r, index, column):
                    n_exact += 1
                    if _offer(scores, indices, inner_product(query, rows[column]), index):
                        least[0] = _least(scores[0], terms[r], quantised)
    return n_exact
