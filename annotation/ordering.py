"""In which order a judge sees the questions: shuffled, seeded, a query's pairs near each other.

Pure: ids in, positions out. Assessors' thresholds drift with what they have just seen (Scholer
et al., SIGIR 2013), so every judge has an order of their own, and it says nothing about ranks.
A campaign may be asked in phases; then it says which phase a pair is of, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints

GAP = 20  # answers between a pair and its silent repeat, where the queue is long enough
ROUND = 24  # queries at least that are visited in turn, so that two visits are far apart
OPENING = (1, 3)  # pairs of a query's first two visits: a first visit cannot hold a repeat
WIDTHS = (6, 14)  # pairs of each further visit
AS_IT_IS, REPEATED, MIRRORED = range(3)


@dataclass(frozen=True)
class JudgeOrder:
    """What one judge is asked, in order.

    Attributes:
        question_ids: shape (n,); of a pair that is asked again, the pair's.
        ways: shape (n,), each AS_IT_IS, REPEATED or MIRRORED.
    """

    question_ids: Ints
    ways: Ints


@dataclass(frozen=True)
class _Layout:
    """Where the blocks of a queue come: a block is what one phase asks of one query.

    Attributes:
        rounds: shape (n_blocks,), the round in which each block is asked.
        is_first: shape (n_blocks,), whether no earlier phase asks the query.
    """

    rounds: Ints
    is_first: NDArray[np.bool_]


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


def visiting_order(
    query_ids: Ints, candidate_ids: Ints, phases: Ints, rng: np.random.Generator
) -> Ints:
    """Return an order of the pairs in which queries are visited in turn, several times each.

    Args:
        query_ids, candidate_ids: shape (n_pairs,), the images of each pair.
        phases: shape (n_pairs,), any integers; lower ones come first.
        rng: source of the order.

    Returns:
        Shape (n_pairs,), a permutation of 0..n_pairs-1.
    """
    pairs, no_gold = np.arange(query_ids.size), np.zeros((0, 2), np.int64)
    return judge_order(pairs, query_ids, candidate_ids, phases, no_gold, rng).question_ids


def judge_order(  # noqa: PLR0917  (what is asked, column by column)
    question_ids: Ints,
    query_ids: Ints,
    candidate_ids: Ints,
    phases: Ints,
    gold: Ints,
    rng: np.random.Generator,
    *,
    n_repeats: int = 0,
    n_mirrors: int = 0,
) -> JudgeOrder:
    """Return one judge's whole queue, in which the place of a control tells nothing.

    Queries are taken in rounds. In a round each is visited in turn: first with one pair, then
    with three, then with six to fourteen, until nothing is left. The widths are drawn for pairs
    and controls together, and which of a query's places is a control's is drawn afterwards, so
    controls stand anywhere: only a query's first visit holds no pair asked again, since none has
    been asked yet. Repeats are spread over the queries by size. A pair is mirrored only where
    its candidate is a query of the campaign, too; otherwise the swapped pair would tell itself.
    Which pairs are asked again is drawn for each judge, so judges cannot warn each other.

    Args:
        question_ids: shape (n_pairs,).
        query_ids, candidate_ids: shape (n_pairs,), the images of each pair.
        phases: shape (n_pairs,), all the same in a campaign that is only shuffled.
        gold: shape (n_gold, 2), question and query of each pair with a known answer.
        rng: source of the order.
        n_repeats: how many pairs to ask twice; fewer where there is no room.
        n_mirrors: how many to ask the other way round; fewer where few can be.
    """
    if not question_ids.size + len(gold):
        return JudgeOrder(question_ids, question_ids)
    queries, query_of = np.unique(np.append(query_ids, gold[:, 1]), return_inverse=True)
    n_pairs, n_gold = query_ids.size, len(gold)
    _, phase_of_pair = np.unique(phases, return_inverse=True)
    n_phases = int(phase_of_pair.max(initial=0)) + 1
    phase_of = np.append(phase_of_pair, _gold_phases(query_of, phase_of_pair, n_phases, rng))
    blocks, block_of = np.unique(phase_of * queries.size + query_of, return_inverse=True)
    layout = _laid_out(blocks // queries.size, blocks % queries.size, rng)
    sizes = np.bincount(block_of, minlength=blocks.size)
    room = sizes - layout.is_first
    by_candidate, targets = _sampled_mirrors(
        query_of[:n_pairs], candidate_ids, queries, block_of[:n_pairs],
        blocks % queries.size, layout.rounds, _spread(room, n_mirrors, rng), n_mirrors, rng,
    )  # fmt: skip
    mirrors = np.bincount(targets, minlength=blocks.size)
    others = mirrors + np.bincount(block_of[n_pairs:], minlength=blocks.size)
    repeats = _filled_up(_spread(room, n_repeats + int(others.sum()), rng), others, n_repeats, rng)
    slots, turns = _slots(sizes + repeats + mirrors, layout.rounds, rng)

    # a first visit holds no repeat, so gold makes up for it where there is enough
    has_gold = np.bincount(block_of[n_pairs:], minlength=blocks.size)[layout.is_first] > 0
    share = (n_gold + repeats.sum() + mirrors.sum()) / max(slots.size, 1)
    opens_with_gold = share / max(has_gold.mean(), 1e-9)
    asked = np.full(slots.size, -1)
    ways = np.full(slots.size, AS_IT_IS)
    members = np.split(np.argsort(block_of, kind="stable"), np.cumsum(sizes)[:-1])
    places = np.split(np.argsort(slots, kind="stable"), np.cumsum(sizes + repeats + mirrors)[:-1])
    for block, (own, at) in enumerate(zip(members, places, strict=True)):
        later = at[turns[at] > 0] if layout.is_first[block] else at
        again = rng.permutation(later)[: repeats[block] + mirrors[block]]
        ways[again] = REPEATED
        ways[again[repeats[block] :]] = MIRRORED
        free = at[ways[at] == AS_IT_IS]
        mixed = rng.permutation(own)
        if layout.is_first[block]:
            mixed = _opened(mixed, mixed >= n_pairs, rng.random() < opens_with_gold)
        asked[free] = mixed
    place_of = np.full(n_pairs + n_gold, slots.size)
    is_pair = (ways == AS_IT_IS) & (asked >= 0)
    place_of[asked[is_pair]] = np.flatnonzero(is_pair)
    visit = np.cumsum(np.append(True, slots[1:] != slots[:-1])[: slots.size])
    by_query = _positions(query_of[:n_pairs], queries.size)
    used: set[tuple[int, int]] = set()
    for slot in np.flatnonzero(ways != AS_IT_IS).tolist():
        by_shown = by_query if ways[slot] == REPEATED else by_candidate
        pool = by_shown[int(blocks[slots[slot]] % queries.size)]
        fresh = [pair for pair in pool.tolist() if (int(ways[slot]), pair) not in used]
        found = _earlier(np.array(fresh, np.int64), slot, place_of, visit, rng)
        if found is not None:
            asked[slot] = found
            used.add((int(ways[slot]), found))
    kept = asked >= 0
    ids = np.append(question_ids, gold[:, 0])
    return JudgeOrder(ids[asked[kept]], ways[kept])


def _gold_phases(
    query_of: Ints, phase_of_pair: Ints, n_phases: int, rng: np.random.Generator
) -> Ints:
    """Return a phase for each gold pair: that of a random pair of its query, or any."""
    by_query = _positions(query_of[: phase_of_pair.size], int(query_of.max(initial=-1)) + 1)
    phases = [
        phase_of_pair[rng.choice(by_query[query])] if by_query[query].size else
        rng.integers(n_phases)
        for query in query_of[phase_of_pair.size :].tolist()
    ]  # fmt: skip
    return np.array(phases, np.int64)


def _laid_out(phases: Ints, queries: Ints, rng: np.random.Generator) -> _Layout:
    """Deal blocks into rounds at random, phase by phase."""
    rounds = np.zeros(phases.size, np.int64)
    n_rounds = 0
    for phase in np.unique(phases):
        own = rng.permutation(np.flatnonzero(phases == phase))
        for part in np.array_split(own, max(1, own.size // ROUND)):
            rounds[part] = n_rounds
            n_rounds += 1
    _, first = np.unique(queries, return_index=True)  # blocks come by phase
    is_first = np.zeros(phases.size, bool)
    is_first[first] = True
    return _Layout(rounds, is_first)


def _opened(own: Ints, is_gold: NDArray[np.bool_], with_gold: bool) -> Ints:
    """Put a gold pair first, or a pair of the pool; the rest keeps its order."""
    first = np.flatnonzero(is_gold == with_gold)[:1]
    return np.concatenate([own[first], np.delete(own, first)])


def _spread(room: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Share n out by room, evenly: one draw, then every so many places; at most all of each."""
    order = rng.permutation(room.size)
    total = int(room.sum())
    if not total or not n:
        return np.zeros_like(room)
    edges = np.floor(np.cumsum(room[order]) * min(n, total) / total + rng.random()).astype(int)
    shares = np.zeros_like(room)
    shares[order] = np.diff(edges, prepend=0)
    return np.minimum(shares, room)


def _filled_up(shares: Ints, others: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return n repeats in all, so that each block has its share of controls as far as they go."""
    repeats = np.maximum(shares - others, 0)
    of_block = rng.permutation(np.repeat(np.arange(repeats.size), repeats))
    return np.bincount(of_block[:n], minlength=repeats.size)


def _sampled_mirrors(  # noqa: PLR0917
    query_of: Ints,
    candidate_ids: Ints,
    queries: Ints,
    block_of: Ints,
    query_of_block: Ints,
    rounds: Ints,
    shares: Ints,
    n: int,
    rng: np.random.Generator,
) -> tuple[list[Ints], Ints]:
    """Return the pairs that can be swapped by candidate, and the blocks of n that will be.

    Each block has its share, as far as they go.
    """
    at = np.minimum(np.searchsorted(queries, candidate_ids), max(queries.size - 1, 0))
    can = np.flatnonzero(queries[at] == candidate_ids) if n else np.zeros(0, int)
    asked = query_of * queries.size + at
    can = can[~np.isin(at[can] * queries.size + query_of[can], asked)]  # asked both ways anyway
    by_candidate = [can[places] for places in _positions(at[can], queries.size)]
    blocks_of = _positions(query_of_block, queries.size)
    target = np.array([rng.choice(blocks_of[query]) for query in at[can].tolist()], np.int64)
    is_later = rounds[target] >= rounds[block_of[can]]
    target = rng.permutation(target[is_later])
    excess = np.maximum(_ranks(target) - shares[target], -1)
    return by_candidate, target[np.argsort(excess, kind="stable")[:n]]


def _ranks(values: Ints) -> Ints:
    """Return how often each value has come before."""
    order = np.argsort(values, kind="stable")
    starts = np.append(True, values[order][1:] != values[order][:-1])[: values.size]
    ranks = np.zeros(values.size, np.int64)
    begin = np.flatnonzero(starts)
    ranks[order] = np.arange(values.size) - begin[np.cumsum(starts) - 1]
    return ranks


def _slots(sizes: Ints, rounds: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the block and the turn of each place of the queue."""
    blocks, widths, turns = [], [], []
    for number in range(int(rounds.max(initial=-1)) + 1):
        visited = {int(b): _widths(int(sizes[b]), rng) for b in np.flatnonzero(rounds == number)}
        order = rng.permutation(list(visited)).tolist()
        for turn in range(max(map(len, visited.values()))):
            for block in order:
                if turn < len(visited[block]):
                    blocks.append(block)
                    widths.append(visited[block][turn])
                    turns.append(turn)
    return np.repeat(np.array(blocks, int), widths), np.repeat(np.array(turns, int), widths)


def _widths(size: int, rng: np.random.Generator) -> list[int]:
    """Cut a block into visits; what would be left alone at the end joins the last of them."""
    widths: list[int] = []
    while size:
        drawn = int(rng.integers(WIDTHS[0], WIDTHS[1] + 1))
        width = OPENING[len(widths)] if len(widths) < len(OPENING) else drawn
        left = size - min(width, size)
        is_last = len(widths) >= len(OPENING) and left < WIDTHS[0] // 2
        widths.append(size if is_last else size - left)
        size -= widths[-1]
    return widths


def _positions(values: Ints, n: int) -> list[Ints]:
    """Return the positions of each of 0..n-1 in `values`."""
    return np.split(np.argsort(values, kind="stable"), np.cumsum(np.bincount(values, minlength=n)))


def _earlier(
    pairs: Ints, slot: int, place_of: Ints, visit: Ints, rng: np.random.Generator
) -> int | None:
    """Draw one of some pairs that was asked long enough before a place, in another visit."""
    places = place_of[pairs]
    is_before = places < slot
    is_before[is_before] = visit[places[is_before]] < visit[slot]
    able = pairs[is_before & (places < slot - min(GAP, visit.size // 8))]
    return int(rng.choice(able)) if able.size else None


def n_asked_again(n_pairs: int, percent: int) -> int:
    """Return how many pairs are to be asked again: at least one, unless none is wanted."""
    return max(1, round(n_pairs * percent / 100)) if percent and n_pairs else 0


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
