"""Fine-tune an embedding of fixed vectors to tell products apart, or categories, or both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.engine.adam import Adam, AdamLearner
from lookalike.learning.engine.determinism import normal, stream
from lookalike.learning.engine.fitting import require_finite, run_fingerprint
from lookalike.learning.engine.perceptron import Perceptron
from lookalike.learning.metric.classes import Classes
from lookalike.learning.projection import Layers, check_vectors


@dataclass(frozen=True)
class FinetuneSettings:
    """How an embedding is fine-tuned.

    Attributes:
        widths: of its layers, the embedding's last; one that is the vectors' own begins as the
            identity, and () stands for it.
        epochs: how often each image is seen.
        batch: images of a step.
        rate: of learning, at first; it falls to 0 along a cosine.
        weight_decay: L2.
        seed: of everything that is drawn.
    """

    widths: tuple[int, ...] = ()
    epochs: int = 20
    batch: int = 128
    rate: float = 1e-3
    weight_decay: float = 1e-4
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch) < 1 or not self.rate > 0 or self.seed < 0:
            raise Refused("settings", "epochs, batch and rate are above 0, the seed is not below")


class FinetuneLearner(AdamLearner):
    """An embedding with a linear classifier upon it for each sort of label.

    Source: Barkan et al. (VSD benchmark, 2023), section 6.1: a new linear head that matches
    the number of identities (ID) or categories (CAT), categorical cross-entropy, with both heads
    ID+C, the sum of both. There the backbone learns, too; here vectors are fixed and the
    embedding learns. The heads are left in the end.

    Args:
        vectors: of the images to learn from, shape (n, n_in).
        labels: by sort of label, classes of the same images.
        settings: how.

    Attributes:
        network: the embedding.
        fingerprint: as `Learner`.

    Raises:
        Refused: no labels, or vectors or labels that cannot be used.
    """

    def __init__(
        self, vectors: Float32s, labels: Mapping[str, Classes], settings: FinetuneSettings
    ) -> None:
        check_vectors("vectors", vectors)
        if not labels:
            raise Refused("labels", "there is nothing to learn: no identities, no categories")
        for name, of in labels.items():
            _check(name, of, len(vectors))
        self._settings = settings
        self._labels = {name: torch.from_numpy(of.codes) for name, of in labels.items()}
        rng = stream(settings.seed, "network")
        self.network = Perceptron(vectors, settings.widths or (vectors.shape[1],), rng)
        self._rows = self.network.scaled(vectors)
        n = (settings.widths or (vectors.shape[1],))[-1]
        self._heads = {
            name: [normal((len(of.names), n), n**-0.5, rng), torch.zeros(len(of.names))]
            for name, of in labels.items()
        }
        heads = [parameter for head in self._heads.values() for parameter in head]
        learnt = [*self.network.parameters, *heads]
        self._adam = Adam(learnt, settings.rate, weight_decay=settings.weight_decay)
        self._n_batches = math.ceil(len(vectors) / settings.batch)
        self.card = {
            "method": "fine-tuning", **asdict(settings), "widths": list(settings.widths),
            "labels": {name: len(of.names) for name, of in labels.items()},
            "n_images": len(vectors),
        }  # fmt: skip
        self.fingerprint = run_fingerprint(
            self.card, vectors, *(of.codes for of in labels.values())
        )

    @property
    def n_steps(self) -> int:
        """Steps in all."""
        return self._n_batches * self._settings.epochs

    def step(self, number: int) -> dict[str, float]:
        """Learn from one batch."""
        epoch, place = divmod(number, self._n_batches)
        order = stream(self._settings.seed, "images", epoch).permutation(len(self._rows))
        size = self._settings.batch
        chosen = order[place * size : (place + 1) * size]
        rows = torch.from_numpy(chosen)
        embedded = self.network(self._rows[rows])
        losses = {
            name: cross_entropy(embedded @ W.T + b, self._labels[name][rows])
            for name, (W, b) in self._heads.items()
        }
        loss = torch.stack(list(losses.values())).sum()
        require_finite(loss, number, chosen)
        self._adam.rate = self._settings.rate * (1 + math.cos(math.pi * number / self.n_steps)) / 2
        self._adam.step(loss)
        return {name: round(float(value.detach()), 6) for name, value in losses.items()}

    def projection(self, card: Mapping[str, Any] | None = None) -> Layers:
        """Return the embedding as it is now, without the heads.

        Args:
            card: what else its card shall say.
        """
        return self.network.projection(
            {**self.card, "data_sha256": self.fingerprint, **(card or {})}
        )


def _check(name: str, of: Classes, n: int) -> None:
    if len(of.codes) != n:
        raise Refused(name, f"{len(of.codes):,} labels for {n:,} vectors")
    present = np.bincount(of.codes, minlength=len(of.names))
    if not present.all():
        empty = of.names[int(present.argmin())]
        raise Refused(name, f"no image is of {empty!r}; leave it out")
    if present.min() < 2:
        raise Refused(name, f"{of.names[int(present.argmin())]!r} has one image alone")
