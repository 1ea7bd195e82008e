"""S2SD: a small embedding learns from larger ones, which share its network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import log_softmax, normalize

from lookalike.core.errors import Refused


@dataclass(frozen=True)
class Distillation:
    """How much an embedding follows what is larger than it.

    Attributes:
        weight: of the branches' similarities.
        feature_weight: of the network's own features.
        temperature: of all distributions.
    """

    weight: float = 1.0
    feature_weight: float = 1.0
    temperature: float = 1.0


def s2sd(
    loss: Callable[[torch.Tensor], torch.Tensor],
    small: torch.Tensor,
    branches: Sequence[torch.Tensor],
    features: torch.Tensor,
    settings: Distillation | None = None,
) -> torch.Tensor:
    """Return the loss of an embedding and of its branches, and of how it follows them.

    Source: Roth et al., "Simultaneous Similarity-based Self-Distillation for Deep Metric
    Learning" (ICML 2021), equations 4 to 6. Branches and features teach and are not taught by it.

    Args:
        loss: of unit vectors of this batch.
        small: unit vectors, shape (B, d).
        branches: unit vectors of the branches, each of shape (B, d_t).
        features: of the network, shape (B, f), of any length.
        settings: weights; defaults if None.

    Raises:
        Refused: no branch.
    """
    if not branches:
        raise Refused("branches", "S2SD needs a branch to learn from")
    settings = settings or Distillation()
    T = settings.temperature
    total = (loss(small) + torch.stack([loss(branch) for branch in branches]).mean()) / 2
    own = small @ small.T
    if settings.weight:
        follows = [follow(own, branch @ branch.T, T) for branch in branches]
        total = total + settings.weight * torch.stack(follows).mean()
    if settings.feature_weight:
        rows = normalize(features.detach(), dim=1)
        total = total + settings.feature_weight * follow(own, rows @ rows.T, T)
    return total


def follow(own: torch.Tensor, teacher: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Return the divergence of a teacher's similarities from one's own, a mean over rows.

    >>> follow(torch.zeros(2, 2), torch.zeros(2, 2)).item()
    0.0

    Args:
        own: similarities, shape (B, B).
        teacher: as `own`; learns nothing.
        temperature: of both; the divergence is multiplied by its square.
    """
    wanted = log_softmax(teacher.detach() / temperature, dim=1)
    found = log_softmax(own / temperature, dim=1)
    return temperature**2 * (wanted.exp() * (wanted - found)).sum() / len(own)
