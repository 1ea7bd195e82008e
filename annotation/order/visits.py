"""The order of a campaign that checks its judges, in which the place of a control tells nothing.

Pure: ids in, an order out. Each query is asked in two visits, far apart, and a pair that is asked
again once in each of them. Which of the two is the control is drawn, so that neither visit holds
more controls than the other; gold and mirrored pairs stand anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Floats, Ints

ROUND = 24  # queries, about: all their first visits come, then all their second ones
ROUND_PAIRS = 144  # that these have, at least
AS_IT_IS, REPEATED, MIRRORED = range(3)


@dataclass(frozen=True)
class AskedPairs:
    """The pairs of a campaign, shape (n_pairs,) each.

    Attributes:
        question_ids: any integers.
        query_ids, candidate_ids: the images of each pair.
        phases: lower ones come first; all the same in a campaign that is only shuffled.
        strata: 1 where the candidate is the query of another pair, too, else 0; by default as
            `candidate_ids` tell.
    """

    question_ids: Ints
    query_ids: Ints
    candidate_ids: Ints
    phases: Ints
    strata: Ints | None = None


@dataclass(frozen=True)
class JudgeOrder:
    """What one judge is asked, in order.

    Attributes:
        question_ids: shape (n,); of a control that asks a pair again, the pair's.
        ways: shape (n,), each AS_IT_IS, REPEATED or MIRRORED.
    """

    question_ids: Ints
    ways: Ints


class _Phases:
    """In which phase each pair is asked; the places of a query's pairs follow their phases.

    Attributes:
        of_pair: shape (n_pairs,), from 0.
        sizes: shape (n_queries,), the pairs of each query.
    """

    def __init__(self, query_of: Ints, phases: Ints, n_queries: int) -> None:
        _, self.of_pair = np.unique(phases, return_inverse=True)
        self.sizes = np.bincount(query_of, minlength=n_queries)
        self._query_of = query_of
        self._starts = np.cumsum(self.sizes) - self.sizes
        self._n = int(self.of_pair.max(initial=0)) + 1
        self._codes = query_of * self._n + self.of_pair
        self._sorted = np.append(np.sort(self._codes), 0)

    def ends(self, pairs: Ints, phases: Ints) -> tuple[Ints, Ints]:
        """Return between which places of each pair's query those of a phase are."""
        codes = self._query_of[pairs] * self._n + phases
        begin, end = np.searchsorted(self._sorted[:-1], [codes, codes + 1])
        starts = self._starts[self._query_of[pairs]]
        return begin - starts, end - starts

    def at(self, queries: Ints, places: Floats | Ints) -> Ints:
        """Return the phase at a place of each query, from 0 to its size; any if it has no pair."""
        phases: Ints = self._sorted[self._starts[queries] + places.astype(np.int64)] % self._n
        return phases

    def mixed(self, shown: Ints, repeated: Ints, rng: np.random.Generator) -> Ints:
        """Return the phase of everything asked: pairs, controls, and `repeated` pairs at the end.

        A phase gets its part of a query by size, controls included, so that its length does not
        tell how many they are; a pair at the edge may come a phase early or late for it. The
        second time of a pair is in another phase than the first, where there is another.
        """
        n_pairs = self.of_pair.size
        begin, end = self.ends(np.arange(n_pairs), self.of_pair)
        places = rng.random(shown.size) * self.sizes[shown]
        places[:n_pairs] = begin + rng.random(n_pairs) * (end - begin)
        sizes, first = self.sizes[shown[:n_pairs]][repeated], shown.size - repeated.size
        beyond = rng.random(repeated.size) * (sizes - (end - begin)[repeated])
        places[first:] = (end[repeated] + beyond) % sizes
        rank = np.empty(shown.size, np.int64)
        rank[np.lexsort((places, shown))] = np.arange(shown.size)
        n_shown = np.bincount(shown, minlength=self.sizes.size)
        rank -= (np.cumsum(n_shown) - n_shown)[shown]
        phases = self.at(shown, (rank + 0.5) * self.sizes[shown] / n_shown[shown])
        is_same = phases[first:] == phases[repeated]
        _, behind = self.ends(repeated, phases[repeated])
        others = self.at(shown[first:], behind % sizes)
        phases[first:][is_same] = others[is_same]
        return phases


def n_asked_again(n_pairs: int, percent: float) -> int:
    """Return how many pairs a share in percent is: at least one, where it is not none."""
    return max(1, round(n_pairs * percent / 100)) if percent and n_pairs else 0


def judge_order(
    pairs: AskedPairs,
    gold: Ints,
    rng: np.random.Generator,
    *,
    n_repeats: int = 0,
    n_mirrors: int = 0,
    makes_up: bool = False,
) -> JudgeOrder:
    """Return one judge's whole queue: every pair and gold once, and some pairs again.

    Each query has one visit (of each phase), or two where pairs are asked again. Repeats are
    spread over the queries so that all have about the same share of controls. A pair is mirrored
    only where its candidate is a query of the campaign, too, and the campaign does not ask the
    swapped pair anyway. Gold of a query without pairs is a visit of its own.

    A judge sees which candidates are queries, too. So pairs with such a candidate have the same
    share of repeats and mirrored pairs together as all others: where they would have more, fewer
    are mirrored.

    Args:
        pairs: what the campaign asks.
        gold: shape (n_gold, 2), question and query of each pair with a known answer.
        rng: source of the order.
        n_repeats: how many pairs to ask twice; fewer where too few queries have two pairs.
        n_mirrors: how many to ask the other way round, too; fewer where few can be, or where
            repeats keep the shares equal.
        makes_up: ask as many pairs twice instead of those that cannot be mirrored.
    """
    n_pairs = pairs.question_ids.size
    queries, query_of = np.unique(np.append(pairs.query_ids, gold[:, 1]), return_inverse=True)
    own, of_gold = query_of[:n_pairs], query_of[n_pairs:]
    phases = _Phases(own, pairs.phases, queries.size)
    sizes, n_controls = phases.sizes, np.bincount(of_gold, minlength=queries.size)
    free, swapped = swapped_pairs(queries, own, pairs.candidate_ids)
    strata = pairs.strata
    if strata is None:
        strata = np.isin(pairs.candidate_ids, pairs.query_ids).astype(np.int64)
    if n_repeats and n_pairs:
        most = _most_mirrored(float(strata.mean()), n_repeats, n_mirrors, makes_up=makes_up)
        n_repeats += max(0, n_mirrors - most) if makes_up else 0
        n_mirrors = min(n_mirrors, most)
    chosen = _drawn_evenly(sizes[own[free]], sizes[swapped], n_mirrors, rng)
    mirrored, of_mirror = free[chosen], swapped[chosen]
    n_controls += np.bincount(of_mirror, minlength=queries.size)
    if makes_up:
        n_repeats += n_mirrors - mirrored.size
    repeated = _repeated(own, strata, n_controls, n_repeats, mirrored.size, rng=rng)

    asked = np.concatenate([np.arange(query_of.size), mirrored, repeated])
    ways = np.full(asked.size, AS_IT_IS)
    twins = np.arange(asked.size)[asked.size - repeated.size :]
    ways[query_of.size :] = MIRRORED
    ways[twins] = REPEATED
    shown = np.concatenate([query_of, of_mirror, own[repeated]])
    phase_of = phases.mixed(shown, repeated, rng)
    halves = np.zeros(asked.size, np.int64)
    if n_repeats + n_mirrors:
        keys = rng.random(asked.size)
        keys[twins] = keys[repeated]  # side by side, so that they come into different halves
        halves = _halves(shown, phase_of, keys, rng)
    _swap_roles(ways, repeated, twins, (shown * 2 + halves) * 2**16 + phase_of, rng)
    order = _in_rounds(shown, phase_of, halves, rng)
    return JudgeOrder(np.append(pairs.question_ids, gold[:, 0])[asked[order]], ways[order])


def _most_mirrored(share: float, n_repeats: int, n_mirrors: int, *, makes_up: bool) -> int:
    """Return how many pairs may be mirrored, all of a stratum with a share of the pairs.

    More than the stratum's part of all repeats and mirrored pairs would make them uneven.
    """
    if makes_up:
        return round((n_repeats + n_mirrors) * share)
    return round(n_repeats * share / (1 - share)) if share < 1 else n_mirrors


def _drawn_evenly(sizes: Ints, shown_sizes: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Choose `n` pairs to mirror so that the sizes of both queries tell little.

    Mirrored, a pair's query is a candidate. How often a query is a candidate of other pairs does
    not depend on its size, so each query gets about as many, whatever its size. The query that is
    shown then takes more if it is large, and so does the pair itself, so half of that counts.

    Args:
        sizes: shape (n_pairs,), how many pairs the query of each has.
        shown_sizes: shape (n_pairs,), how many the query that is shown has.
        n: how many; fewer where there are fewer.
        rng: source of the draw.
    """
    keys = rng.exponential(size=sizes.size) * sizes / np.sqrt(shown_sizes)  # smallest first
    chosen: Ints = np.argsort(keys)[:n]
    return chosen


def _repeated(
    own: Ints, strata: Ints, n_controls: Ints, n: int, n_mirrored: int, *, rng: np.random.Generator
) -> Ints:
    """Choose `n` pairs to ask twice, so that repeats and mirrored pairs are even over the strata.

    Args:
        own: shape (n_pairs,), the query of each pair.
        strata: shape (n_pairs,), 0 or 1; all that are mirrored are of stratum 1.
        n_controls: shape (n_queries,), the controls that each query has.
        n: how many to choose; fewer where too few queries have two pairs.
        n_mirrored: how many pairs are mirrored.
        rng: source of the choice.
    """
    sizes = np.bincount(own, minlength=n_controls.size)
    due = (n + n_mirrored) * strata.mean() - n_mirrored if strata.size else 0.0
    n_second = int(np.clip(np.floor(due + rng.random()), 0, n))
    chosen = np.zeros(0, np.int64)
    is_free = sizes[own] > 1
    # the third turn: a stratum is too small, and the other one has room
    for stratum, n_due in (((1,), n_second), ((0,), n - n_second), ((0, 1), n)):
        n_wanted = min(n_due, n - chosen.size)
        if not n_wanted:
            continue
        places = np.flatnonzero(is_free & np.isin(strata, stratum))
        room = np.bincount(own[places], minlength=sizes.size)
        here = np.bincount(own[np.isin(strata, stratum)], minlength=sizes.size)
        others = n_controls * here / np.maximum(sizes, 1)
        counts = _shares(here, room, others, n_wanted, rng)
        more = places[_sampled(own[places], counts, rng)]
        n_controls = n_controls + counts
        is_free[more] = False
        chosen = np.append(chosen, more)
    return chosen


def _halves(query_of: Ints, phases: Ints, keys: Floats, rng: np.random.Generator) -> Ints:
    """Return in which half of a round, 0 or 1, each pair is asked.

    By turns in the order of `keys`, where all pairs of a query are of one phase; elsewhere its
    pairs of a phase are asked together, in any half.
    """
    _, block = np.unique(query_of * (int(phases.max(initial=0)) + 1) + phases, return_inverse=True)
    n_queries, n_blocks = int(query_of.max(initial=-1)) + 1, int(block.max(initial=-1)) + 1
    query_of_block = np.zeros(n_blocks, np.int64)
    query_of_block[block] = query_of
    is_whole = np.bincount(query_of_block, minlength=n_queries)[query_of] == 1
    turns = np.empty(query_of.size, np.int64)
    turns[np.lexsort((keys, query_of))] = np.arange(query_of.size)
    halves: Ints = (rng.integers(2, size=n_blocks)[block] + is_whole * turns) % 2
    return halves


def _in_rounds(query_of: Ints, phases: Ints, halves: Ints, rng: np.random.Generator) -> Ints:
    """Return an order by phases, in each by rounds, in each by halves, in each by queries."""
    n_queries = int(query_of.max(initial=0)) + 1
    rank = rng.permutation(n_queries)[query_of]
    n_rounds = max(1, min(n_queries // ROUND, query_of.size // ROUND_PAIRS))
    rounds = rank * n_rounds // n_queries
    order: Ints = np.lexsort((rng.random(query_of.size), rank, halves, rounds, phases))
    return order


def swapped_pairs(queries: Ints, own: Ints, candidate_ids: Ints) -> tuple[Ints, Ints]:
    """Return the pairs that can be asked the other way round, and the query of each then.

    Args:
        queries: shape (n_queries,), ascending ids.
        own: shape (n_pairs,), index into `queries` of each pair's.
        candidate_ids: shape (n_pairs,).
    """
    swapped = np.searchsorted(queries, candidate_ids).clip(max=max(queries.size - 1, 0))
    is_query = (queries[swapped] == candidate_ids) & np.isin(swapped, own)
    codes = own * queries.size + swapped
    is_asked = np.isin(swapped * queries.size + own, codes[is_query])
    pairs = np.flatnonzero(is_query & ~is_asked)
    return pairs, swapped[pairs]


def _sampled(groups: Ints, counts: Ints, rng: np.random.Generator) -> Ints:
    """Choose `counts[g]` of the places at which `groups` is g, at random."""
    order = np.lexsort((rng.random(groups.size), groups))
    sizes = np.bincount(groups, minlength=counts.size)
    inside = np.arange(groups.size) - (np.cumsum(sizes) - sizes)[groups[order]]
    chosen: Ints = order[inside < counts[groups[order]]]
    return chosen


def _shares(
    sizes: Ints, room: Ints, others: Ints | Floats, n: int, rng: np.random.Generator
) -> Ints:
    """Share `n` controls out, so that with those it has each query gets its due by size.

    A judge can count the pairs of a query, controls included. A query of s pairs whose due is less
    than one control comes as s or s + 1; for an even share of what is counted the due goes by
    s + 1. Of the controls that a query has, half count: if all did, small queries, many of which
    have more than their due with one, would have more in all; if none did, large ones.

    The level of the dues is found by bisection; what is no whole number is rounded by one random
    start, every so many places.

    Args:
        sizes: shape (n_queries,), the pairs of each.
        room: shape (n_queries,), how many controls each can take.
        others: shape (n_queries,), how many it has.
        n: how many to share out; fewer where there is no room.
        rng: source of the start, and of the order of the queries.
    """
    n = min(n, int(room.sum()))
    low, high = 0.0, 1.0 + float((room + others).max(initial=0))
    for _ in range(50):
        level = (low + high) / 2
        if np.clip(level * (sizes + 1) - others / 2, 0, room).sum() < n:
            low = level
        else:
            high = level
    order = rng.permutation(room.size)
    shares = np.clip(high * (sizes + 1) - others / 2, 0, room)[order]
    counts = np.zeros(room.size, np.int64)
    counts[order] = np.diff(np.floor(np.cumsum(shares) + rng.random()), prepend=0)
    return counts


def _swap_roles(
    ways: Ints, pairs: Ints, twins: Ints, visits: Ints, rng: np.random.Generator
) -> None:
    """Draw for each pair and its twin which is the control; the longer visit has more of them.

    Of those in two phases the twin is: a pair that is asked phases before others of its visit, or
    after them, would be settled, where pairs close early, before they are, or after.
    """
    _, visit, width = np.unique(visits, return_inverse=True, return_counts=True)
    here, there = width[visit[pairs]], width[visit[twins]]
    is_swapped = rng.random(pairs.size) < here / (here + there)
    is_swapped &= visits[pairs] % 2**16 == visits[twins] % 2**16
    ways[pairs[is_swapped]], ways[twins[is_swapped]] = REPEATED, AS_IT_IS
