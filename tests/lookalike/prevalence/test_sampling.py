"""Strata, allocation and the draw itself."""

import numpy as np
import pytest

from lookalike.prevalence.sampling import allocate, draw, rank_strata

SIZES, EXPECTED = [20_000, 200_000, 105_100_000], [0.3, 0.1, 0.0007]


def test_strata_begin_below_the_pool_and_cover_every_rank_once():
    strata = rank_strata(6)
    assert [s.name for s in strata] == [
        "ranks 7-20",
        "ranks 21-100",
        "ranks 101-500",
        "below rank 500",
    ]
    assert [(s.first, s.last) for s in strata] == [(7, 20), (21, 100), (101, 500), (501, None)]


def test_a_deep_pool_drops_the_strata_it_covers():
    assert [s.name for s in rank_strata(100)] == ["ranks 101-500", "below rank 500"]
    with pytest.raises(ValueError, match="rise"):
        rank_strata(6, (100, 20))


def test_neyman_sends_nearly_everything_to_the_deep_stratum():
    assert allocate(SIZES, 2000, "total", EXPECTED) == [6, 42, 1952]


def test_validity_shares_equally_above_the_deep_stratum():
    assert allocate(SIZES, 2000, "validity") == [1000, 1000, 0]


def test_both_aims_get_half_the_labels_each():
    assert allocate(SIZES, 2000, "both", EXPECTED) == [503, 521, 976]


@pytest.mark.parametrize("aim", ["total", "validity", "both"])
def test_budget_is_spent_and_no_stratum_overdrawn(aim):
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(1, 400, 4).tolist()
        budget = int(rng.integers(0, 1200))
        parts = allocate(sizes, budget, aim, [0.3, 0.2, 0.1, 0.01])
        assert sum(parts) == min(budget, sum(sizes))
        assert all(0 <= n <= size for n, size in zip(parts, sizes, strict=True))


def test_bad_allocations_are_refused():
    with pytest.raises(ValueError, match="expected"):
        allocate(SIZES, 10, "total")
    with pytest.raises(ValueError, match="fit"):
        allocate(SIZES, 10, "total", [0.1])
    with pytest.raises(ValueError, match="both positives and negatives"):
        allocate(SIZES, 10, "total", [0, 1, 0])
    with pytest.raises(ValueError, match="negative"):
        allocate(SIZES, -1, "validity")


def test_a_draw_is_distinct_seeded_and_spread_over_queries():
    sizes = np.full(500, 40)
    found = draw(sizes, 400, np.random.default_rng(1))
    again = draw(sizes, 400, np.random.default_rng(1))
    assert (found.queries == again.queries).all()
    assert (found.positions == again.positions).all()
    assert np.bincount(found.queries).max() == 1
    assert found.inclusion == 400 / 20_000
    crowded = draw(sizes, 1100, np.random.default_rng(2))
    assert set(np.bincount(crowded.queries, minlength=500)) == {2, 3}
    pairs = {(q, p) for q, p in zip(crowded.queries, crowded.positions, strict=True)}
    assert len(pairs) == 1100
    assert (crowded.positions < 40).all()


def test_every_pair_has_the_same_chance_whatever_its_query_holds():
    sizes = np.array([1, 10, 3, 0, 6])
    drawn = np.zeros((5, 10))
    rng = np.random.default_rng(3)
    for _ in range(20_000):
        found = draw(sizes, 7, rng)
        drawn[found.queries, found.positions] += 1
    for q, size in enumerate(sizes):
        assert drawn[q, :size] / 20_000 == pytest.approx(7 / 20, abs=0.02)
        assert (drawn[q, size:] == 0).all()


def test_any_two_queries_can_be_drawn_together():
    rng = np.random.default_rng(4)
    together = {tuple(sorted(draw(np.ones(4), 2, rng).queries)) for _ in range(200)}
    assert len(together) == 6


def test_a_draw_of_everything_is_a_census_and_of_nothing_empty():
    sizes = np.array([2, 0, 3])
    found = draw(sizes, 5, np.random.default_rng(0))
    assert np.bincount(found.queries, minlength=3).tolist() == [2, 0, 3]
    assert found.inclusion == 1
    assert draw(sizes, 0, np.random.default_rng(0)).queries.size == 0
    with pytest.raises(ValueError, match="cannot draw"):
        draw(sizes, 6, np.random.default_rng(0))
