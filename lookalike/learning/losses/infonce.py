"""InfoNCE: of all targets of a batch, each query shall find its own."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from lookalike.core.errors import Refused


def infonce(queries: torch.Tensor, targets: torch.Tensor, *, scale: float = 100.0) -> torch.Tensor:
    """Return the loss of queries, one for each target, in this direction alone.

    Source: van den Oord, Li and Vinyals (2018); as in Vaze et al., "GeneCIS" (CVPR 2023), with
    temperature 1 / `scale` = 0.01.

    >>> infonce(torch.eye(2), torch.eye(2).flip(0)).item()
    100.0

    Args:
        queries: unit vectors, shape (B, d).
        targets: unit vectors, shape (B, d); of query i, target i is right.
        scale: of the cosines.

    Raises:
        Refused: not one target for each query.
    """
    if queries.shape != targets.shape:
        raise Refused("targets", f"{tuple(targets.shape)} for queries {tuple(queries.shape)}")
    rows = torch.arange(len(queries), device=queries.device)
    return cross_entropy(scale * (queries @ targets.T), rows)
