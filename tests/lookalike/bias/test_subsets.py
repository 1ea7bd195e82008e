"""What is left of a pool: the EDS toy, golden case G5, properties on random pools."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lookalike.bias.subsets import (
    kept_at_depth,
    kept_without,
    kept_without_contributions,
    leave_out_sets,
)
from tests.lookalike.bias.cases import g5, random_pool

# EDS toy, k = 2: m1 proposes c0 c1, m2 c1 c3, m3 c4 c1; rows are c0, c1, c3, c4.
TOY = np.array([[1, 0, 0], [1, 1, 1], [0, 1, 0], [0, 0, 1]], dtype=bool)
CONTRIBUTED = arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 5))).map(
    lambda a: a | ~a.any(axis=1, keepdims=True)
)


def named(kept):
    return {name for name, is_kept in zip(("c0", "c1", "c3", "c4"), kept, strict=True) if is_kept}


def test_the_toys_two_meanings_of_leaving_one_out_differ():
    assert named(kept_without(TOY, 0)) == {"c1", "c3", "c4"}
    assert named(kept_without_contributions(TOY, 0)) == {"c3", "c4"}


@given(CONTRIBUTED)
@settings(max_examples=60, deadline=None)
def test_uniques_keep_what_contributions_keep_and_more(contributed):
    for m in range(contributed.shape[1]):
        uniques, strict = kept_without(contributed, m), kept_without_contributions(contributed, m)
        assert (uniques >= strict).all()
        assert (uniques & ~strict == contributed[:, m] & (contributed.sum(axis=1) > 1)).all()
        alone = contributed[:, m] & (contributed.sum(axis=1) == 1)
        assert (~uniques == alone).all()
        assert (kept_without(contributed, m, m) == uniques).all()
    assert not kept_without(contributed, *range(contributed.shape[1])).any()


def test_a_family_takes_what_its_members_take_together():
    assert named(kept_without(TOY, 0, 2)) == {"c1", "c3"}


def test_shallower_pools_nest():
    pool = random_pool(0)
    smaller = kept_at_depth(pool.ranks, 1)
    for depth in range(2, pool.depth + 1):
        larger = kept_at_depth(pool.ranks, depth)
        assert (larger >= smaller).all()
        assert larger.sum() > smaller.sum()
        smaller = larger
    assert smaller.all()


def test_every_set_of_the_golden_pool_is_named_and_as_large_as_by_hand():
    sets = leave_out_sets(g5())
    assert [(s.kind, s.name, int(s.kept.sum())) for s in sets] == [
        ("full", "", 10),
        ("uniques", "A", 8),
        ("uniques", "B", 8),
        ("uniques", "C", 6),
        ("contributions", "A", 6),
        ("contributions", "B", 6),
        ("contributions", "C", 6),
        ("family", "A", 8),
        ("family", "B", 8),
        ("family", "C", 6),
    ]


def test_related_generators_leave_together():
    sets = leave_out_sets(g5(families={"A": "x", "C": "x"}))
    families = [(s.name, s.left_out, int(s.kept.sum())) for s in sets if s.kind == "family"]
    assert families == [("x", ("A", "C"), 4), ("B", ("B",), 8)]


@pytest.mark.parametrize("leave_out", [kept_without, kept_without_contributions])
def test_impossible_pools_are_refused(leave_out):
    with pytest.raises(ValueError, match="shape"):
        leave_out(TOY[0], 0)
    with pytest.raises(ValueError, match="no system"):
        leave_out(TOY & False, 0)
    with pytest.raises(ValueError, match="no system 3"):
        leave_out(TOY, 3)
    with pytest.raises(ValueError, match="depth"):
        kept_at_depth(TOY.T.astype(int), 0)
