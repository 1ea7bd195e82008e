"""The order of a campaign that asks pairs again: it tells no control, and keeps sheets whole."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.order.closing import chance_to_move, share_kept
from annotation.order.shared_order import Controls, n_due_again, shared_order, whole_queries
from annotation.order.visits import (
    AS_IT_IS,
    MIRRORED,
    REPEATED,
    AskedPairs,
    judge_order,
    n_asked_again,
)
from tests.simulations import simulation_module

NO_GOLD = np.zeros((0, 2), np.int64)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def runs(values: np.ndarray) -> int:
    return int((np.diff(values) != 0).sum()) + 1 if values.size else 0


def drawn(seed: int, *, n_phases: int = 1, n_repeats: int = 40, n_mirrors: int = 20):
    """600 pairs of 60 queries, candidates among the queries, 30 gold; and one judge's order."""
    question_ids = np.arange(1, 601)
    query_ids = np.repeat(np.arange(60), 10)
    candidate_ids = (query_ids + 1 + 3 * (np.tile(np.arange(10), 60))) % 90
    pairs = AskedPairs(question_ids, query_ids, candidate_ids, question_ids % n_phases)
    gold = np.stack([np.arange(1001, 1031), np.arange(30)], axis=1)
    return pairs, judge_order(pairs, gold, rng(seed), n_repeats=n_repeats, n_mirrors=n_mirrors)


def shown_queries(pairs, order):
    """The query that each place of an order without gold shows."""
    index = order.question_ids - 1
    return np.where(order.ways == MIRRORED, pairs.candidate_ids[index], pairs.query_ids[index])


@pytest.mark.parametrize("n_phases", [1, 3])
def test_every_pair_and_gold_comes_once_and_as_many_again_as_are_asked_for(n_phases):
    pairs, order = drawn(1, n_phases=n_phases)
    plain = order.question_ids[order.ways == AS_IT_IS]
    assert sorted(plain) == [*range(1, 601), *range(1001, 1031)]
    repeated, mirrored = (order.question_ids[order.ways == way] for way in (REPEATED, MIRRORED))
    assert repeated.size == np.unique(repeated).size == 40
    assert mirrored.size == np.unique(mirrored).size == 20
    asked = set(zip(pairs.query_ids.tolist(), pairs.candidate_ids.tolist(), strict=True))
    for query, candidate in zip(
        pairs.query_ids[mirrored - 1], pairs.candidate_ids[mirrored - 1], strict=True
    ):
        assert candidate < 60
        assert (candidate, query) not in asked


def test_a_query_is_asked_in_two_visits_of_about_equal_size_far_apart():
    pairs = AskedPairs(
        np.arange(1, 1001), np.repeat(np.arange(50), 20), np.arange(5000, 6000), np.zeros(1000, int)
    )
    order = judge_order(pairs, NO_GOLD, rng(3), n_repeats=50)
    queries = shown_queries(pairs, order)
    assert runs(queries) == 100
    for query in range(50):
        at = np.flatnonzero(queries == query)
        [border] = np.flatnonzero(np.diff(at) > 1)
        assert abs(2 * (border + 1) - at.size) <= 1  # what a sheet shows is half of the query
        assert at[border + 1] - at[border] > 150
    place = {way: {q: i for i, (q, w) in enumerate(
        zip(order.question_ids, order.ways, strict=True)) if w == way}
        for way in (AS_IT_IS, REPEATED)}  # fmt: skip
    gaps = [at - place[AS_IT_IS][pair] for pair, at in place[REPEATED].items()]
    assert np.abs(gaps).min() > 150
    assert 10 < sum(gap > 0 for gap in gaps) < 40  # either may be the control
    per_query = np.bincount(queries)
    assert per_query.min() == per_query.max() == 21


def test_of_a_pair_asked_in_two_phases_the_one_in_its_own_is_the_vote():
    """Others are asked it then: in another phase it would close long before those beside it."""
    pairs, order = drawn(4, n_phases=3, n_mirrors=0)
    again = np.isin(order.question_ids, order.question_ids[order.ways == REPEATED])
    third = np.arange(order.question_ids.size) * 3 // order.question_ids.size
    is_home = third == order.question_ids % 3
    is_vote = order.ways == AS_IT_IS
    assert is_home[again & is_vote].mean() > 0.9  # phases are not of equal size to the last pair
    assert is_home[again & ~is_vote].mean() < 0.1
    assert (
        8
        < (third[again & ~is_vote] > pairs.phases[order.question_ids[again & ~is_vote] - 1]).sum()
        < 32
    )


@given(steps=st.lists(st.integers(0, 9), unique=True, min_size=1))
def test_checks_leave_and_come_back_to_one_share_by_whatever_steps(steps):
    left = [10, *sorted(steps, reverse=True)]
    stay, gone = 1.0, 1 - share_kept(left[-1], 10 - left[-1])
    for before, after in pairwise(left):
        stay *= 1 - chance_to_move(before - after, after, 10 - after, is_leaving=True)
    assert stay == pytest.approx(share_kept(left[-1], 10 - left[-1]))
    for before, after in pairwise(left[::-1]):
        gone *= 1 - chance_to_move(after - before, after, 10 - after, is_leaving=False)
    assert gone == pytest.approx(0)  # with all pairs come all checks


def test_without_pairs_asked_again_a_query_is_one_visit_with_its_gold_anywhere():
    places = set()
    for seed in range(60):
        pairs, order = drawn(seed, n_repeats=0, n_mirrors=0)
        gold = np.where(order.question_ids > 1000, order.question_ids - 1001, 0)
        queries = np.where(
            order.question_ids > 1000, gold, pairs.query_ids[(order.question_ids - 1) % 600]
        )
        assert runs(queries) == 60
        places.add(int(np.flatnonzero(order.question_ids[queries == 7] > 1000)[0]))
    assert places == set(range(11))


def test_judges_of_a_campaign_are_asked_different_pairs_again():
    again = [set(order.question_ids[order.ways == REPEATED])
             for _, order in (drawn(0), drawn(1))]  # fmt: skip
    assert len(again[0] & again[1]) < 12


@pytest.mark.parametrize("mirror_percent", [0, 8])
def test_the_order_that_judges_share_has_chunks_of_queries_and_keeps_the_phases(mirror_percent):
    query_ids = np.repeat(np.arange(50), np.tile([20, 100], 25))
    candidate_ids = rng().integers(0, 200, query_ids.size)
    phases = np.arange(query_ids.size) % 2
    for in_phases, n_runs in ((phases, 25 * (2 + 4)), (0 * phases, 25 * (1 + 4))):
        pairs = AskedPairs(np.arange(query_ids.size), query_ids, candidate_ids, in_phases)
        order = shared_order(pairs, rng(1), mirror_percent=mirror_percent)
        assert sorted(order) == list(range(query_ids.size))
        assert (np.diff(in_phases[order]) >= 0).all()
        assert 0.9 * n_runs <= runs(query_ids[order]) <= n_runs


def test_queries_that_share_pairs_to_mirror_come_together():
    query_ids = np.repeat(np.arange(300), 10)
    candidate_ids = np.random.default_rng(2).integers(0, 900, query_ids.size)
    pairs = AskedPairs(np.arange(3000), query_ids, candidate_ids, 0 * query_ids)

    def n_near(mirror_percent):
        order = shared_order(pairs, rng(1), mirror_percent=mirror_percent)
        place = np.empty(300, int)
        place[query_ids[order]] = np.arange(3000)
        inside = candidate_ids < 300
        return (np.abs(place[query_ids] - place[candidate_ids.clip(max=299)])[inside] < 120).sum()

    assert n_near(5) > 150 > 3 * n_near(0) / 2


def test_a_batch_has_whole_queries_and_its_part_of_what_is_asked_again():
    queries = [1] * 50 + [2] * 50 + [3] * 50
    assert whole_queries(queries, 120) == 100
    assert whole_queries(queries, 60) == 50
    assert whole_queries(queries[:30], 60) == 30
    assert whole_queries([1] * 30 + [2] * 65, 48) == 95
    assert whole_queries([1] * 200, 60) == 60

    def due(percents, n_asked, n_pairs, n_claimed=100, n_gold=0):
        percents, n_asked = Controls(*percents), Controls(*n_asked)
        return n_due_again(percents, n_asked, n_pairs=n_pairs, n_claimed=n_claimed, n_gold=n_gold)

    assert due((5, 3, 0), (0, 0, 0), 100) == (5, 3)
    assert due((5, 3, 0), (8, 0, 0), 200) == (5, 3)
    assert due((0, 3, 0), (0, 0, 0), 200) == (0, 3)
    assert due((5, 3, 0), (0, 0, 0), 40, n_claimed=40) == (0, 0)
    assert due((5, 3, 4), (0, 0, 0), 100, n_gold=1) == (8, 3)
    assert due((5, 3, 4), (8, 3, 1), 200, n_gold=7) == (2, 3)
    assert due((5, 3, 4), (0, 0, 0), 100, n_gold=20) == (0, 0)


def test_pairs_that_cannot_be_mirrored_are_repeated_instead():
    query_ids = np.repeat(np.arange(4), 10)
    pairs = AskedPairs(np.arange(40), query_ids, 100 + np.arange(40), 0 * query_ids)
    order = judge_order(pairs, NO_GOLD, rng(), n_repeats=2, n_mirrors=3, makes_up=True)
    assert (order.ways == REPEATED).sum() == 5


def test_an_empty_queue_stays_empty():
    none = np.zeros(0, dtype=np.int64)
    order = judge_order(AskedPairs(none, none, none, none), NO_GOLD, rng(), n_repeats=3)
    assert order.question_ids.size == 0
    for percent in (0, 5):
        empty = AskedPairs(none, none, none, none)
        assert shared_order(empty, rng(), mirror_percent=percent).size == 0
    assert (n_asked_again(0, 10), n_asked_again(3, 1), n_asked_again(2000, 5)) == (0, 1, 100)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(3, 9), st.integers(0, 2)),
                max_size=30, unique_by=lambda pair: pair[:2]),
       st.integers(0, 9), st.integers(0, 9), st.integers(0, 5))  # fmt: skip
def test_any_queue_keeps_every_pair_once(given_pairs, n_repeats, n_mirrors, seed):
    columns = np.array(given_pairs, np.int64).reshape(-1, 3).T
    pairs = AskedPairs(np.arange(columns.shape[1]), *columns)
    order = judge_order(
        pairs, np.array([[99, 77], [98, 1]]), rng(seed), n_repeats=n_repeats, n_mirrors=n_mirrors
    )
    assert sorted(order.question_ids[order.ways == AS_IT_IS]) == [*pairs.question_ids, 98, 99]
    sizes = np.bincount(columns[0], minlength=6)
    repeated = order.question_ids[order.ways == REPEATED]
    assert repeated.size == np.unique(repeated).size
    assert repeated.size == min(n_repeats, sizes[sizes > 1].sum())


@pytest.fixture(scope="module")
def simulation():
    with simulation_module("control_classifier") as module:
        yield module


@pytest.mark.parametrize("serve", ["simulate", "simulate_k_of_n"])
@pytest.mark.parametrize("n_phases", [1, 4])
def test_a_classifier_cannot_tell_controls_from_the_order(simulation, n_phases, serve):
    """Few campaigns, so that it is quick; docs/simulations/control_classifier.py runs twenty."""
    sizes = [120, 240, 120, 240]
    panels = [getattr(simulation, serve)(seed, n, n_phases) for seed, n in enumerate(sizes)]
    assert sum(int(one.is_control.sum()) for panel in panels for one in panel) > 2000
    assert abs(simulation.score(panels, "is_control") - 0.5) <= 0.03
    assert abs(simulation.score(panels, "is_checked") - 0.5) <= 0.03


def test_two_judges_who_compare_their_queues_cannot_tell_gold_and_repeats(simulation, monkeypatch):
    """Each attacker knows which pairs the other one has, how often and which way round."""
    make = simulation.make_campaign
    monkeypatch.setattr(
        simulation, "make_campaign", lambda *given: replace(make(*given), mirror_percent=0)
    )
    panels = [simulation.simulate_k_of_n(seed, n) for seed, n in enumerate([120, 240] * 2)]
    assert abs(simulation.score(panels, "is_control", is_colluding=True) - 0.5) <= 0.03
    assert abs(simulation.score(panels, "is_checked", is_colluding=True) - 0.5) <= 0.03


def test_candidates_that_are_queries_are_checked_as_often_as_others(simulation):
    """Otherwise the candidate would tell at first sight that a pair may come mirrored."""
    panels = [simulation.simulate(seed, 240) for seed in range(4)]
    served = [one for panel in panels for one in panel]
    is_query = np.concatenate([np.isin(one.candidate_ids, one.query_ids) for one in served])
    is_checked = np.concatenate([one.is_checked for one in served])
    assert abs(is_checked[is_query].mean() - is_checked[~is_query].mean()) < 0.02


@pytest.mark.parametrize("n_phases", [1, 4])
@pytest.mark.parametrize("way", ["simulate_closing", "simulate_k_of_n_closing"])
def test_a_classifier_cannot_tell_controls_where_pairs_close_early(way, n_phases, simulation):
    serve = getattr(simulation, way)
    panels = [serve(seed, n, n_phases) for seed, n in enumerate([60, 120])]
    assert sum(int(one.is_control.sum()) for panel in panels for one in panel) > 1000
    assert abs(simulation.score(panels, "is_control") - 0.5) <= 0.03
    assert abs(simulation.score(panels, "is_checked") - 0.5) <= 0.03


def test_the_classifier_finds_controls_that_are_left_behind(simulation, monkeypatch):
    """Checks that stay when the pairs beside them have left are told."""

    def leave_alone(queue, pair, rng):
        queue.is_open[queue.entry[pair]] = False

    monkeypatch.setattr(simulation._Queue, "close", leave_alone)
    panels = [simulation.simulate_closing(seed, 60) for seed in range(2)]
    assert simulation.score(panels, "is_control") > 0.6


def test_the_classifier_finds_controls_that_stand_apart(simulation):
    """The attacker is no straw man: the order there was before is told at once."""
    panels = [simulation.simulate(seed, 60) for seed in range(2)]
    apart = [[stood_apart(one, seed) for seed, one in enumerate(panel)] for panel in panels]
    assert simulation.score(apart, "is_control") > 0.9


def stood_apart(served, seed):
    """The same pairs: whole blocks of a query, and each control between two of them."""
    blocks = [np.flatnonzero((served.query_ids == query) & ~served.is_control)
              for query in rng(seed).permutation(np.unique(served.query_ids))]  # fmt: skip
    blocks = [block for block in blocks if block.size]
    controls = np.flatnonzero(served.is_control)
    at = np.sort(rng(seed).integers(0, len(blocks), controls.size))
    parts = [np.append(block, controls[at == i]) for i, block in enumerate(blocks)]
    order = np.concatenate(parts)
    return type(served)(*(column[order] for column in vars(served).values()))
