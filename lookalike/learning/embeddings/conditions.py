"""A map of fixed vectors for each of several conditions, learnt from triplets of their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s
from lookalike.learning.conditions.networks import Architecture
from lookalike.learning.conditions.training import ConditionLearner, Training
from lookalike.learning.conditions.triplets import draw_conditions
from lookalike.learning.embeddings.recipe import CONDITIONS, EmbeddingRecipe
from lookalike.learning.engine.perceptron import SLIGHT
from lookalike.learning.metric.classes import Classes
from lookalike.learning.projection import Layer, Layers

BATCH = 128  # triplets
FEWEST_TRIPLETS = 1_000  # of a condition in an epoch; otherwise as many as there are images


class ConditionMaps(ConditionLearner):
    """CSN on what is known of images, as maps of their vectors.

    Source: Veit, Belongie and Karaletsos, "Conditional Similarity Networks" (CVPR 2017), with a
    small network on fixed vectors in the place of a whole one. It learns by Euclidean distances of
    vectors of any length, as there; the maps give vectors of length 1, so they are compared by
    cosines.

    Args:
        vectors: of the images to learn from, shape (n, n_in).
        classes: of the same images, by condition.
        recipe: how.

    Raises:
        Refused: vectors or classes that cannot be used.
    """

    def __init__(
        self, vectors: Float32s, classes: Mapping[str, Classes], recipe: EmbeddingRecipe
    ) -> None:
        rows = unit_rows(vectors)
        self._mean, self._std = rows.mean(axis=0), rows.std(axis=0) + SLIGHT
        n = max(FEWEST_TRIPLETS, len(rows))
        triplets = draw_conditions(
            {name: of.codes for name, of in classes.items()}, np.ones(len(rows), np.bool_), n,
            seed=recipe.seed, purpose="learnt",
        )  # fmt: skip
        width = recipe.dim or vectors.shape[1]
        super().__init__(
            np.asarray((rows - self._mean) / self._std, np.float32), triplets,
            Architecture("CSN", len(classes), width, recipe.hidden),
            Training(recipe.epochs, BATCH, seed=recipe.seed),
        )  # fmt: skip
        self.names = triplets.names
        self.card: dict[str, Any] = {
            "method": CONDITIONS, "conditions": list(self.names), "dim": width,
            "hidden": recipe.hidden, "epochs": recipe.epochs, "seed": recipe.seed,
            "n_images": len(rows), "n_triplets": len(triplets.rows),
        }  # fmt: skip

    def projection(self, card: Mapping[str, Any] | None = None) -> Layers:
        """Return what all conditions share: the network without a mask."""
        return self._layers(None, card or {})

    def heads(self, card: Mapping[str, Any]) -> dict[str, Layers]:
        """Return the map of each condition."""
        return {
            name: self._layers(place, {**card, "condition": name})
            for place, name in enumerate(self.names)
        }

    def _layers(self, condition: int | None, card: Mapping[str, Any]) -> Layers:
        arrays = [of.detach().numpy().copy() for of in self.network.body.parameters()]
        arrays[0] = arrays[0] / self._std
        arrays[1] = arrays[1] - arrays[0] @ self._mean
        if condition is not None:
            mask = torch.relu(self.network.masks[condition]).detach().numpy()
            arrays[-2:] = [arrays[-2] * mask[:, None], arrays[-1] * mask]
        layers = tuple(map(Layer, arrays[::2], arrays[1::2]))
        said = {**self.card, "data_sha256": self.fingerprint, **card}
        return Layers(len(self._mean), layers, said, 0.0)
