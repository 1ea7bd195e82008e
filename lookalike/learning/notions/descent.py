"""Gradient descent on all data at once, until nothing has been gained for a while."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.adam import Adam
from lookalike.learning.engine.determinism import one_thread

PATIENCE = 100
MOST_ITERATIONS = 20_000  # the code of the paper has no end; its runs take 100 to 10,000
LEARNING_RATE = 0.01


@dataclass(frozen=True)
class Descent:
    """The best that a descent came to.

    Attributes:
        loss: the lowest.
        best: iteration, from 0, at which it was first reached.
        last: the last iteration at which the loss was looked at.
        state: the parameters that had the lowest loss.
    """

    loss: float
    best: int
    last: int
    state: list[torch.Tensor]


def descend(
    parameters: Sequence[torch.Tensor],
    loss_of: Callable[[], torch.Tensor],
    *,
    weight_decay: float = 0.0,
    n_most: int = MOST_ITERATIONS,
    progress: Progress = SILENT,
) -> Descent:
    """Follow the gradient by Adam until `PATIENCE` iterations have not lowered the loss.

    Source: the code of InDiReCT (Kobs et al., WACV 2023). Each iteration looks at the loss
    first; any gain counts, and what is kept are the parameters before the step.

    Args:
        parameters: changed in place.
        loss_of: their loss, a scalar.
        weight_decay: Adam's L2 penalty.
        n_most: iterations at most.
        progress: told the iterations; may raise to stop.

    Raises:
        Refused: the loss is no number.
    """
    adam = Adam(parameters, LEARNING_RATE, weight_decay=weight_decay)
    loss, best, last, state = float("inf"), 0, 0, list(parameters)
    with one_thread(), torch.enable_grad():
        for iteration in range(n_most):
            last = iteration
            value = loss_of()
            now = float(value.detach())
            if math.isnan(now):
                raise Refused("vectors", "the fit came to no number; look at the vectors")
            if now < loss:
                loss, best = now, iteration
                state = [parameter.detach().clone() for parameter in parameters]
            elif iteration - best >= PATIENCE:
                break
            adam.step(value)
            progress.update(iteration + 1)
    return Descent(loss, best, last, state)
