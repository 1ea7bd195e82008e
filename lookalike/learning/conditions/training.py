"""Train a network for several conditions on fixed vectors."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.conditions.networks import Architecture, ConditionNetwork
from lookalike.learning.conditions.triplets import ConditionTriplets
from lookalike.learning.engine.adam import Adam, AdamLearner
from lookalike.learning.engine.determinism import one_thread, stream
from lookalike.learning.engine.fitting import run_fingerprint
from lookalike.learning.engine.loop import train
from lookalike.learning.projection import check_vectors

CUT = 512  # images that are embedded at once


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Attributes:
        epochs: how often each triplet is seen.
        batch: triplets of a step.
        rate: of learning, at first; it falls to 0 along a cosine.
        seed: of everything that is drawn.
    """

    epochs: int = 1
    batch: int = 512
    rate: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch) < 1 or not self.rate > 0 or self.seed < 0:
            raise Refused("training", "epochs, batch and rate are above 0, the seed is not below")


class ConditionLearner(AdamLearner):
    """A network and the triplets that it learns from.

    Args:
        vectors: of all images, shape (n_images, n_in).
        triplets: rows of `vectors`.
        architecture: of the network.
        training: how.
        start: matrices (K, n_in, n_in) that DiscoverNet's conditions begin with, of a network
            without a layer below them; None to draw all.

    Attributes:
        network: that is trained.
        fingerprint: as `Learner`.

    Raises:
        Refused: vectors that cannot be used, triplets of images that have none, or another
            number of conditions than CSN or `start` has.
    """

    def __init__(
        self,
        vectors: Float32s,
        triplets: ConditionTriplets,
        architecture: Architecture,
        training: Training,
        start: Float32s | None = None,
    ) -> None:
        check_vectors("vectors", vectors)
        _check(triplets, architecture, vectors, start)
        self._training, self._triplets = training, triplets
        self._vectors = torch.from_numpy(np.array(vectors, np.float32))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(stream(training.seed, "network").integers(2**62)))
            self.network = ConditionNetwork(vectors.shape[1], architecture)
        if start is not None:
            _begin(self.network, start)
        learnt = [p for p in self.network.parameters() if p.requires_grad]
        self._adam = Adam(learnt, training.rate)
        self._n_batches = math.ceil(len(triplets.rows) / training.batch)
        settings = {"architecture": asdict(architecture), "training": asdict(training)}
        self.fingerprint = run_fingerprint(
            settings, vectors, triplets.rows, triplets.conditions, start
        )

    @property
    def n_steps(self) -> int:
        """Steps in all."""
        return self._n_batches * self._training.epochs

    def step(self, number: int) -> dict[str, float]:
        """Learn from one batch."""
        epoch, place = divmod(number, self._n_batches)
        seed, size = self._training.seed, self._training.batch
        order = stream(seed, "triplets", epoch).permutation(len(self._triplets.rows))
        chosen = order[place * size : (place + 1) * size]
        parts = self._vectors[torch.from_numpy(self._triplets.rows[chosen].T)]
        conditions = torch.from_numpy(self._triplets.conditions[chosen])
        with torch.random.fork_rng(devices=[]):  # of the branch that leaves some out at random
            torch.manual_seed(int(stream(seed, "dropout", number).integers(2**62)))
            loss = self.network.loss(parts, conditions)
        if not loss.isfinite():
            images = ", ".join(map(str, np.unique(self._triplets.rows[chosen])[:5]))
            reason = f"is {loss.item()} at step {number} (epoch {epoch}, batch {place}, "
            raise Refused("loss", f"{reason}rows {images} and so on); a lower rate may do")
        self._adam.rate = self._training.rate * (1 + math.cos(math.pi * number / self.n_steps)) / 2
        self._adam.step(loss)
        return {"loss": round(float(loss.detach()), 6)}

    def embeddings(self) -> Float32s:
        """Return all images under each condition, shape (K, n_images, dim), as the network does."""
        self.network.eval()
        with one_thread(), torch.no_grad():
            cuts = [self.network.embeddings(cut) for cut in torch.split(self._vectors, CUT)]
        self.network.train()
        found: Float32s = torch.cat(cuts).transpose(0, 1).contiguous().numpy()
        return found


def fit_conditions(
    learner: ConditionLearner,
    *,
    folder: Path | None = None,
    every: int = 50,
    progress: Progress = SILENT,
) -> Float32s:
    """Train a network, or go on with it, and return all images under each condition.

    Args:
        learner: as made afresh.
        folder: for checkpoint and curve, as `train`; None to keep nothing.
        every: steps between checkpoints.
        progress: told the steps.

    Returns:
        Shape (K, n_images, dim), to be compared by the architecture's `metric`.

    Raises:
        Refused: a loss that is no number, with step and batch; or as `train`.
        OSError: the disk is full.
    """
    if folder is not None:
        train(learner, folder, n_steps=learner.n_steps, every=every, progress=progress)
        return learner.embeddings()
    with one_thread():
        for number in range(learner.n_steps):
            learner.step(number)
            progress.update(number + 1, learner.n_steps)
    return learner.embeddings()


def _check(
    triplets: ConditionTriplets,
    architecture: Architecture,
    vectors: Float32s,
    start: Float32s | None,
) -> None:
    rows = triplets.rows
    if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
        raise Refused("triplets", f"shape {rows.shape} is not (n, 3)")
    bad = np.flatnonzero(((rows < 0) | (rows >= len(vectors))).any(axis=1))
    if bad.size:
        raise Refused("triplets", f"triplet {bad[0]} names an image that has no vector: "
                      f"{rows[bad[0]].tolist()} of {len(vectors):,}")  # fmt: skip
    n = len(triplets.names)
    if architecture.method == "CSN" and architecture.n_conditions != n:
        raise Refused("conditions", f"CSN needs one for each of the {n} that the triplets name")
    wanted = (architecture.n_conditions, vectors.shape[1], vectors.shape[1])
    if start is not None and start.shape != wanted:
        raise Refused("start", f"shape {start.shape} is not {wanted}")
    if start is not None and (
        architecture.method != "DiscoverNet"
        or architecture.is_masked
        or architecture.hidden
        or architecture.dim != vectors.shape[1]
    ):
        raise Refused("start", "only DiscoverNet's maps on the vectors themselves can begin so")


def _begin(network: ConditionNetwork, start: Float32s) -> None:
    weight, bias = network.body.parameters()
    with torch.no_grad():
        weight.copy_(torch.eye(len(weight)))
        bias.zero_()
        network.maps.copy_(torch.from_numpy(np.array(start, np.float32)))
