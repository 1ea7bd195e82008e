"""Vectors laid out in the plane by triplets, so that far groups, too, lie as they are: TriMap."""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Float32s, Floats, Ints
from lookalike.core.progress import SILENT, Progress
from lookalike.search.planar_map import in_unit_square, nearest_others, principal_plane

N_INLIERS, N_OUTLIERS, N_RANDOM = 12, 4, 3
N_EXTRA = 50  # neighbours among which the inliers are chosen, beyond their number
LEAST = N_INLIERS + 3  # points; of fewer, none is far enough to be an outlier
RANDOM_WEIGHT = 0.1
N_STEPS = 400
RATE = 0.1
START_SIZE = 0.01
SWITCH_STEP, FIRST_MOMENTUM, LAST_MOMENTUM = 250, 0.5, 0.8
MORE_GAIN, LESS_GAIN, LEAST_GAIN = 0.2, 0.8, 0.01


def triplet_map(units: Float32s, *, seed: int = 0, progress: Progress = SILENT) -> Float32s:
    """Lay unit vectors out in the unit square so that the nearer of two is nearer there (TriMap).

    E. Amid and M. K. Warmuth: TriMap (arXiv:1910.00204), with the settings of their code, over
    exact neighbours. Unlike theirs it draws from a seed and adds up in one order: the same vectors
    and seed give the same map.

    Args:
        units: shape (n, d), rows of length 1, finite.
        seed: of the triplets that are drawn.
        progress: told how many neighbours are found, then how many steps are done.

    Returns:
        Shape (n, 2), in [0, 1]; both axes have one scale. Fewer than fifteen vectors are shown by
        their principal components alone.

    Raises:
        ValueError: not two-dimensional, or holding NaN or infinity.

    >>> corners = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    >>> points = triplet_map(corners)
    >>> bool(np.ptp(points[:10]) < np.ptp(points[:20]))
    True
    """
    if units.ndim != 2 or not np.isfinite(units).all():
        raise ValueError(f"Expected finite vectors (n, d), got shape {units.shape}.")
    start = principal_plane(units)
    if len(units) < LEAST:
        return in_unit_square(start)
    triplets, weights = _triplets(units, np.random.default_rng(seed), progress)
    return in_unit_square(_descend(start * START_SIZE, triplets, weights, progress))


def triplet_loss(points: Floats, triplets: Ints, weights: Floats) -> tuple[float, Floats]:
    """Return the loss of a layout and its gradient, halved as the authors' code has it.

    Args:
        points: shape (n, 2).
        triplets: shape (m, 3): a point, a nearer one, a farther one.
        weights: shape (m,).

    Returns:
        sum of w d_near / (d_near + d_far), d = 1 + squared distance; and shape (n, 2).
    """
    i, near, far = triplets.T
    to_near, to_far = points[i] - points[near], points[i] - points[far]
    d_near = 1 + np.einsum("td,td->t", to_near, to_near)
    d_far = 1 + np.einsum("td,td->t", to_far, to_far)
    share = weights / (d_near + d_far) ** 2
    pull = to_near * (d_far * share)[:, None]
    push = to_far * (d_near * share)[:, None]
    gradient = np.empty_like(points)
    for axis in range(points.shape[1]):
        gradient[:, axis] = (
            np.bincount(i, pull[:, axis] - push[:, axis], len(points))
            - np.bincount(near, pull[:, axis], len(points))
            + np.bincount(far, push[:, axis], len(points))
        )
    return float((weights * d_near / (d_near + d_far)).sum()), gradient


def _triplets(units: Float32s, rng: np.random.Generator, progress: Progress) -> tuple[Ints, Floats]:
    """Return triplets of neighbours and random ones, and how much each weighs."""
    n = len(units)
    others, cosine_distances = nearest_others(units, N_INLIERS + N_EXTRA, progress)
    squared = 2 * cosine_distances.astype(np.float64)
    scale = np.maximum(np.sqrt(squared[:, 3:6]).mean(axis=1), 1e-10)

    def nearness(a: Ints, b: Ints, distances: Floats | None = None) -> Floats:
        if distances is None:
            distances = 2 - 2 * np.einsum("td,td->t", units[a], units[b]).astype(np.float64)
        found: Floats = -np.maximum(distances, 0) / (scale[a] * scale[b])
        return found

    points: Ints = np.arange(n, dtype=np.int64)
    among = nearness(
        np.repeat(points, others.shape[1]), others.ravel().astype(np.int64), squared.ravel()
    )
    among = among.reshape(others.shape)
    among[:, 0] = np.inf  # itself comes first, whatever lies where it does
    order = np.argsort(-among, axis=1, kind="stable")[:, : N_INLIERS + 1]
    nearest = np.take_along_axis(others, order, axis=1).astype(np.int64)
    far = _outliers(nearest, n, rng)
    i = np.repeat(points, N_INLIERS * N_OUTLIERS)
    near = np.repeat(nearest[:, 1:].ravel(), N_OUTLIERS)
    near_weights = np.repeat(np.take_along_axis(among, order, axis=1)[:, 1:].ravel(), N_OUTLIERS)
    weights = near_weights - nearness(i, far.ravel())
    drawn = np.repeat(points, N_RANDOM)
    two = (drawn[:, None] + 1 + _two_of(n - 1, len(drawn), rng)) % n  # any two others
    first, second = nearness(drawn, two[:, 0]), nearness(drawn, two[:, 1])
    two[second > first] = two[second > first][:, ::-1]
    triplets = np.vstack([np.stack([i, near, far.ravel()], axis=1), np.column_stack([drawn, two])])
    weights = np.concatenate([weights, RANDOM_WEIGHT * np.abs(first - second)])
    return triplets, 2 * (np.sqrt(1 + weights - weights.min()) - 1)  # tempered log, t = 1/2


def _outliers(nearest: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Draw, for each neighbour of a point, points that are not nearer; shape (n, inliers, 4)."""
    far = rng.integers(n, size=(n, N_INLIERS, N_OUTLIERS))
    is_nearer = np.tril(np.ones((N_INLIERS, N_INLIERS + 1), bool), 1)  # and the neighbour itself
    while True:
        same = far[..., None] == nearest[:, None, None, :]
        wrong = (same & is_nearer[None, :, None, :]).any(axis=-1)
        if not wrong.any():
            return far
        far[wrong] = rng.integers(n, size=int(wrong.sum()))


def _two_of(n: int, size: int, rng: np.random.Generator) -> Ints:
    """Draw two different numbers below n, shape (size, 2)."""
    first, second = rng.integers(n, size=size), rng.integers(n - 1, size=size)
    return np.stack([first, second + (second >= first)], axis=1)


def _descend(start: Float32s, triplets: Ints, weights: Floats, progress: Progress) -> Float32s:
    """Return the layout after a gradient descent with momentum and a gain for each number."""
    points = start.astype(np.float64)
    speed, gain = np.zeros_like(points), np.ones_like(points)
    progress.start(0, N_STEPS, "Laying the images out")
    for step in range(N_STEPS):
        momentum = LAST_MOMENTUM if step > SWITCH_STEP else FIRST_MOMENTUM
        gradient = triplet_loss(points + momentum * speed, triplets, weights)[1]
        turned = np.sign(speed) != np.sign(gradient)
        gain = np.where(turned, gain + MORE_GAIN, np.maximum(gain * LESS_GAIN, LEAST_GAIN))
        speed = momentum * speed - RATE * gain * gradient
        points += speed
        progress.update(step + 1)
    return points.astype(np.float32)
