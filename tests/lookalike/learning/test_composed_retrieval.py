"""Composed retrieval among all images: CIRR's and MIT-States' measures."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.core.errors import Refused
from lookalike.learning.compose.retrieval import (
    TEST_NOUNS,
    Composed,
    changed_states,
    named_targets,
    score_composed,
)

EYE = np.eye(6)


def test_the_reference_is_never_found():
    asked = named_targets([("a", "b", "x")], {"a": 0, "b": 1, "c": 2})
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1.0]])
    assert score_composed(vectors[:1], vectors, asked) == {1: 1.0, 5: 1.0, 10: 1.0}


def test_recall_is_the_share_of_queries_with_a_hit_so_far_up():
    row_of = {f"i{n}": n for n in range(12)}
    asked = named_targets([("i0", "i1", "x"), ("i0", "i7", "x"), ("i0", "i11", "x")], row_of)
    angles = np.linspace(0, 1.5, 12)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = score_composed(vectors[[0, 0, 0]], vectors, asked, (1, 5, 7, 10))
    assert found == pytest.approx({1: 1 / 3, 5: 1 / 3, 7: 2 / 3, 10: 2 / 3})


def test_equal_scores_count_at_their_expected_value():
    one = named_targets([("i0", "i1", "x")], {f"i{n}": n for n in range(6)})
    vectors = np.ones((6, 2))
    assert score_composed(vectors[:1], vectors, one, (1, 2, 5)) == pytest.approx(
        {1: 0.2, 2: 0.4, 5: 1.0}
    )
    two = Composed(np.array([0]), ("x",), np.array([0, 1, 1, 2, 2, 2]), np.array([1]))
    by_hand = {1: 2 / 5, 2: 1 - 3 / 10, 3: 1 - 1 / 10, 4: 1.0}  # 1 - C(3, k) / C(5, k)
    assert score_composed(vectors[:1], vectors, two, tuple(by_hand)) == pytest.approx(by_hand)


def test_mit_states_asks_each_image_for_each_other_state_of_its_noun():
    nouns = ["tomato", "tomato", "tomato", "tomato", "dog", "apple", "tomato"]
    states = ["ripe", "ripe", "mashed", "", "wet", "ripe", "diced"]
    rows, asked = changed_states(nouns, states)
    assert rows.tolist() == [0, 1, 2, 6]
    said = list(zip(asked.references.tolist(), asked.conditions, strict=True))
    assert said == [(0, "diced"), (0, "mashed"), (1, "diced"), (1, "mashed"),
                    (2, "diced"), (2, "ripe"), (3, "mashed"), (3, "ripe")]  # fmt: skip
    assert asked.hits(5).tolist() == [True, True, False, False]
    assert asked.hits(7).tolist() == [True, True, False, False]
    assert len(TEST_NOUNS) == 49


def test_any_image_of_noun_and_state_is_a_hit():
    _, asked = changed_states(["tea", "tea", "tea"], ["hot", "cold", "cold"])
    vectors = EYE[:3]
    assert score_composed(EYE[[2, 0, 0]], vectors, asked, (1,)) == {1: 1.0}


@pytest.mark.parametrize(
    ("triplet", "reason"),
    [
        (("a", "z", "x"), "query 1 names 'z', which is not there"),
        (("a", "a", "x"), "query 1 asks for its own image 'a'"),
    ],
)
def test_a_query_without_its_image_is_refused(triplet, reason):
    with pytest.raises(Refused, match=reason):
        named_targets([triplet], {"a": 0, "b": 1})


def test_what_nothing_answers_is_refused():
    with pytest.raises(Refused, match="in two states"):
        changed_states(["tea", "dog"], ["hot", "wet"])
    asked = Composed(np.array([0]), ("x",), np.array([0, 1]), np.array([5]))
    with pytest.raises(Refused, match="no image answers query 1, 'x'"):
        score_composed(EYE[:1, :2], EYE[:2, :2] + 1, asked)
    with pytest.raises(Refused, match="2 vectors for 1 conditions"):
        score_composed(EYE[:2, :2], EYE[:2, :2] + 1, asked)
