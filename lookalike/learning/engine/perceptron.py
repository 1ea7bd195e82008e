"""A small network on fixed vectors, as it is trained and as a projection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize, relu

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import normal
from lookalike.learning.projection import Layer, Layers

SLIGHT = np.float32(1e-4)  # added to deviations, since a number may be the same in all images


class Perceptron:
    """Layers with ReLU between them, on vectors of length 1 each number of which varies alike.

    With a single width, and that of the vectors, the map begins as the identity; all else is
    drawn.

    Args:
        vectors: that it will learn from, shape (n, n_in); they say how numbers are scaled.
        widths: of the layers, the last one that of what comes out.
        rng: of the start.

    Attributes:
        parameters: weight and bias of each layer in turn.

    Raises:
        Refused: no width, or one below 1.
    """

    def __init__(self, vectors: Float32s, widths: Sequence[int], rng: np.random.Generator) -> None:
        if not widths or min(widths) < 1:
            raise Refused("widths", f"{list(widths)} are no widths of layers")
        rows, n_in = unit_rows(vectors), vectors.shape[1]
        self._mean, self._std = rows.mean(axis=0), rows.std(axis=0) + SLIGHT
        self.parameters: list[torch.Tensor] = []
        if list(widths) == [n_in]:
            self._mean, self._std = np.zeros_like(self._mean), np.ones_like(self._std)
            self.parameters = [torch.eye(n_in), torch.zeros(n_in)]
            return
        for number, (n, width) in enumerate(zip([n_in, *widths], widths, strict=False)):
            gain = 2 if number + 1 < len(widths) else 1  # of a ReLU, which halves what passes
            self.parameters += [normal((width, n), (gain / n) ** 0.5, rng), torch.zeros(width)]

    def scaled(self, vectors: Float32s) -> torch.Tensor:
        """Return vectors as they go in, shape (n, n_in)."""
        return torch.from_numpy((unit_rows(vectors) - self._mean) / self._std)

    def features(self, rows: torch.Tensor) -> torch.Tensor:
        """Return what goes into the last layer, of rows that are scaled."""
        for weight, bias in self._layers()[:-1]:
            rows = relu(rows @ weight.T + bias)
        return rows

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Return what comes out, of any length, of rows that are scaled."""
        weight, bias = self._layers()[-1]
        return self.features(rows) @ weight.T + bias

    def unit(self, rows: torch.Tensor) -> torch.Tensor:
        """Return what comes out with length 1."""
        return normalize(self(rows), dim=1)

    def projection(self, card: Mapping[str, Any]) -> Layers:
        """Return the map as it is now, with the scaling of its vectors in it."""
        layers = []
        for number, (weight, bias) in enumerate(self._layers()):
            W, b = (of.detach().numpy().copy() for of in (weight, bias))
            if not number:
                W = W / self._std
                b = b - W @ self._mean
            layers.append(Layer(W, b))
        return Layers(len(self._mean), tuple(layers), card, 0.0)

    def _layers(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return list(zip(self.parameters[::2], self.parameters[1::2], strict=True))
