"""Bootstrap of the micro ROC-AUC over queries, its inner loop compiled where numba is there.

A sample holds a query's pairs as often as it drew the query, so a positive of query a and a
negative of query b count c_a * c_b times: the value is c'Uc / ((c'P)(c'N)) with U[a, b] the wins
of positives of query a over negatives of query b, computed here down one sorted list instead of
the matrix, for many samples at once. All sums are of whole numbers, hence exact. Ties count half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.compiled import IS_COMPILED, compiled
from lookalike.stats.grouped_auc import ratio

Pairs = tuple[Ints, Bools, Ints]  # query, is positive, by falling score; ends of tied groups
Lacking = tuple[Ints, Ints, int]  # pair i is lacked by the parts [1][[0][i]:[0][i + 1]], of [2]
# Samples whose counts of all queries stay in the processor's cache; in Python more pay off.
_AT_ONCE = 128 if IS_COMPILED else 1024


def bootstrap_micro_aucs(
    scores: Floats, labels: Floats, queries: Ints, counts: Floats, kept: Bools
) -> Floats:
    """Return the micro ROC-AUC of every bootstrap sample of queries, on several parts of the pairs.

    What a part wins is what all pairs win, less what the pairs that it lacks are involved in,
    so a part that lacks few pairs costs little.

    Args:
        scores: shape (n_pairs,), higher is more similar.
        labels: shape (n_pairs,), 0 or 1.
        queries: shape (n_pairs,), integers in [0, n_queries).
        counts: shape (n_bootstraps, n_queries), from `lookalike.stats.bootstrap.query_counts`.
        kept: shape (n_parts, n_pairs).

    Returns:
        Shape (n_bootstraps, n_parts); NaN where a sample drew no positive or no negative.
    """
    is_positive = labels == 1
    drawn = np.ascontiguousarray(counts.T)
    falling = np.argsort(-scores)
    lacks = ~kept[:, falling]

    def won(pairs: Ints, lacks: Bools) -> Floats:
        return _won(scores[pairs], queries[pairs], is_positive[pairs], drawn, lacks)

    twice_won, *involved = won(falling, lacks)
    for g, lacked in enumerate(lacks):  # what is between two of them, is there twice
        involved[g] = involved[g] - won(falling[lacked], lacks[:0, lacked])[0]
    P, N = (_per_query(kept & mask, queries, counts) for mask in (is_positive, ~is_positive))
    half = (twice_won - np.reshape(involved, (len(kept), len(counts)))).T / 2.0
    return ratio(half, P * N)


def _per_query(kept: Bools, queries: Ints, counts: Floats) -> Floats:
    """Return how many of the kept pairs every sample holds, shape (n_bootstraps, n_parts)."""
    n = [np.bincount(queries[part], minlength=counts.shape[1]) for part in kept]
    held: Floats = counts @ np.stack(n, axis=1).astype(np.float64)
    return held


def _won(scores: Floats, queries: Ints, is_positive: Bools, drawn: Floats, lacks: Bools) -> Floats:
    """Return twice what the pairs win, and what those that each part lacks take part in.

    Args:
        scores, queries, is_positive: shape (n_pairs,), by falling score.
        drawn: shape (n_queries, n_samples), how often each query was drawn.
        lacks: shape (n_parts, n_pairs).

    Returns:
        Shape (1 + n_parts, n_samples).
    """
    is_last = np.append(scores[1:] != scores[:-1], True)[: scores.size]
    pair, part = np.nonzero(lacks.T)
    starts = np.searchsorted(pair, np.arange(scores.size + 1))
    won = np.empty((1 + len(lacks), drawn.shape[1]))
    for first in range(0, drawn.shape[1], _AT_ONCE):
        block = np.ascontiguousarray(drawn[:, first : first + _AT_ONCE])
        won[:, first : first + _AT_ONCE] = _descend(
            (queries, is_positive, np.flatnonzero(is_last) + 1), block, (starts, part, len(lacks))
        )
    return won


@compiled
def _descend(pairs: Pairs, drawn: Floats, lacking: Lacking) -> Floats:
    """Walk down the sorted pairs, group of ties by group; see `_won`."""
    queries, is_positive, ends = pairs
    starts, parts, n_parts = lacking
    n = drawn.shape[1]
    won = np.zeros((1 + n_parts, n))
    above, below = np.zeros(n), np.zeros(n)  # positives above the group, negatives below it
    sums = np.zeros((3, n))
    for i in range(queries.size):
        if not is_positive[i]:
            _add(below, drawn[queries[i]], 1.0)
    begin = 0
    for end in ends:
        positive, negative = _of_group(pairs, begin, end, drawn, sums)
        if end - begin > 1 or not is_positive[begin]:
            _add(below, negative, -1.0)
            _add_won(won[0], negative, above, positive)
        for i in range(begin, end):
            for place in range(starts[i], starts[i + 1]):
                row = won[1 + parts[place]]
                if is_positive[i]:
                    _add_won(row, drawn[queries[i]], below, negative)
                else:
                    _add_won(row, drawn[queries[i]], above, positive)
        if end - begin > 1 or is_positive[begin]:
            _add(above, positive, 1.0)
        begin = end
    return won


@compiled
def _of_group(
    pairs: Pairs, begin: int, end: int, drawn: Floats, sums: Floats
) -> tuple[Floats, Floats]:
    """Return the drawn positives and negatives of one group: mostly one pair, which needs no sum.

    Args:
        sums: shape (3, n_samples): nothing, and room for two sums.
    """
    queries, is_positive, _ = pairs
    if end - begin == 1:
        one = drawn[queries[begin]]
        return (one, sums[0]) if is_positive[begin] else (sums[0], one)
    sums[1:] = 0.0
    for i in range(begin, end):
        _add(sums[1] if is_positive[i] else sums[2], drawn[queries[i]], 1.0)
    return sums[1], sums[2]


@compiled
def _places(n: int) -> Sequence[int | slice]:
    """Return every place in turn where the loop is compiled, and all of them at once in Python."""
    if IS_COMPILED:
        return range(n)
    return (slice(None),)


@compiled
def _add(total: Floats, row: Floats, sign: float) -> None:
    for s in _places(total.size):
        total[s] += sign * row[s]


@compiled
def _add_won(total: Floats, these: Floats, others: Floats, tied: Floats) -> None:
    """Add twice what these win over those beyond them, and half of it over those tied."""
    for s in _places(total.size):
        total[s] += these[s] * (2.0 * others[s] + tied[s])
