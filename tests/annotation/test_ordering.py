import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotation.order.ordering import mixed_in, shuffled_by_query, shuffled_in_phases


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
