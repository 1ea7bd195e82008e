"""Recall with honest ties, and the baselines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.conditional.template_scores import (
    Places,
    baseline_queries,
    candidate_scores,
    rank_answers,
    recall_at,
    score_templates,
)
from lookalike.conditional.types import Task

GOLDEN = [np.array(row) for row in ([0.3, 0.5, 0.1], [0.4, 0.4, 0.2], [0.9, 0.1, 0.2])]
TASKS = [Task.FOCUS_ATTRIBUTE, Task.CHANGE_ATTRIBUTE, Task.FOCUS_OBJECT, Task.CHANGE_OBJECT]


@pytest.mark.parametrize(
    ("ties", "first"), [("optimistic", 2 / 3), ("pessimistic", 1 / 3), ("expected", 1 / 2)]
)
def test_golden_rows(ties, first):
    places = rank_answers(GOLDEN, [0, 0, 0])
    assert recall_at(1, places, ties).mean() == pytest.approx(first, abs=1e-15)
    assert recall_at(2, places, ties).mean() == 1.0


def test_expected_recall_is_the_mean_over_all_orders_of_the_equals():
    places = Places(*(np.array([value]) for value in (1, 3, 9)))  # ranks 2 to 5, equally likely
    found = [recall_at(k, places)[0] for k in range(1, 7)]
    assert found == [0, 0.25, 0.5, 0.75, 1, 1]


@pytest.mark.parametrize("answer", [0, 4, 9])
def test_a_constant_scorer_scores_chance_and_not_100_percent(answer):
    scores = [np.zeros(10)] * 3
    found = score_templates([Task.FOCUS_ATTRIBUTE] * 3, scores, [answer] * 3)
    chance = {1: 0.1, 2: 0.2, 3: 0.3}
    assert found.by_task[Task.FOCUS_ATTRIBUTE] == pytest.approx(chance)
    assert found.chance[Task.FOCUS_ATTRIBUTE] == pytest.approx(chance)
    assert found.n_ties[Task.FOCUS_ATTRIBUTE] == 3


def test_chance_of_the_four_tasks_is_a_tenth_and_a_fifteenth():
    scores = [np.zeros(10 if task is Task.FOCUS_ATTRIBUTE else 15) for task in TASKS]
    found = score_templates(TASKS, scores, [0] * 4)
    assert [found.by_task[task][1] for task in TASKS] == pytest.approx([0.1] + [1 / 15] * 3)
    assert found.average[1] == pytest.approx((0.1 + 3 / 15) / 4)


def test_tasks_weigh_the_same_in_the_average_however_many_templates_they_have():
    tasks = [Task.FOCUS_OBJECT] * 3 + [Task.CHANGE_OBJECT]
    right, wrong = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    found = score_templates(tasks, [right, right, right, wrong], [0] * 4)
    assert found.average[1] == 0.5
    assert found.n_templates == {Task.FOCUS_OBJECT: 3, Task.CHANGE_OBJECT: 1}


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=8),
    st.integers(0, 7),
    st.randoms(),
    st.integers(1, 4),
)
def test_permuting_the_gallery_changes_nothing_under_any_rule(values, answer, random, k):
    row = np.array(values, float)
    answer %= row.size
    order = list(range(row.size))
    random.shuffle(order)
    before = rank_answers([row], [answer])
    after = rank_answers([row[order]], [order.index(answer)])
    for ties in ("pessimistic", "expected", "optimistic"):
        assert recall_at(k, before, ties) == recall_at(k, after, ties)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6), st.integers(1, 3))
def test_expected_recall_agrees_with_breaking_ties_in_every_way(values, k):
    row = np.array(values, float)
    better = int((row > row[0]).sum())
    equals = int((row == row[0]).sum())
    by_hand = np.mean([better + place < k for place in range(equals)])
    places = rank_answers([row], [0])
    assert recall_at(k, places)[0] == pytest.approx(by_hand)
    assert recall_at(k, places, "pessimistic") <= recall_at(k, places)
    assert recall_at(k, places) <= recall_at(k, places, "optimistic")


@pytest.mark.parametrize(
    ("scores", "answers", "reason"),
    [
        ([np.array([1.0, np.nan])], [0], "template 0: a score is NaN"),
        ([np.array([1.0, 2.0])], [2], "template 0: 2 is no place"),
        ([np.zeros((2, 2))], [0], "template 0: 0 is no place"),
        ([np.zeros(2)], [0, 0], "answers of 2"),
    ],
)
def test_bad_scores_are_refused_with_their_place(scores, answers, reason):
    with pytest.raises(ValueError, match=reason):
        rank_answers(scores, answers)


def test_other_rules_and_cutoffs_are_refused():
    places = rank_answers(GOLDEN, [0, 0, 0])
    with pytest.raises(ValueError, match="ties are"):
        recall_at(1, places, "lucky")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k is 0"):
        recall_at(0, places)
    with pytest.raises(ValueError, match="0 tasks"):
        score_templates([], [], [])


def test_image_plus_text_averages_raw_features_as_the_paper_does():
    image, text = np.array([[10.0, 0.0]]), np.array([[0.0, 1.0]])
    raw = baseline_queries(image, text, "image_text")
    assert raw[0] == pytest.approx([0.995037, 0.099504], abs=1e-6)
    even = baseline_queries(image, text, "image_text", normalised=True)
    assert even[0] == pytest.approx([0.707107, 0.707107], abs=1e-6)
    assert baseline_queries(image, text, "image")[0].tolist() == [1, 0]
    assert baseline_queries(image, text, "text")[0].tolist() == [0, 1]


def test_image_only_does_not_read_the_condition_and_text_only_not_the_image():
    rng = np.random.default_rng(0)
    image, text, other = (rng.normal(size=(5, 8)) for _ in range(3))
    assert (baseline_queries(image, text, "image") == baseline_queries(image, other, "image")).all()
    assert (baseline_queries(image, text, "text") == baseline_queries(other, text, "text")).all()


def test_opposite_features_have_no_combination():
    image = np.array([[1.0, 0.0]])
    with pytest.raises(ValueError, match="vector 0 has length 0"):
        baseline_queries(image, -image, "image_text")
    with pytest.raises(ValueError, match="texts of shape"):
        baseline_queries(image, np.ones((2, 2)), "image")


def test_candidate_scores_are_cosines_of_galleries_of_any_size():
    queries = np.array([[2.0, 0.0], [0.0, 3.0]])
    views = np.array([[1.0, 0.0], [0.0, 5.0], [-4.0, 0.0]])
    first, second = candidate_scores(queries, views, [np.array([0, 1, 2]), np.array([1, 0])])
    assert first.tolist() == [1, 0, -1]
    assert second.tolist() == [1, 0]
    with pytest.raises(ValueError, match="2 queries for 1 templates"):
        candidate_scores(queries, views, [np.array([0])])
