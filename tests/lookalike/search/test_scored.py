"""The best of scored candidates, against a slow oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.search.filters import Filters, Keys
from lookalike.search.scored import admissible, best_scored, random_scores


def keys(queries, catalog):
    return Keys(np.array(queries, np.int64), np.array(catalog, np.int64))


def test_a_query_is_not_answered_with_itself_its_product_or_another_category():
    filters = Filters(
        own=np.array([0, -1]),
        apart=[keys([5, -1], [5, 5, 6, -1, 7])],
        alike=[keys([1, 2], [1, 1, 1, 1, 2])],
    ).arrays(2, 5)
    assert admissible(filters, 0).tolist() == [False, False, True, True, False]
    assert admissible(filters, 1).tolist() == [False, False, False, False, True]


SCORES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0]), min_size=7, max_size=7)


@given(SCORES, st.integers(1, 9), st.integers(-1, 6))
def test_the_best_are_those_of_a_full_sort_with_ties_to_the_lower_row(scores, k, own):
    given_scores = np.array(scores)
    filters = Filters(own=np.array([own])).arrays(1, 7)
    found = best_scored(filters, k, lambda _, rows: given_scores[rows])
    rows = [row for row in range(7) if row != own and scores[row] > -np.inf]
    expected = sorted(rows, key=lambda row: (-scores[row], row))[:k]
    assert found.indices[0].tolist() == expected + [-1] * (k - len(expected))
    assert found.scores[0, : len(expected)].tolist() == [scores[row] for row in expected]


def test_depth_zero_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        best_scored(Filters().arrays(1, 3), 0, lambda _, rows: np.zeros(len(rows)))


def test_a_random_sample_is_uniform_fixed_by_seed_and_query_and_begins_a_deeper_one():
    n_drawn = np.zeros(20)
    for number in range(2000):
        n_drawn[np.argsort(-random_scores(3, f"{number:016x}" + "0" * 48, 20))[:5]] += 1
    assert np.abs(n_drawn - 500).max() < 5 * np.sqrt(500 * 0.75)
    one = random_scores(3, "ab" * 32, 50)
    assert np.array_equal(one, random_scores(3, "ab" * 32, 50))
    assert not np.array_equal(one, random_scores(4, "ab" * 32, 50))
    filters = Filters().arrays(1, 50)
    shallow, deep = (best_scored(filters, k, lambda _, rows: one[rows]) for k in (4, 9))
    assert shallow.indices[0].tolist() == deep.indices[0, :4].tolist()
