import itertools

import numpy as np
import pytest

from lookalike.agreement.judge_statistics import (
    Share,
    pace,
    sequence_effect,
    share_by_part,
)


def bools(word: str) -> np.ndarray:
    return np.array([letter == "s" for letter in word], dtype=bool)


def test_a_share_of_nothing_is_undefined():
    assert Share(2, 3).value == pytest.approx(2 / 3)
    assert np.isnan(Share(0, 0).value)


def test_pace_leaves_out_idle_pairs_and_counts_loading_apart():
    found = pace(np.array([1000, 2000, 3000, 600_000, 0]), np.array([100, 300, 200, 100, 9999]))
    assert (found.median, found.median_load) == (2.0, 0.15)
    assert (found.n_timed, found.n_idle) == (3, 1)
    assert np.isnan(pace(np.zeros(3, dtype=int), np.zeros(3, dtype=int)).median)


def test_the_runs_test_is_exact_against_all_orders_of_the_answers():
    words = ["".join(order) for order in set(itertools.permutations("sssdd"))]
    changes = [sum(a != b for a, b in itertools.pairwise(word)) for word in words]
    mean, deviation = np.mean(changes), np.std(changes)
    for word, n in zip(words, changes, strict=True):
        found = sequence_effect(bools(word), np.zeros(5, dtype=int))
        assert found.z == pytest.approx((n - mean) / deviation)


def test_blocks_add_up():
    word = "sdsd" + "ssdd"
    queries = np.array([1] * 4 + [2] * 4)
    found = sequence_effect(bools(word), queries)
    # per block: 2 changes expected, variance 4 * (8 - 4) * 2 / (16 * 3) = 2 / 3
    assert found.z == pytest.approx((3 + 1 - 4) / np.sqrt(4 / 3))
    assert found.n == 6
    assert found.after_similar == pytest.approx(1 / 4)
    assert found.after_different == pytest.approx(1 / 2)


def test_queries_with_many_similar_candidates_are_no_habit_of_the_judge():
    rng = np.random.default_rng(0)
    rates = np.repeat(rng.choice([0.1, 0.9], 300), 20)
    found = sequence_effect(rng.random(6000) < rates, np.repeat(np.arange(300), 20))
    assert abs(found.z) < 2.5


@pytest.mark.parametrize(("stickiness", "sign"), [(0.3, -1), (-0.3, 1)])
def test_a_judge_who_follows_or_opposes_the_last_answer_is_found(stickiness, sign):
    rng = np.random.default_rng(1)
    answers = [True]
    for _ in range(3999):
        answers.append(bool(rng.random() < 0.5 + (stickiness if answers[-1] else -stickiness)))
    found = sequence_effect(np.array(answers), np.repeat(np.arange(200), 20))
    assert found.z * sign > 5
    assert found.p < 1e-6


@pytest.mark.parametrize("word", ["", "s", "ssss", "sd"])
def test_too_little_to_say_is_not_a_number(word):
    queries = np.arange(len(word)) if word == "sd" else np.zeros(len(word), dtype=int)
    found = sequence_effect(bools(word), queries)
    assert np.isnan(found.z)
    assert np.isnan(found.p)


def test_parts_show_a_threshold_that_drifts():
    parts = share_by_part(bools("ssss" + "ssdd" + "dddd"), 3)
    assert [(part.n_hits, part.n) for part in parts] == [(4, 4), (2, 4), (0, 4)]
