"""What a change made of a pool, by hand and against a slow oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.pooling.differences import difference, find_changes
from tests.lookalike.pooling.cases import proposals_of


def test_a_worked_difference():
    # two models at depth 2; then model 2 is added, and model 0 goes to depth 3
    rows = [(0, 10, 0, 0), (0, 11, 0, 1), (0, 10, 1, 0), (0, 12, 1, 1),
            (0, 13, 0, 2), (0, 12, 2, 0), (0, 13, 2, 1), (0, 14, 2, 2)]  # fmt: skip
    proposals = proposals_of(rows)
    steps = [(0, 0, 2, 1), (1, 0, 2, 1), (0, 2, 3, 2), (2, 0, 3, 2)]
    changes = find_changes(proposals.model, proposals.rank, steps)
    assert changes.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]
    is_judged = np.array([c in (10, 12) for _, c, _, _ in rows])
    made = difference(proposals, changes, 2, is_judged)
    assert (made.n_pairs_before, made.n_new, made.n_pairs_after) == (3, 2, 5)
    assert (made.n_proposals, made.n_known, made.n_judged) == (4, 1, 1)
    deeper, added = made.by_source
    assert (deeper.model, deeper.n_new, deeper.n_alone, deeper.n_known) == (0, 1, 0, 0)
    assert (added.model, added.n_new, added.n_alone, added.n_known) == (2, 2, 1, 1)
    assert (deeper.n_judged, added.n_judged) == (0, 1)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.integers(1, 3)),
    max_size=20,
    unique_by=lambda row: row[:3],
)


@given(ROWS, st.integers(1, 3))
def test_counts_are_those_of_sets(rows, number):
    proposals = proposals_of([(q, c, m, 0) for q, c, m, _ in rows])
    changes = np.array([change for *_, change in rows], np.int64)
    made = difference(proposals, changes, number, np.ones(len(rows), bool))
    before = {(q, c) for q, c, _, change in rows if change < number}
    mine = {(q, c) for q, c, _, change in rows if change == number}
    assert made.n_pairs_before == len(before)
    assert made.n_new == len(mine - before)
    assert made.n_known == made.n_judged == len(mine & before)
    for row in made.by_source:
        own = {(q, c) for q, c, m, change in rows if change == number and m == row.model}
        others = {(q, c) for q, c, m, change in rows if change == number and m != row.model}
        assert row.n_proposals == len(own)
        assert row.n_new == len(own - before)
        assert row.n_alone == len(own - before - others)


def test_a_later_step_takes_over_and_a_rank_without_a_step_is_an_error():
    model, rank = np.zeros(4, np.int64), np.arange(4)
    steps = [(0, 0, 2, 1), (0, 2, 6, 2), (0, 2, 4, 3)]
    assert find_changes(model, rank, steps).tolist() == [1, 1, 3, 3]
    with pytest.raises(ValueError, match="rank 2 of model 0"):
        find_changes(model, rank, steps[:1])
