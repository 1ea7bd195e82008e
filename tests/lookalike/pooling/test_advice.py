"""What judging brought by model and depth, by hand and against sets; the stopping rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from lookalike.pooling.advice import Gain, depth_advice, gains_by_depth, gains_by_model
from tests.lookalike.pooling.cases import proposals_of

# (query, candidate, model, rank): pair 0-10 by both, 0-11 and 0-12 by one each
ROWS = [(0, 10, 0, 0), (0, 11, 0, 1), (0, 10, 1, 1), (0, 12, 1, 0)]


ALL = np.ones(3, bool)


def flags(rows, pairs):
    return np.array([(query, candidate) in pairs for query, candidate, *_ in rows], bool)


def test_a_worked_pool():
    proposals = proposals_of(ROWS)
    judged, positive = flags(ROWS, {(0, 10), (0, 11)}), flags(ROWS, {(0, 10)})
    every, alone = gains_by_model(proposals, judged, positive)
    assert every == [Gain(2, 2, 1), Gain(2, 1, 1), Gain(0, 0, 0)]
    assert alone == [Gain(1, 1, 0), Gain(1, 0, 0), Gain(0, 0, 0)]
    assert gains_by_depth(proposals, judged, positive, ALL) == [Gain(2, 1, 1), Gain(1, 1, 0)]


def test_positives_per_hour_count_the_hours_of_all_judges():
    assert Gain(9, 8, 4).per_hour(15, 3) == pytest.approx(4 / (8 * 15 * 3 / 3600))
    assert math.isnan(Gain(9, 0, 0).per_hour(15, 3))


PROPOSED = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)),
    max_size=20,
    unique_by=lambda row: row[:3],
)


@given(
    PROPOSED,
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3))),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_the_ranks_part_the_pairs_and_each_goes_to_its_best_rank(rows, judged, ranked):
    positive = {pair for pair in judged if sum(pair) % 2}
    has_ranks = np.array(ranked)
    gains = gains_by_depth(
        proposals_of(rows), flags(rows, judged), flags(rows, positive), has_ranks
    )
    best: dict[tuple[int, int], int] = {}
    for query, candidate, model, rank in rows:
        if not ranked[model]:
            continue
        best[query, candidate] = min(rank, best.get((query, candidate), rank))
    for rank, gain in enumerate(gains):
        mine = {pair for pair, at in best.items() if at == rank}
        assert gain == Gain(len(mine), len(mine & judged), len(mine & positive))
    assert sum(gain.n_pairs for gain in gains) == len(best)


@given(st.integers(0, 40), st.integers(1, 40))
def test_the_bound_is_the_share_at_which_so_few_positives_are_a_twentieth(n_positive, n_different):
    gain = Gain(99, n_positive + n_different, n_positive)
    advice = depth_advice([gain], 0.05)
    assert advice is not None
    assert binom.cdf(n_positive, gain.n_judged, advice.upper) == pytest.approx(0.05, abs=1e-6)


def test_it_says_stop_only_when_enough_was_judged_and_takes_the_deepest_judged_rank():
    deep, none = Gain(100, 100, 0), Gain(50, 0, 0)
    advice = depth_advice([Gain(9, 9, 9), deep, none], 0.05)
    assert advice is not None
    assert (advice.depth, advice.gain, advice.says_stop) == (2, deep, True)
    few = depth_advice([Gain(20, 20, 0)], 0.05)
    assert few is not None
    assert not few.says_stop
    all_positive = depth_advice([Gain(5, 5, 5)], 0.05)
    assert all_positive is not None
    assert all_positive.upper == 1
    assert depth_advice([none], 0.05) is None
    assert depth_advice([], 0.05) is None


def test_pairs_of_one_query_that_agree_tell_less_than_as_many_of_several():
    rows = [(query, 10 * query + place, 0, 0) for query in range(50) for place in range(4)]
    judged, ranks = np.ones(200, bool), np.ones(3, bool)
    bounds = []
    for positive in (np.arange(200) % 20 == 0, np.arange(200) < 10):  # ten apart, or together
        advice = depth_advice(gains_by_depth(proposals_of(rows), judged, positive, ranks), 0.05)
        assert advice is not None
        assert advice.gain == Gain(200, 200, 10)
        bounds.append(advice.upper)
    exact = beta.ppf(0.95, 11, 190)
    assert bounds[0] == pytest.approx(exact, abs=0.01)
    assert bounds[1] > exact + 0.03


def test_a_deep_sample_by_chance_does_not_say_that_a_greater_depth_would_not_pay():
    rows = [(query, 1000 + rank, 0, rank) for query in range(100) for rank in range(6)]
    chance = [(query, 2000 + rank, 1, rank) for query in range(100) for rank in range(20)]
    proposals = proposals_of(rows + chance)
    judged, positive = np.ones(2600, bool), proposals.model == 0
    has_ranks = np.array([True, False, False])
    advice = depth_advice(gains_by_depth(proposals, judged, positive, has_ranks), 0.05)
    assert advice is not None
    assert (advice.depth, advice.says_stop) == (6, False)
    assert gains_by_depth(proposals, judged, positive, np.zeros(3, bool)) == []


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        depth_advice([], 0)
    with pytest.raises(ValueError, match="as many"):
        gains_by_depth(proposals_of(ROWS), np.zeros(3, bool), np.zeros(4, bool), ALL)
