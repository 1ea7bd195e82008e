"""The triplet loss, of distances or of their squares."""

from __future__ import annotations

import torch
from torch.nn.functional import relu


def triplet_loss(near: torch.Tensor, far: torch.Tensor, *, margin: float = 0.2) -> torch.Tensor:
    """Return by how much the farther image is too near, on average.

    Source: Schroff, Kalenichenko and Philbin, "FaceNet" (CVPR 2015), equation 3, with squared
    distances; Ye, Shi and Zhan (CVPR 2022) train with distances as they are.

    >>> triplet_loss(torch.tensor([0.5, 0.0]), torch.tensor([0.5, 1.0])).item()
    0.1...

    Args:
        near: distances of anchors to what is like them, shape (n,).
        far: to what is not.
        margin: by how much those shall be larger.
    """
    return relu(near - far + margin).mean()
