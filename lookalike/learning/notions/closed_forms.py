"""Projections that need no descent: the baselines, and the span of the prompts."""

from __future__ import annotations

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s, Floats
from lookalike.learning.projection import Layer, Layers, check_vectors

_NO_DIRECTION = 1e-6  # a singular value below that of the largest is rounding


def raw(n_in: int) -> Layers:
    """Return vectors as they are, of length 1: the baseline that knows no notion."""
    return Layers(n_in, (), {"method": "raw"})


def random_vectors(n: int, dim: int, rng: np.random.Generator) -> Float32s:
    """Return directions that say nothing of the pictures, uniform on the sphere."""
    return unit_rows(rng.standard_normal((n, dim), np.float32))


def random_transformation(n_in: int, dim: int, *, seed: int, rng: np.random.Generator) -> Layers:
    """Return a projection to random directions: where InDiReCT starts, and nothing learnt."""
    U = 0.1 * rng.standard_normal((dim, n_in), np.float32)
    card = {"method": "random transformation", "dim": dim, "seed": seed}
    return Layers(n_in, (Layer.linear(U),), card)


def principal_components(texts: Float32s, dim: int) -> Layers:
    """Return PCA fitted to the prompts, at most n - 1 directions; its card says how many.

    As in the paper the prompts' mean is subtracted from pictures, too. Unlike there both go in,
    and pictures come out, with length 1.

    Raises:
        Refused: a vector holds NaN or has length 0.
    """
    check_vectors("prompts", texts)
    X = unit_rows(texts).astype(np.float64)
    mean = X.mean(axis=0)
    W = _directions(X - mean, min(dim, len(X) - 1))
    card = {"method": "PCA", "dim": len(W), "wanted_dim": dim}
    bias = np.asarray(-(W @ mean), np.float32)
    return Layers(X.shape[1], (Layer(np.asarray(W, np.float32), bias),), card)


def prompt_span(texts: Float32s, dim: int) -> Layers:
    """Return the orthonormal span of the prompts, its strongest directions first.

    All prompts are reconstructed exactly where there are no more of them than `dim`, so this is
    one of the optima that InDiReCT looks for.

    Raises:
        Refused: a vector holds NaN or has length 0.
    """
    W = span_weight(texts, dim)
    card = {"method": "span of the prompts", "dim": len(W), "wanted_dim": dim}
    return Layers(W.shape[1], (Layer.linear(W),), card)


def span_weight(texts: Float32s, dim: int) -> Float32s:
    """Return orthonormal rows, at most `dim`, shape (k, r)."""
    check_vectors("prompts", texts)
    return np.asarray(_directions(unit_rows(texts).astype(np.float64), dim), np.float32)


def _directions(X: Floats, dim: int) -> Floats:
    """Return the strongest right singular vectors, each with its largest number positive."""
    _, values, V = np.linalg.svd(X, full_matrices=False)
    kept = V[: max(1, min(dim, int((values > _NO_DIRECTION * values[0]).sum())))]
    largest = np.take_along_axis(kept, np.abs(kept).argmax(axis=1)[:, None], axis=1)
    directions: Floats = kept * np.sign(largest)
    return directions
