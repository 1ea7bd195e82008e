"""A mixture of conditions: what a triplet is about is weighed by what each map makes of it."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import logsigmoid

SCALE = 10.0  # of cosines
TEMPERATURE = 0.3  # of the shares; 1 is plain EM


def log_likelihoods(
    parts: torch.Tensor, *, is_by_order: bool = False, scale: float = SCALE
) -> torch.Tensor:
    """Return how likely each condition finds what triplets say, as logarithms, shape (n, K).

    A condition shall find an anchor's closer image among those of all triplets of the batch and
    the anchor's own farther image. In whatever respect two images are alike, few others of the
    batch are alike in it, so this tells conditions apart where the order of two candidates
    hardly does.

    >>> same, other = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    >>> anchor, closer, farther = (torch.stack(two) for two in
    ...                            ([same, same], [same, other], [other, same]))
    >>> found = log_likelihoods(torch.stack([anchor, closer, farther])[:, None])
    >>> [round(value) for value in found[0].tolist()]  # it is not about the second condition
    [0, -10]

    Args:
        parts: unit vectors of anchors, closer and farther images under each condition, shape
            (3, n, K, dim).
        is_by_order: look at the triplet's own two candidates alone.
        scale: of the cosines.
    """
    anchors, closer, farther = parts
    far = scale * (anchors * farther).sum(dim=-1)
    if is_by_order:
        return logsigmoid(scale * (anchors * closer).sum(dim=-1) - far)
    found = scale * anchors.transpose(0, 1) @ closer.permute(1, 2, 0)
    near = found.diagonal(dim1=1, dim2=2).T
    return torch.as_tensor(near - torch.logaddexp(found.logsumexp(dim=2).T, far))


def shares(logarithms: torch.Tensor, temperature: float = TEMPERATURE) -> torch.Tensor:
    """Return how far each triplet is taken to be about each condition, rows summing to 1.

    >>> shares(torch.tensor([[-1.0, -1.0], [0.0, -9.0]])).tolist()
    [[0.5, 0.5], [1.0, 9.3...e-14]]

    Args:
        logarithms: of likelihoods, shape (n, K).
        temperature: of the shares.
    """
    return (logarithms / temperature).softmax(dim=1)


def mixture_loss(logarithms: torch.Tensor, temperature: float = TEMPERATURE) -> torch.Tensor:
    """Return the loss of triplets of which each is about one of K conditions that weigh the same.

    Its slope is that of the likelihoods, weighted by `shares`: a step of generalised EM, E and M
    in one (Neal and Hinton, 1998), annealed as by Ueda and Nakano (1998).

    >>> round(mixture_loss(torch.tensor([[0.0, -50.0]])).item(), 4)  # 0.3 log 2
    0.2079

    Args:
        logarithms: of likelihoods, shape (n, K).
        temperature: of the shares; 1 is plain EM.
    """
    n_conditions = logarithms.shape[1]
    together = temperature * (logarithms / temperature).logsumexp(dim=1)
    return temperature * math.log(n_conditions) - together.mean()
