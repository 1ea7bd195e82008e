"""Margin loss, and the mining of triplets by distance that belongs to it."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import relu

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.learning.losses.pairs import check_batch

BOUNDARY, MARGIN = 1.2, 0.2
NEAREST = 0.5  # distances below weigh like it
FARTHEST = 1 - 1e-6  # of d²/4: beyond, the weight of an opposite vector would be infinite


def margin_loss(
    near: torch.Tensor, far: torch.Tensor, boundaries: torch.Tensor, *, margin: float = MARGIN
) -> torch.Tensor:
    """Return the loss of triplets: one class inside its boundary, all others outside.

    Source: Wu et al., "Sampling Matters in Deep Embedding Learning" (ICCV 2017), equation 4. The
    sum is divided by the triplets of which either part is not 0, as in the code of Roth et al.
    (CVPR 2022); counting both parts apart would halve it.

    >>> near, far = torch.tensor([1.3, 0.5]), torch.tensor([1.1, 1.6])
    >>> round(margin_loss(near, far, torch.full((2,), 1.2)).item(), 6)
    0.6

    Args:
        near: distances of anchors to positives, shape (n,), as `sides_of`.
        far: to negatives.
        boundaries: within which the anchors' classes lie, shape (n,); may be learnt.
        margin: on either side of the boundary.

    Returns:
        A number; 0 where no triplet is wrong.
    """
    inside = relu(near - boundaries + margin)
    outside = relu(boundaries - far + margin)
    n = ((inside > 0) | (outside > 0)).sum().clamp(min=1)
    return (inside + outside).sum() / n


def distance_weighted(
    vectors: torch.Tensor,
    labels: torch.Tensor,
    rng: np.random.Generator,
    *,
    cosines: torch.Tensor | None = None,
) -> torch.Tensor:
    """Draw a triplet for each image, its negative as likely near as far away.

    Source: Wu et al. (ICCV 2017), equation 3. An image that is alone in its class is its own
    positive; one without a negative has no triplet.

    Args:
        vectors: unit vectors, shape (B, d).
        labels: their classes, shape (B,).
        rng: of the draw.
        cosines: of the vectors, shape (B, B), where they are there already.

    Returns:
        Rows of anchor, positive and negative, shape (at most B, 3).

    Raises:
        Refused: labels of another shape.
    """
    check_batch(vectors, labels)
    E, classes = vectors.detach(), labels.cpu().numpy()
    cosines = E @ E.T if cosines is None else cosines.detach()
    squares = (2 - 2 * cosines).clamp(min=0).cpu().numpy()
    same = classes[:, None] == classes
    weights = negative_weights(np.sqrt(squares), ~same, E.shape[1])
    np.fill_diagonal(same, val=False)
    alone = np.flatnonzero(~same.any(axis=1))
    same[alone, alone] = True
    kept = np.flatnonzero(weights.any(axis=1))
    found = np.stack([kept, _draw(same[kept], rng), _draw(weights[kept], rng)], 1)
    return torch.from_numpy(found).to(labels.device)


def negative_weights(apart: Floats, is_negative: Bools, dim: int) -> Floats:
    """Return how likely each image is the negative of each: uniform over distances.

    >>> row = np.array([[0.3, 0.7, 1.0, 1.3]])
    >>> negative_weights(row, np.ones((1, 4), bool), 4).round(6)
    array([[0.501166, 0.264294, 0.14008 , 0.094459]])

    Args:
        apart: distances of unit vectors, shape (n, m).
        is_negative: shape (n, m).
        dim: length of the vectors.

    Returns:
        Shape (n, m); rows sum to 1, or to 0 where there is no negative.
    """
    d = np.maximum(apart, NEAREST)
    logs = (2 - dim) * np.log(d) - (dim - 3) / 2 * np.log1p(-np.minimum(d * d / 4, FARTHEST))
    logs = np.where(is_negative, logs, -np.inf)
    top = logs.max(axis=1, keepdims=True, initial=-np.inf)
    weights: Floats = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return weights


def _draw(weights: Floats | Bools, rng: np.random.Generator) -> Ints:
    """Draw a column of each row, by its weights."""
    sums = weights.cumsum(axis=1, dtype=np.float64)
    found: Ints = (sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=1)
    return found
