"""Multisimilarity: every pair weighs by how wrong it is among those of its image."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch.nn.functional import softplus

from lookalike.core.errors import Refused
from lookalike.learning.losses.pairs import check_batch, pairs_of

Form = Literal["official", "original"]
LEAST = -1e9  # stands for a pair that does not count: its exponential is 0, and its slope


def multisimilarity(
    vectors: torch.Tensor,
    labels: torch.Tensor,
    *,
    alpha: float = 2.0,
    beta: float = 40.0,
    base: float = 0.5,
    epsilon: float = 0.1,
    form: Form = "official",
    judged: torch.Tensor | None = None,
    cosines: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the loss of a batch.

    Source: Wang et al., "Multi-Similarity Loss with General Pair Weighting" (CVPR 2019),
    equations 10 to 12; `form="official"` is the loss with which Roth, Vinyals and Akata (CVPR
    2022) and their predecessors have trained: it takes the logarithm a second time, of the mean
    over the batch. A pair counts if it is harder than the easiest one of the other sort, less
    `epsilon`, by its cosine or by what `judged` says in its place (their equation S1). An image
    without a pair of one sort counts for neither and is part of the mean.

    >>> E = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]])
    >>> round(multisimilarity(E, torch.tensor([0, 0, 1, 1])).item(), 6)
    0.634247

    Args:
        vectors: unit vectors, shape (B, d).
        labels: their classes, shape (B,), whole numbers.
        alpha: steepness for pairs of one class.
        beta: steepness for pairs of two.
        base: cosine where neither counts more.
        epsilon: of the choice of pairs.
        form: official or original.
        judged: by which a pair is held against the other sort's cosines, shape (B, B).
        cosines: of the vectors, shape (B, B), where another loss has them already.

    Returns:
        A number, 0 or more.

    Raises:
        Refused: labels of another shape, or a form that is not known.
    """
    check_batch(vectors, labels)
    if form not in ("official", "original"):
        raise Refused("form", f"{form!r} is neither official nor original")
    cosines = vectors @ vectors.T if cosines is None else cosines
    with torch.no_grad():
        same, other = pairs_of(labels)
        hardest = cosines.masked_fill(~other, -torch.inf).amax(dim=1, keepdim=True)
        easiest = cosines.masked_fill(~same, torch.inf).amin(dim=1, keepdim=True)
        by = cosines if judged is None else judged
        same &= by < hardest + epsilon
        other &= by > easiest - epsilon
    near = _log_sum(cosines, same, -alpha, base)
    far = _log_sum(cosines, other, beta, base)
    if form == "official":
        return softplus(near.mean()) / alpha + softplus(far.mean()) / beta
    return (near / alpha + far / beta).mean()


class _LogSum(torch.autograd.Function):
    """log(1 + sum of exp(steepness * (cosine - base))) of what counts in each row.

    Its slope is worked out here, in half the time that taking apart each of its steps takes.
    """

    @staticmethod
    def forward(
        ctx: Any, cosines: torch.Tensor, counts: torch.Tensor, steepness: float, base: float
    ) -> torch.Tensor:
        logits = (cosines - base).mul_(steepness).masked_fill_(~counts, LEAST)
        found = softplus(logits.logsumexp(dim=1))
        ctx.save_for_backward(logits, found)
        ctx.steepness = steepness
        return found

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        logits, found = ctx.saved_tensors
        shares = (logits - found[:, None]).exp_()
        return shares.mul_(ctx.steepness * slope[:, None]), None, None, None


def _log_sum(
    cosines: torch.Tensor, counts: torch.Tensor, steepness: float, base: float
) -> torch.Tensor:
    found: torch.Tensor = _LogSum.apply(cosines, counts, steepness, base)
    return found
