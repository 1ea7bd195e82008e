"""Maps of fixed vectors for several conditions, learnt from triplets of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Bools, Float32s, Ints
from lookalike.learning.conditions.networks import Architecture
from lookalike.learning.conditions.training import ConditionLearner, Training
from lookalike.learning.conditions.triplets import draw_conditions
from lookalike.learning.embeddings.recipe import CONDITIONS, SINGLE, EmbeddingRecipe
from lookalike.learning.engine.perceptron import SLIGHT
from lookalike.learning.metric.classes import Classes
from lookalike.learning.projection import Layer, Layers

BATCH = 128  # triplets
FEWEST_TRIPLETS = 1_000  # of a condition in an epoch; otherwise as many as there are images
NETWORKS = {
    SINGLE: Architecture("single"),
    CONDITIONS: Architecture("CSN"),
    "mixture": Architecture("mixture"),
    "LSN": Architecture("LSN"),
    "SCE-Net": Architecture("SCE-Net"),
    "DiscoverNet-Set": Architecture("DiscoverNet"),
    "DiscoverNet-Reg": Architecture("DiscoverNet", branch="regularised"),
}


class ConditionMaps(ConditionLearner):
    """A network for conditions on what is known of images, as maps of their vectors.

    Source: as `ConditionNetwork`, with a small network on fixed vectors in the place of a whole
    one. CSN learns by Euclidean distances of vectors of any length, as in its paper; the maps give
    vectors of length 1, so they are compared by cosines. Networks that guess what a triplet is
    about are not told its label either: their conditions have numbers.

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
        network = replace(
            NETWORKS[recipe.method], n_conditions=recipe.n_conditions or len(classes), dim=width,
            hidden=recipe.hidden, **recipe.network_changes,
        )  # fmt: skip
        super().__init__(
            np.asarray((rows - self._mean) / self._std, np.float32), triplets, network,
            Training(recipe.epochs, BATCH, seed=recipe.seed),
        )  # fmt: skip
        self.names = _names(recipe.method, triplets.names, network.n_conditions)
        self.card: dict[str, Any] = {
            "method": recipe.method, "conditions": list(self.names), "dim": width,
            "hidden": recipe.hidden, "epochs": recipe.epochs, "seed": recipe.seed,
            "n_images": len(rows), "n_triplets": len(triplets.rows), **recipe.network_changes,
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

    def best_heads(self) -> dict[str, str]:
        """Return for each label the head that is right about most of its learnt triplets.

        A condition that is known has its own head; without heads there is none.
        """
        drawn = self._triplets
        if self.names == drawn.names or not self.names:
            return {name: name for name in self.names}
        by_head = np.array([_right(of, drawn.rows) for of in self.embeddings()])
        return {
            name: self.names[int(by_head[:, drawn.conditions == place].mean(axis=1).argmax())]
            for place, name in enumerate(drawn.names)
        }

    def _layers(self, condition: int | None, card: Mapping[str, Any]) -> Layers:
        arrays = [of.detach().numpy().copy() for of in self.network.body.parameters()]
        arrays[0] = arrays[0] / self._std
        arrays[1] = arrays[1] - arrays[0] @ self._mean
        if condition is not None:
            M = self.network.last_map(condition).detach().numpy()
            arrays[-2:] = [M @ arrays[-2], M @ arrays[-1]]
        layers = tuple(map(Layer, arrays[::2], arrays[1::2]))
        said = {**self.card, "data_sha256": self.fingerprint, **card}
        return Layers(len(self._mean), layers, said, 0.0)


def _names(method: str, labels: tuple[str, ...], n_conditions: int) -> tuple[str, ...]:
    if method == SINGLE:
        return ()
    if method == CONDITIONS:
        return labels
    return tuple(f"condition-{number + 1}" for number in range(n_conditions))


def _right(vectors: Float32s, triplets: Ints) -> Bools:
    """Return of which triplets the closer image is nearer, shape (n,)."""
    anchors, closer, farther = vectors[triplets.T]
    right: Bools = ((anchors - closer) ** 2).sum(axis=1) < ((anchors - farther) ** 2).sum(axis=1)
    return right
