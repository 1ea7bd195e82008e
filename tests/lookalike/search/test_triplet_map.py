"""TriMap: the gradient is that of the loss, groups stay together, a seed is a map."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.core.arrays import Float32s
from lookalike.search.triplet_map import LEAST, triplet_loss, triplet_map


def groups(n_each: int, n_groups: int = 4) -> Float32s:
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.standard_normal((n_groups, 16)), n_each, axis=0)
    rows = centres + 0.3 * rng.standard_normal(centres.shape)
    units: Float32s = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units


def test_the_loss_by_hand():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    loss, _ = triplet_loss(points, np.array([[0, 1, 2]]), np.array([3.0]))
    assert loss == pytest.approx(3 * 2 / (2 + 5))


def test_the_gradient_is_half_of_what_the_loss_changes_by():
    rng = np.random.default_rng(1)
    points, weights = rng.standard_normal((6, 2)), rng.random(9)
    triplets = np.array([rng.permutation(6)[:3] for _ in range(9)])
    gradient = triplet_loss(points, triplets, weights)[1]
    for place in np.ndindex(points.shape):
        step = np.zeros_like(points)
        step[place] = 1e-6
        ahead, behind = (triplet_loss(points + s * step, triplets, weights)[0] for s in (1, -1))
        assert gradient[place] == pytest.approx((ahead - behind) / 4e-6, abs=1e-7)


def test_a_neighbour_on_the_map_is_of_the_same_group_and_a_seed_is_a_map():
    rows, labels = groups(25), np.repeat(np.arange(4), 25)
    points = triplet_map(rows)
    assert points.min() >= 0
    assert points.max() <= 1
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(far, np.inf)
    assert (labels[far.argmin(axis=1)] == labels).mean() == 1.0
    assert triplet_map(rows).tobytes() == points.tobytes()
    assert triplet_map(rows, seed=1).tobytes() != points.tobytes()


@pytest.mark.parametrize("n", [0, 1, 2, LEAST - 1, LEAST, LEAST + 1])
def test_few_or_equal_vectors_are_laid_out_too(n):
    for rows in (groups(n, 1), np.tile(np.array([[1, 0]], np.float32), (n, 1))):
        points = triplet_map(rows)
        assert points.shape == (n, 2)
        assert np.isfinite(points).all()


def test_vectors_with_nan_are_refused():
    with pytest.raises(ValueError, match="finite"):
        triplet_map(np.full((20, 2), np.nan, np.float32))
