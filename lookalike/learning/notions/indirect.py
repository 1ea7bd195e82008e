"""InDiReCT: the directions in which prompts differ, as a projection of pictures' vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch.nn.functional import normalize

from lookalike.core.arrays import Float32s
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.determinism import normal, stream
from lookalike.learning.notions.closed_forms import span_weight
from lookalike.learning.notions.descent import MOST_ITERATIONS, descend
from lookalike.learning.projection import Layer, Layers, check_vectors

INIT_STD = 0.1
_EDGE = 1e-7  # from ±1, where the slope of arccos would be infinite
_SLOPE = math.acos(1.0 - _EDGE) / _EDGE


@dataclass(frozen=True)
class IndirectFit:
    """A fitted projection and how it was reached.

    Attributes:
        projection: the best.
        loss: its mean angle in radians between prompts and what is reconstructed of them.
        best: iteration at which it was reached.
        last: the last iteration that was tried.
    """

    projection: Layers
    loss: float
    best: int
    last: int


def safe_arccos(x: torch.Tensor) -> torch.Tensor:
    """Return arccos with a finite slope everywhere, and exactly 0 at 1.

    Within 1e-7 of ±1 it is a straight line, and beyond them that line goes on.
    """
    inside = torch.arccos(x.clamp(-1.0 + _EDGE, 1.0 - _EDGE))
    line = _SLOPE * (1.0 - x.abs())
    line = torch.where(x > 0, line, math.pi - line)
    return torch.where(x.abs() > 1.0 - _EDGE, line, inside)


def indirect_loss(U: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
    """Return the mean angle, in [0, π], between unit rows and their reconstructions.

    Args:
        U: shape (r', r).
        X: shape (n, r), rows of length 1.
    """
    Z = normalize(X @ U.T, dim=1)
    return safe_arccos((X * normalize(Z @ U, dim=1)).sum(dim=1)).mean()


def fit_indirect(
    texts: Float32s,
    dim: int,
    *,
    seed: int,
    start: Literal["random", "span"] = "random",
    n_most: int = MOST_ITERATIONS,
    progress: Progress = SILENT,
) -> IndirectFit:
    """Fit the projection that keeps the directions in which prompts differ.

    Source: Kobs, Steininger and Hotho, "InDiReCT: Language-Guided Zero-Shot Deep Metric Learning
    for Images" (WACV 2023), equations 1 to 4, and their code, whose matrix is transposed here as
    there: U of shape (r', r), normal with standard deviation 0.1. The order of the prompts does
    not matter, but for rounding; nor does the length of any vector.

    Args:
        texts: vectors of the prompts, shape (n, r).
        dim: r'.
        seed: of the start.
        start: "random" as the paper, or "span", at the orthonormal span of the prompts.
        n_most: iterations at most.
        progress: told the iterations.

    Raises:
        Refused: a vector holds NaN or has length 0.
    """
    check_vectors("prompts", texts)
    X = normalize(torch.from_numpy(np.array(texts, np.float32)), dim=1)
    rng = stream(seed, "indirect")
    U = normal((dim, X.shape[1]), INIT_STD, rng)
    if start == "span":
        basis = span_weight(texts, dim)
        U[: len(basis)] = torch.from_numpy(basis)
        U[len(basis) :] *= 1e-3
    found = descend([U], lambda: indirect_loss(U, X), n_most=n_most, progress=progress)
    card = {"method": "InDiReCT", "dim": dim, "seed": seed, "start": start,
            "loss": round(found.loss, 6), "iterations": found.last}  # fmt: skip
    projection = Layers(X.shape[1], (Layer.linear(found.state[0].numpy()),), card)
    return IndirectFit(projection, found.loss, found.best, found.last)
