import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.ordering import (
    AS_IT_IS,
    GAP,
    MIRRORED,
    REPEATED,
    judge_order,
    mixed_in,
    n_asked_again,
    shuffled_by_query,
    shuffled_in_phases,
)
from docs.simulations.control_classifier import Served, score, simulate


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def runs(values: np.ndarray) -> int:
    return int((np.diff(values) != 0).sum()) + 1 if values.size else 0


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 5))
def test_a_shuffle_keeps_every_pair_once_and_each_query_together(queries, seed):
    query_ids = np.array(queries, dtype=np.int64)
    order = shuffled_by_query(query_ids, rng(seed))
    assert sorted(order) == list(range(len(queries)))
    assert runs(query_ids[order]) == len(set(queries))


def test_the_order_does_not_correlate_with_the_order_given():
    query_ids = np.repeat(np.arange(400), 25)
    rank = np.tile(np.arange(25), 400)
    order = shuffled_by_query(query_ids, rng())
    place_in_block = np.tile(np.arange(25), 400)
    assert abs(np.corrcoef(place_in_block, rank[order])[0, 1]) < 0.03
    assert abs(np.corrcoef(np.arange(10_000), query_ids[order])[0, 1]) < 0.15


def test_the_same_seed_gives_the_same_order_and_another_seed_another():
    query_ids = np.repeat(np.arange(30), 4)
    assert (shuffled_by_query(query_ids, rng(1)) == shuffled_by_query(query_ids, rng(1))).all()
    assert (shuffled_by_query(query_ids, rng(1)) != shuffled_by_query(query_ids, rng(2))).any()


def test_phases_come_in_turn_with_every_query_whole_in_each():
    query_ids = np.array([7, 8, 7, 8, 7, 8])
    phases = np.array([1, 1, 0, 0, 1, 1])
    orders = {
        tuple(shuffled_in_phases(query_ids, phases, rng(seed)).tolist()) for seed in range(99)
    }
    late = [(0, 4, 1, 5), (4, 0, 1, 5), (0, 4, 5, 1), (4, 0, 5, 1)]
    late += [order[2:] + order[:2] for order in late]
    assert orders == {early + rest for early in ((2, 3), (3, 2)) for rest in late}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=40), st.integers(0, 5))
def test_an_order_in_phases_keeps_every_pair_once_phases_ascending_and_queries_together(
    pairs, seed
):
    query_ids, phases = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    order = shuffled_in_phases(query_ids, phases, rng(seed))
    assert sorted(order) == list(range(len(pairs)))
    assert (np.diff(phases[order]) >= 0).all()
    assert runs(query_ids[order] + 10 * phases[order]) == len(set(pairs))


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 5), st.integers(0, 3))
def test_one_phase_is_no_phase(queries, seed, phase):
    query_ids = np.array(queries, dtype=np.int64)
    order = shuffled_in_phases(query_ids, np.full(len(queries), phase), rng(seed))
    assert (order == shuffled_by_query(query_ids, rng(seed))).all()


def test_inside_a_phase_the_order_does_not_correlate_with_the_order_given():
    query_ids = np.repeat(np.arange(400), 24)
    rank = np.tile(np.arange(24), 400)
    order = shuffled_in_phases(query_ids, rank // 6, rng())
    place_in_block = np.tile(np.arange(6), 1600)
    assert abs(np.corrcoef(place_in_block, rank[order] % 6)[0, 1]) < 0.03
    for phase in np.split(query_ids[order], 4):
        assert abs(np.corrcoef(np.arange(2400), phase)[0, 1]) < 0.15


NO_GOLD = np.zeros((0, 2), np.int64)


def drawn(seed: int, *, n_phases: int = 1, n_repeats: int = 40, n_mirrors: int = 20):
    """600 pairs of 60 queries, candidates among the queries, 30 gold; and one judge's order."""
    question_ids = np.arange(1, 601)
    query_ids = np.repeat(np.arange(60), 10)
    candidate_ids = (query_ids + 1 + 3 * (np.tile(np.arange(10), 60))) % 90
    gold = np.stack([np.arange(1001, 1031), np.arange(30)], axis=1)
    phases = question_ids % n_phases
    order = judge_order(
        question_ids, query_ids, candidate_ids, phases, gold, rng(seed),
        n_repeats=n_repeats, n_mirrors=n_mirrors,
    )  # fmt: skip
    return order, query_ids, candidate_ids, phases


@pytest.mark.parametrize("n_phases", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_pair_and_gold_comes_once_and_few_again(seed, n_phases):
    order, query_ids, candidate_ids, phases = drawn(seed, n_phases=n_phases)
    plain = order.question_ids[order.ways == AS_IT_IS]
    assert sorted(plain) == [*range(1, 601), *range(1001, 1031)]
    pairs = plain[plain < 1000]
    assert (np.diff(phases[pairs - 1]) >= 0).all()
    repeated = order.question_ids[order.ways == REPEATED]
    mirrored = order.question_ids[order.ways == MIRRORED]
    assert 36 <= repeated.size == np.unique(repeated).size <= 40
    assert 8 <= mirrored.size == np.unique(mirrored).size <= 20
    asked = set(zip(query_ids.tolist(), candidate_ids.tolist(), strict=True))
    for question in mirrored.tolist():
        query, candidate = query_ids[question - 1], candidate_ids[question - 1]
        assert candidate < 60
        assert (candidate, query) not in asked


def test_a_pair_is_asked_again_long_after_it_was_asked():
    for seed in range(4):
        order, *_ = drawn(seed)
        place = {q: i for i, (q, way) in enumerate(zip(order.question_ids, order.ways, strict=True))
                 if way == AS_IT_IS}  # fmt: skip
        gaps = [i - place[q] for i, (q, way) in enumerate(
            zip(order.question_ids, order.ways, strict=True)) if way != AS_IT_IS]  # fmt: skip
        assert min(gaps) > GAP


def test_judges_of_a_campaign_are_asked_different_pairs_again():
    again = [set(drawn(seed)[0].question_ids[drawn(seed)[0].ways == REPEATED]) for seed in (0, 1)]
    assert len(again[0] & again[1]) < 12


def test_a_query_opens_with_one_pair_and_its_visits_are_near_each_other():
    order, query_ids, *_ = drawn(3, n_repeats=0, n_mirrors=0)
    plain = order.question_ids[order.question_ids < 1000]
    queries = query_ids[plain - 1]
    assert runs(queries[:25]) == 25
    assert runs(queries) < 60 * 3 + 30
    for query in range(60):
        at = np.flatnonzero(queries == query)
        assert at[-1] - at[0] < 400


def test_a_queue_without_controls_is_every_pair_once():
    question_ids, query_ids = np.arange(1, 41), np.repeat(np.arange(4), 10)
    order = judge_order(question_ids, query_ids, query_ids + 50, 0 * query_ids, NO_GOLD, rng(2))
    assert sorted(order.question_ids) == list(range(1, 41))
    assert not order.ways.any()


def test_an_empty_queue_stays_empty():
    none = np.zeros(0, dtype=np.int64)
    order = judge_order(none, none, none, none, NO_GOLD, rng(), n_repeats=3, n_mirrors=3)
    assert order.question_ids.size == 0
    assert n_asked_again(0, 10) == 0
    assert n_asked_again(3, 1) == 1
    assert n_asked_again(2000, 5) == 100


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(3, 9)), max_size=30, unique=True),
       st.integers(0, 9), st.integers(0, 5))  # fmt: skip
def test_any_queue_keeps_every_pair_once(pairs, n_again, seed):
    query_ids, candidate_ids = np.array(pairs, np.int64).reshape(-1, 2).T
    question_ids = np.arange(query_ids.size)
    order = judge_order(
        question_ids, query_ids, candidate_ids, 0 * query_ids, np.array([[99, 77]]), rng(seed),
        n_repeats=n_again, n_mirrors=n_again,
    )  # fmt: skip
    assert sorted(order.question_ids[order.ways == AS_IT_IS]) == [*question_ids.tolist(), 99]
    before = {}
    for question, way in zip(order.question_ids.tolist(), order.ways.tolist(), strict=True):
        assert way == AS_IT_IS or question in before
        before[question] = True


def test_a_classifier_cannot_tell_controls_from_the_order():
    """Few campaigns, so that it is quick; docs/simulations/control_classifier.py runs twenty."""
    panels = [simulate(seed, n_queries) for seed, n_queries in enumerate([120, 240, 120, 240])]
    assert sum(int(one.is_control.sum()) for panel in panels for one in panel) > 3000
    assert abs(score(panels) - 0.5) <= 0.03


def test_the_classifier_finds_controls_that_stand_apart():
    """The attacker is no straw man: the order there was before is told at once."""
    panels = [simulate(seed, 60) for seed in range(2)]
    apart = [[stood_apart(one, seed) for seed, one in enumerate(panel)] for panel in panels]
    assert score(apart) > 0.9


def stood_apart(one: Served, seed: int) -> Served:
    """The same pairs: whole blocks of a query, and each control between two of them."""
    blocks = [np.flatnonzero((one.query_ids == q) & ~one.is_control)
              for q in rng(seed).permutation(np.unique(one.query_ids))]  # fmt: skip
    blocks = [block for block in blocks if block.size]
    controls = np.flatnonzero(one.is_control)
    at = np.sort(rng(seed).integers(0, len(blocks), controls.size))
    parts = [np.append(block, controls[at == i]) for i, block in enumerate(blocks)]
    order = np.concatenate(parts)
    return Served(one.query_ids[order], one.is_control[order])


QUERIES = st.lists(st.integers(0, 5), max_size=30)


@given(QUERIES, QUERIES, st.integers(0, 5))
def test_mixing_in_keeps_what_waits_in_order_and_starts_no_query_twice(waits, comes, seed):
    waiting, added = np.array(waits, np.int64), np.array(comes, np.int64)
    order = mixed_in(waiting, added, rng(seed))
    assert sorted(order) == list(range(len(waits) + len(comes)))
    assert order[order < len(waits)].tolist() == list(range(len(waits)))
    mixed = np.concatenate([waiting, added])[order]
    n_strange = len(set(comes) - set(waits))
    assert runs(mixed) == runs(waiting) + n_strange


def test_new_pairs_stand_anywhere_in_their_query_and_new_queries_at_any_border():
    waiting = np.repeat(np.arange(3), 4)  # 0000 1111 2222
    added = np.array([1, 7, 7])
    inside, borders = set(), set()
    for seed in range(200):
        order = mixed_in(waiting, added, rng(seed)).tolist()
        old_before = [i for i in order[: order.index(12)] if i < 12]
        inside.add(len(old_before))
        sevens = sorted(order.index(i) for i in (13, 14))
        assert sevens[1] == sevens[0] + 1
        borders.add(len([i for i in order[: sevens[0]] if i < 12]))
    assert inside == {4, 5, 6, 7, 8}
    assert borders == {0, 4, 8, 12}
