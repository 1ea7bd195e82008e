"""Which pairs of a batch are of one class."""

from __future__ import annotations

from typing import NamedTuple

import torch

from lookalike.core.errors import Refused

EPSILON = 1e-8  # of squared distances, so that their root has a slope


class Pairs(NamedTuple):
    """Masks of shape (B, B); an image is no pair with itself."""

    same: torch.Tensor
    other: torch.Tensor


def pairs_of(labels: torch.Tensor) -> Pairs:
    """Return which images of a batch are of one class and which are not.

    >>> pairs_of(torch.tensor([0, 0, 1])).same.int().tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]

    Args:
        labels: classes, shape (B,), whole numbers.
    """
    same = labels[:, None] == labels[None]
    other = ~same
    return Pairs(same.fill_diagonal_(fill_value=False), other)


class Sides(NamedTuple):
    """Distances of anchors to positives and to negatives, shape (n,), or (n, K) of K conditions."""

    near: torch.Tensor
    far: torch.Tensor


def distances(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the Euclidean distances of vectors; at least 1e-4, so that they have a slope.

    >>> distances(torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 4.0]])).item()
    5.0

    Args:
        a: points, shape (..., d).
        b: others, of the same shape.

    Returns:
        Shape (...).
    """
    return ((a - b).square().sum(dim=-1) + EPSILON).sqrt()


def sides_of(vectors: torch.Tensor, triplets: torch.Tensor) -> Sides:
    """Return how far apart the images of triplets are; at least 1e-4.

    >>> E = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> [round(side.item(), 4) for side in sides_of(E, torch.tensor([[0, 1, 2]]))]
    [0.0001, 1.4142]

    Args:
        vectors: shape (B, d).
        triplets: rows of anchor, positive and negative, shape (n, 3).
    """
    anchors, positives, negatives = vectors[triplets.T]
    return Sides(distances(anchors, positives), distances(anchors, negatives))


def check_batch(vectors: torch.Tensor, labels: torch.Tensor) -> None:
    """Refuse a batch from which no loss of pairs can be computed.

    Raises:
        Refused: the labels are not one for each vector.
    """
    if vectors.ndim != 2 or labels.shape != vectors.shape[:1]:
        reason = f"{tuple(labels.shape)} labels for vectors of shape {tuple(vectors.shape)}"
        raise Refused("labels", reason)
