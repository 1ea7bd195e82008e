"""The order that judges share where k of n judge each pair; claims walk along it.

Pure: ids in, an order out. A claim takes some pairs that come next, and asks those of a query in
an order of the judge's own. Where judges are checked it takes some `BATCH` pairs of a few queries,
and lays them out with their controls as a whole queue is laid out (`annotation.order.visits`). So
queries stand here in chunks of a few dozen pairs, and chunks that share pairs to be mirrored near
each other.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotation.order.visits import AskedPairs, n_asked_again, swapped_pairs
from lookalike.core.arrays import Floats, Ints

BATCH = 120  # pairs claimed at once, about
LEAST = 48  # pairs of a batch, where there are as many; fewer are too few to ask one again
CHUNK = 24  # pairs of a query that stand together, at least, where it has as many
MORE = 2 * CHUNK  # pairs to look at beyond a batch: there a query ends, unless pairs were added


def shared_order(pairs: AskedPairs, rng: np.random.Generator, *, mirror_percent: int = 0) -> Ints:
    """Return an order of the pairs: by phases, in each by chunks of a query, shuffled.

    A query with many pairs comes several times, at even distances. Where pairs are mirrored, a
    chunk is followed by those of its candidates until there are enough pairs to be mirrored.

    Args:
        pairs: what the campaign asks.
        rng: source of the order.
        mirror_percent: how many of the pairs are to be asked the other way round, too.

    Returns:
        Shape (n_pairs,), a permutation of 0..n_pairs-1.
    """
    n_pairs = pairs.question_ids.size
    queries, query_of = np.unique(pairs.query_ids, return_inverse=True)
    _, block, sizes = np.unique(
        pairs.phases * max(1, queries.size) + query_of, return_inverse=True, return_counts=True
    )
    n_chunks = np.maximum(1, sizes // CHUNK)
    inside = np.empty(n_pairs, np.int64)
    shuffled = np.lexsort((rng.random(n_pairs), block))
    inside[shuffled] = np.arange(n_pairs) - (np.cumsum(sizes) - sizes)[block[shuffled]]
    first_chunk = np.cumsum(n_chunks) - n_chunks
    chunk = first_chunk[block] + inside * n_chunks[block] // sizes[block]
    # evenly spread over the phase, whatever the number of chunks
    number = np.arange(int(n_chunks.sum())) - np.repeat(first_chunk, n_chunks)
    keys = (number + rng.random(number.size)) / np.repeat(n_chunks, n_chunks)
    rank = keys
    if mirror_percent:
        free, swapped = swapped_pairs(queries, query_of, pairs.candidate_ids)
        links = _links(chunk, query_of, pairs.phases, free, swapped)
        rank = _linked(keys, np.bincount(chunk), links, mirror_percent / 100)
    order: Ints = np.lexsort((inside, rank[chunk], pairs.phases))
    return order


def whole_queries(query_ids: Sequence[int], size: int) -> int:
    """Return how many of the first pairs make a batch of whole queries, of about `size`.

    At most `size`, unless that would be fewer than `LEAST`.

    Args:
        query_ids: the queries of the pairs that come next, `MORE` than `size` where there are.
        size: how many to take.
    """
    n = len(query_ids)
    borders = [at for at in range(LEAST, n) if query_ids[at] != query_ids[at - 1]]
    borders += [n] if n < size + MORE else []
    fitting = [at for at in borders if at <= size]
    return max(fitting) if fitting else min(borders, default=size)


def own_order(query_ids: Sequence[int], rng: np.random.Generator) -> Ints:
    """Return in which order a judge is asked pairs that are lent to others, too.

    The pairs of a query are shuffled where they stand together, so that judges of the same pairs
    neither see them after the same ones nor answer them at the same moment.

    Args:
        query_ids: the queries of the pairs, in the shared order.
        rng: source of the order, a judge's own.

    Returns:
        Shape (n_pairs,), a permutation of 0..n_pairs-1.
    """
    queries = np.asarray(query_ids)
    block = np.cumsum(np.diff(queries, prepend=queries[:1]) != 0)
    order: Ints = np.lexsort((rng.random(queries.size), block))
    return order


class Controls(NamedTuple):
    """Controls of each kind: how many, or what share in percent of the pairs."""

    repeats: float
    mirrors: float
    gold: float


def n_due_again(
    percents: Controls, n_asked: Controls, *, n_pairs: int, n_claimed: int, n_gold: int
) -> tuple[int, int]:
    """Return how many pairs of a batch are to be repeated, and how many mirrored.

    Each batch has its part of all controls together, or its length would tell how many it has.
    So repeats, where there are any, make up at once for gold that a batch has too much or too
    little of, and for pairs that it has no room to mirror; later batches do not.

    Args:
        percents: of the pairs that a judge is lent.
        n_asked: before this batch.
        n_pairs: that the judge has been lent, with this batch.
        n_claimed: the pairs of this batch.
        n_gold: its gold.
    """
    if n_claimed < LEAST:
        return 0, 0
    mirrored = _n_due(percents.mirrors, n_asked.mirrors, n_pairs, n_claimed)
    if not percents.repeats:
        return 0, mirrored
    both = max(0, _n_due(sum(percents), sum(n_asked), n_pairs, n_claimed) - n_gold)
    return max(0, both - mirrored), min(mirrored, both)


def _n_due(percent: float, n_asked: float, n_pairs: int, n_claimed: int) -> int:
    most = math.ceil(n_claimed * percent / 100)
    return int(max(0, min(n_asked_again(n_pairs, percent) - n_asked, most)))


def _links(
    chunk: Ints, query_of: Ints, phases: Ints, pairs: Ints, swapped: Ints
) -> dict[int, Counter[int]]:
    """Return how many pairs two chunks of one phase share that can be mirrored, both ways."""
    chunks_of: dict[tuple[int, int], set[int]] = {}
    for key, one in zip(
        zip(query_of.tolist(), phases.tolist(), strict=True), chunk.tolist(), strict=True
    ):
        chunks_of.setdefault(key, set()).add(one)
    links: dict[int, Counter[int]] = {}
    for here, query, phase in zip(
        chunk[pairs].tolist(), swapped.tolist(), phases[pairs].tolist(), strict=True
    ):
        for there in chunks_of.get((query, phase), ()):
            links.setdefault(here, Counter())[there] += 1
            links.setdefault(there, Counter())[here] += 1
    return links


def _linked(keys: Floats, sizes: Ints, links: dict[int, Counter[int]], share: float) -> Floats:
    """Return the place of each chunk: by its key, but for those that the last chunks call for."""
    by_key = iter(np.argsort(keys).tolist())
    is_placed = [False] * keys.size
    near: deque[int] = deque()  # the last chunks, some BATCH pairs, and what they have
    n_pairs = n_shared = 0
    called: Counter[int] = Counter()  # how many pairs they share with others
    places = np.empty(keys.size)
    for place in range(keys.size):
        waiting: list[int] = []
        if n_shared < share * n_pairs:
            waiting = [one for one in called if not is_placed[one]]
        if waiting:
            chosen = max(waiting, key=called.__getitem__)
        else:
            chosen = next(one for one in by_key if not is_placed[one])
        is_placed[chosen] = True
        places[chosen] = place
        n_pairs += int(sizes[chosen])
        n_shared += called[chosen]
        near.append(chosen)
        called.update(links.get(chosen, {}))
        while len(near) > 1 and n_pairs > BATCH:
            gone = near.popleft()
            n_pairs -= int(sizes[gone])
            called -= links.get(gone, Counter())  # drops what is none any more
            n_shared -= called[gone]
    return places
