import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotation.ordering import (
    GAP,
    Controls,
    early_offsets,
    judge_order,
    mixed_in,
    sampled_mirrors,
    sampled_repeats,
    shuffled_by_query,
    shuffled_in_phases,
)

NOTHING = Controls(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


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


def test_half_of_the_gold_falls_into_the_first_quarter():
    offsets = early_offsets(100, 1000, rng())
    assert (np.diff(offsets) >= 0).all()
    assert 48 <= (offsets <= 250).sum() <= 52
    assert offsets.max() <= 1000


def with_controls() -> tuple[np.ndarray, np.ndarray, Controls]:
    question_ids = np.arange(1, 601)
    query_ids = np.repeat(np.arange(1, 61), 10)
    golds = np.arange(1001, 1031)
    repeats = np.arange(2001, 2041)
    originals = np.sort(rng(9).choice(question_ids, 40, replace=False))
    controls = Controls(
        np.concatenate([golds, repeats]),
        np.concatenate([np.repeat(np.arange(101, 111), 3), query_ids[originals - 1]]),
        np.concatenate([np.zeros(30, dtype=np.int64), originals]),
    )
    return question_ids, query_ids, controls


def test_controls_stand_between_blocks_and_lose_no_pair():
    question_ids, query_ids, controls = with_controls()
    queue = judge_order(question_ids, query_ids, 0 * query_ids, controls, rng(4))
    assert sorted(queue) == sorted([*question_ids, *controls.question_ids])
    query_of = dict(zip(question_ids, query_ids, strict=True))
    inserted = 0
    for before, this, after in zip(queue, queue[1:], queue[2:], strict=False):
        if this > 1000 and before <= 600 and after <= 600:
            inserted += 1
            assert query_of[before] != query_of[after]
    assert inserted


def test_a_repeat_comes_long_after_its_pair_or_at_the_end():
    question_ids, query_ids, controls = with_controls()
    queue = judge_order(question_ids, query_ids, 0 * query_ids, controls, rng(5)).tolist()
    n_late = 0
    for question, original in zip(controls.question_ids, controls.original_ids, strict=True):
        if not original:
            continue
        rest = queue[queue.index(int(question)) :]
        distance = queue.index(int(question)) - queue.index(int(original))
        assert distance > GAP or max(rest[:1] + [q for q in rest if q <= 600]) > 600
        n_late += distance > GAP
    assert n_late >= 35


def test_controls_of_a_queue_in_phases_stand_between_blocks_and_repeats_come_late():
    question_ids, query_ids, controls = with_controls()
    phases = (question_ids % 10) // 3
    queue = judge_order(question_ids, query_ids, phases, controls, rng(4))
    assert sorted(queue) == sorted([*question_ids, *controls.question_ids])
    pairs = queue[queue <= 600]
    assert (np.diff(phases[pairs - 1]) >= 0).all()
    blocks = query_ids[pairs - 1] + 100 * phases[pairs - 1]
    place = {int(question): place for place, question in enumerate(pairs)}
    for before, this, after in zip(queue, queue[1:], queue[2:], strict=False):
        if this > 1000 and before <= 600 and after <= 600:
            assert blocks[place[int(before)]] != blocks[place[int(after)]]
    late = [
        queue.tolist().index(question) - queue.tolist().index(original) > GAP
        for question, original in zip(controls.question_ids, controls.original_ids, strict=True)
        if original
    ]
    assert sum(late) >= 35


def test_a_queue_without_controls_is_only_shuffled():
    question_ids, query_ids = np.arange(1, 41), np.repeat(np.arange(4), 10)
    queue = judge_order(question_ids, query_ids, 0 * query_ids, NOTHING, rng(2))
    assert (queue == question_ids[shuffled_by_query(query_ids, rng(2))]).all()


def test_an_empty_queue_stays_empty():
    none = np.zeros(0, dtype=np.int64)
    assert judge_order(none, none, none, NOTHING, rng()).size == 0
    assert sampled_repeats(none, 10, rng()).size == 0
    assert sampled_mirrors(0, 10, rng()).size == 0


def test_repeats_take_the_share_asked_for_and_at_most_six_of_a_query():
    query_ids = np.repeat(np.arange(100), 20)
    chosen = sampled_repeats(query_ids, 5, rng())
    assert chosen.size == 100
    assert np.bincount(query_ids[chosen]).max() <= 6
    assert sampled_mirrors(2000, 5, rng()).size == 100
    assert sampled_repeats(query_ids, 0, rng()).size == 0
    assert sampled_repeats(query_ids[:3], 1, rng()).size == 1


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
