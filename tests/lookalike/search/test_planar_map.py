"""Vectors in the plane: near stays near, the same every time, and nothing outside the square."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.search.planar_map import LEAST, planar_map


@pytest.mark.daily  # the layout's code is compiled first: seven seconds of a core
def test_groups_stay_together_and_the_same_seed_gives_the_same_map():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 30)
    vectors = np.eye(4, 16)[group] + rng.normal(0, 0.1, (group.size, 16))
    vectors[0] = 0
    points = planar_map(vectors, seed=3)
    assert points.min() >= 0
    assert points.max() <= 1
    assert np.ptp(points, axis=0).max() == pytest.approx(1)
    apart = np.linalg.norm(points[1:, None] - points[None, 1:], axis=2) + 9 * np.eye(
        len(points) - 1
    )
    nearest = group[1:][apart.argmin(axis=1)]
    assert (nearest == group[1:]).mean() > 0.95
    assert np.array_equal(points, planar_map(vectors, seed=3))
    assert not np.array_equal(points, planar_map(vectors, seed=4))


@pytest.mark.parametrize("n", [0, 1, 2, LEAST - 1])
def test_few_vectors_are_placed_without_a_layout(n: int):
    points = planar_map(np.random.default_rng(n).normal(size=(n, 5)))
    assert points.shape == (n, 2)
    assert ((points >= 0) & (points <= 1)).all()


def test_vectors_that_are_all_the_same_lie_in_the_middle():
    assert planar_map(np.ones((6, 3))).tolist() == [[0.5, 0.5]] * 6
    assert planar_map(np.zeros((6, 1))).tolist() == [[0.5, 0.5]] * 6


@pytest.mark.parametrize("bad", [np.zeros(3), np.full((2, 2), np.nan), np.full((2, 2), np.inf)])
def test_what_are_no_vectors_is_refused(bad: np.ndarray):
    with pytest.raises(ValueError, match="finite vectors"):
        planar_map(bad)
