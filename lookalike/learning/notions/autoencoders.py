"""The paper's other learners: autoencoders of the prompts, and an oracle that sees labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.nn.functional import cross_entropy, leaky_relu, linear, normalize

from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import normal, stream
from lookalike.learning.notions.descent import MOST_ITERATIONS, Descent, descend
from lookalike.learning.projection import Layer, Layers, check_vectors

SLOPE = 0.01
HIDDEN = 512
DECAY = 1e-2  # of the autoencoder with a hidden layer


def linear_autoencoder(
    texts: Float32s, dim: int, *, seed: int, n_most: int = MOST_ITERATIONS
) -> Layers:
    """Fit an encoder and a decoder, each one layer with a bias, to the prompts.

    Source: InDiReCT's code: the squared errors are summed over all numbers. The encoder alone
    maps pictures; they go in with length 1, as the paper writes and its notebooks forget.
    """
    return _autoencoder(texts, (dim,), seed=seed, name="LAE", decay=0.0, n_most=n_most)


def autoencoder(texts: Float32s, dim: int, *, seed: int, n_most: int = MOST_ITERATIONS) -> Layers:
    """Fit r → 512 → r' → 512 → r with leaky ReLUs to the prompts; else as the linear one."""
    return _autoencoder(texts, (HIDDEN, dim), seed=seed, name="AE", decay=DECAY, n_most=n_most)


def oracle(
    images: Float32s, labels: ArrayLike, dim: int, *, seed: int, n_most: int = MOST_ITERATIONS
) -> Layers:
    """Fit the projection and a prototype of each class to the very pictures that are scored.

    Source: InDiReCT, section 4.2: an upper bound, no method. Cosines to the prototypes are
    logits as they are, without a temperature.

    Raises:
        Refused: fewer than two classes.
    """
    check_vectors("images", images)
    classes, y = np.unique(np.asarray(labels), return_inverse=True)
    if len(classes) < 2:
        raise Refused("labels", "the oracle needs pictures of at least two classes")
    X = normalize(torch.from_numpy(np.array(images, np.float32)), dim=1)
    target = torch.from_numpy(y.astype(np.int64))
    rng = stream(seed, "oracle")
    U, P = normal((dim, X.shape[1]), 0.1, rng), normal((len(classes), dim), 0.1, rng)

    def loss_of() -> torch.Tensor:
        logits = normalize(X @ U.T, dim=1) @ normalize(P, dim=1).T
        return cross_entropy(logits, target)

    found = descend([U, P], loss_of, n_most=n_most)
    card = {"method": "oracle", "dim": dim, "seed": seed, "iterations": found.last}
    return Layers(X.shape[1], (Layer.linear(found.state[0].numpy()),), card, SLOPE)


def _autoencoder(
    texts: Float32s, widths: Sequence[int], *, seed: int, name: str, decay: float, n_most: int
) -> Layers:
    check_vectors("prompts", texts)
    X = normalize(torch.from_numpy(np.array(texts, np.float32)), dim=1)
    sizes = [X.shape[1], *widths, *reversed(widths[:-1]), X.shape[1]]
    rng = stream(seed, name)
    parameters = [part for size in pairwise(sizes) for part in _fresh(*size, rng)]
    n_layers = len(sizes) - 1

    def loss_of() -> torch.Tensor:
        out = X
        for number in range(n_layers):
            out = linear(out, *parameters[2 * number : 2 * number + 2])
            if number not in (n_layers // 2 - 1, n_layers - 1):  # neither the code nor the end
                out = leaky_relu(out, SLOPE)
        return (out - X).square().sum()

    found = descend(parameters, loss_of, weight_decay=decay, n_most=n_most)
    card = {"method": name, "dim": widths[-1], "seed": seed, "iterations": found.last}
    return Layers(X.shape[1], _encoder(found, len(widths)), card, SLOPE)


def _encoder(found: Descent, n_layers: int) -> tuple[Layer, ...]:
    arrays = [tensor.numpy() for tensor in found.state[: 2 * n_layers]]
    return tuple(Layer(W, b) for W, b in zip(arrays[::2], arrays[1::2], strict=True))


def _fresh(n_in: int, n_out: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight and bias as torch begins a linear layer: uniform within 1/√n_in."""
    bound = n_in**-0.5
    weight, bias = (rng.uniform(-bound, bound, size) for size in ((n_out, n_in), (n_out,)))
    return torch.from_numpy(weight.astype(np.float32)), torch.from_numpy(bias.astype(np.float32))
