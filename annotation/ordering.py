"""In which order a judge sees the questions: shuffled, seeded, one query at a time.

Pure: ids in, positions out. Assessors' thresholds drift with what they have just seen (Scholer
et al., SIGIR 2013), so every judge has an order of their own, and it says nothing about ranks.
A campaign may be asked in phases; then it says which phase a pair is of, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints

GAP = 20  # answers between a pair and its silent repeat, where the queue is long enough
REPEATS_OF_ONE_QUERY = 6


@dataclass(frozen=True)
class Controls:
    """Questions that check a judge, to be slipped in among the pairs.

    Attributes:
        question_ids: shape (n_controls,).
        query_ids: shape (n_controls,); controls of one query are shown together.
        original_ids: shape (n_controls,), the pair that a repeat or a mirrored pair belongs to;
            0 for gold, which belongs to none.
    """

    question_ids: Ints
    query_ids: Ints
    original_ids: Ints


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


def early_offsets(n_controls: int, n_pairs: int, rng: np.random.Generator) -> Ints:
    """Return after how many pairs each gold question comes: dense at first, then ever rarer.

    One draw in each of n equal strata of (0, 1), squared: half of the gold falls into the
    first quarter of the queue.

    Returns:
        Shape (n_controls,), ascending, in 0..n_pairs.
    """
    strata = (np.arange(n_controls) + rng.random(n_controls)) / max(n_controls, 1)
    offsets: Ints = np.floor(strata**2 * n_pairs).astype(np.int64)
    return offsets


def judge_order(
    question_ids: Ints,
    query_ids: Ints,
    phases: Ints,
    controls: Controls,
    rng: np.random.Generator,
) -> Ints:
    """Return one judge's whole queue: every pair and every control once.

    A control never stands inside another query's block. Repeats and mirrored pairs come at
    least `GAP` answers after their pair, or at the end where the queue is too short for that.

    Args:
        question_ids: shape (n_pairs,).
        query_ids: shape (n_pairs,), the query of each pair.
        phases: shape (n_pairs,), all the same in a campaign that is only shuffled.
        controls: what to slip in.
        rng: source of the order.

    Returns:
        Shape (n_pairs + n_controls,), question ids in the order in which they are asked.
    """
    order = shuffled_in_phases(query_ids, phases, rng)
    pairs = question_ids[order]
    if not controls.question_ids.size:
        return pairs
    queries = query_ids[order]
    is_end = np.append(queries[1:] != queries[:-1], True) if queries.size else np.zeros(0, bool)
    ends = np.append(0, np.flatnonzero(is_end) + 1)
    groups = _groups(controls, rng)
    place_of_pair = {int(question): place for place, question in enumerate(pairs)}
    offsets = _offsets(groups, controls, place_of_pair, rng)
    slots = ends[np.minimum(np.searchsorted(ends, offsets), ends.size - 1)]
    keys = np.concatenate([np.arange(pairs.size) + 1.0, *_group_keys(slots, groups)])
    members = [controls.question_ids[group] for group in groups]
    everything: Ints = np.concatenate([pairs, *members])[np.argsort(keys, kind="stable")]
    return everything


def _groups(controls: Controls, rng: np.random.Generator) -> list[Ints]:
    """Split the controls into what is shown together, gold apart from the rest; shuffled."""
    is_gold = controls.original_ids == 0
    groups: list[Ints] = []
    for chosen in (np.flatnonzero(is_gold), np.flatnonzero(~is_gold)):
        queries = controls.query_ids[chosen]
        shuffled = chosen[shuffled_by_query(queries, rng)]
        cuts = np.flatnonzero(np.diff(controls.query_ids[shuffled])) + 1
        groups += [group for group in np.split(shuffled, cuts) if group.size]
    return groups


def _offsets(
    groups: Sequence[Ints],
    controls: Controls,
    place_of_pair: dict[int, int],
    rng: np.random.Generator,
) -> Ints:
    """Return after how many pairs each group comes."""
    n_pairs = len(place_of_pair)
    is_gold = [bool(controls.original_ids[group[0]] == 0) for group in groups]
    gold = iter(early_offsets(sum(is_gold), n_pairs, rng))
    offsets = np.zeros(len(groups), dtype=np.int64)
    for index, group in enumerate(groups):
        if is_gold[index]:
            offsets[index] = next(gold)
            continue
        originals = [place_of_pair.get(int(o), n_pairs) for o in controls.original_ids[group]]
        first = min(max(originals) + 1 + GAP, n_pairs)
        offsets[index] = rng.integers(first, n_pairs + 1)
    return offsets


def _group_keys(slots: Ints, groups: Sequence[Ints]) -> list[NDArray[np.float64]]:
    """Return sort keys that put each group right after its slot, whole."""
    step = 0.5 / (len(groups) + 1)
    return [
        np.full(group.size, slot + 0.25 + step * index)
        for index, (slot, group) in enumerate(zip(slots, groups, strict=True))
    ]


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


def sampled_repeats(query_ids: Ints, percent: int, rng: np.random.Generator) -> Ints:
    """Choose the pairs to ask twice: a few candidates each of a few queries.

    Args:
        query_ids: shape (n_pairs,).
        percent: share of the pairs, 0..100; at least one pair is chosen when it is not 0.
        rng: source of the sample.

    Returns:
        Ascending indices of the chosen pairs.
    """
    wanted = _wanted(query_ids.size, percent)
    order = shuffled_by_query(query_ids, rng)
    queries = query_ids[order]
    starts = np.append(True, queries[1:] != queries[:-1])[: queries.size]
    block = np.cumsum(starts) - 1
    inside = np.arange(order.size) - np.flatnonzero(starts)[block] if order.size else order
    chosen: Ints = np.sort(order[inside < REPEATS_OF_ONE_QUERY][:wanted])
    return chosen


def sampled_mirrors(n_pairs: int, percent: int, rng: np.random.Generator) -> Ints:
    """Choose the pairs to ask again with query and candidate swapped; ascending indices."""
    chosen: Ints = np.sort(rng.choice(n_pairs, size=_wanted(n_pairs, percent), replace=False))
    return chosen


def _wanted(n_pairs: int, percent: int) -> int:
    if not percent or not n_pairs:
        return 0
    return max(1, round(n_pairs * percent / 100))
