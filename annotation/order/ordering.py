"""In which order a judge sees the questions: shuffled, seeded, a query's pairs near each other.

Pure: ids in, positions out. Assessors' thresholds drift with what they have just seen (Scholer
et al., SIGIR 2013), so every judge has an order of their own, and it says nothing about ranks.
A campaign may be asked in phases; then it says which phase a pair is of, and nothing else.
"""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Ints


def shuffled_by_query(query_ids: Ints, rng: np.random.Generator) -> Ints:
    """Return an order of the pairs with queries shuffled, and candidates shuffled inside them.

    Args:
        query_ids: shape (n_pairs,), any integers.
        rng: source of the order.

    Returns:
        Shape (n_pairs,), a permutation of 0..n_pairs-1 in which each query is contiguous.
    """
    return shuffled_in_phases(query_ids, np.zeros(query_ids.size, np.int64), rng)


def shuffled_in_phases(query_ids: Ints, phases: Ints, rng: np.random.Generator) -> Ints:
    """Return an order of the pairs by phase, each phase shuffled as if there were no other.

    With one phase the order is that of `shuffled_by_query`.

    Args:
        query_ids: shape (n_pairs,), any integers.
        phases: shape (n_pairs,), any integers; lower ones come first.
        rng: source of the order.

    Returns:
        Shape (n_pairs,), a permutation of 0..n_pairs-1 in which phases ascend and each query is
        contiguous inside each phase.
    """
    _, query_index = np.unique(query_ids, return_inverse=True)
    n_queries = int(query_index.max(initial=-1)) + 1
    _, block = np.unique(phases * n_queries + query_index, return_inverse=True)
    place_of_block = rng.permutation(int(block.max(initial=-1)) + 1)
    order: Ints = np.lexsort((rng.permutation(query_ids.size), place_of_block[block], phases))
    return order


def mixed_in(waiting: Ints, added: Ints, rng: np.random.Generator) -> Ints:
    """Return an order in which new pairs stand among those that wait, as if they had always been.

    What waits keeps its order. A new pair goes to a random place inside a run of its own query,
    longer runs being likelier; the new pairs of a query that waits nowhere stay together, in a
    block at a random border between queries.

    Args:
        waiting: shape (n_waiting,), the query of each question still to be asked, in order.
        added: shape (n_added,), the query of each new pair, in any order.
        rng: source of the places.

    Returns:
        Shape (n_waiting + n_added,), a permutation: i < n_waiting is what waits, the rest is
        what is new.
    """
    is_start = np.append(True, waiting[1:] != waiting[:-1])[: waiting.size]
    starts = np.flatnonzero(is_start)
    borders = np.append(starts, waiting.size) - 0.5
    keys = np.zeros(added.size)
    blocks = np.zeros(added.size, np.int64)
    for number, query in enumerate(np.unique(added), start=1):
        new = np.flatnonzero(added == query)
        places = np.flatnonzero(waiting == query)
        if places.size:
            keys[new] = rng.choice(places, new.size) + rng.uniform(-0.5, 0.5, new.size)
        else:
            keys[new] = rng.choice(borders)
            blocks[new] = number
    shuffled_blocks = np.append(0, rng.permutation(blocks.max(initial=0)) + 1)[blocks]
    order: Ints = np.lexsort(
        (
            np.concatenate([np.arange(waiting.size), rng.permutation(added.size)]),
            np.concatenate([np.zeros(waiting.size, np.int64), shuffled_blocks]),
            np.concatenate([np.arange(waiting.size, dtype=np.float64), keys]),
        )
    )
    return order
