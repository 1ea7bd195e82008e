"""Train a Combiner on fixed vectors of images and conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from lookalike.core.arrays import Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.compose.combiner import Combiner, TrainedCombiner, Widths
from lookalike.learning.engine.adam import Adam, AdamLearner
from lookalike.learning.engine.determinism import one_thread, stream
from lookalike.learning.engine.fitting import run_fingerprint
from lookalike.learning.engine.loop import train
from lookalike.learning.losses.infonce import infonce
from lookalike.learning.projection import check_vectors

FLOOR = 1e-3  # share of the rate that the last epoch tends to


@dataclass(frozen=True)
class CombinerTraining:
    """How a Combiner is trained.

    The paper trains image and text towers, too, with a rate of 1e-6; towers that stay as they
    are want a higher one.

    Attributes:
        epochs: how often each triplet is seen.
        batch: triplets of a step, at least 2.
        rate: of learning, at first; from epoch to epoch it falls along a cosine.
        scale: of the cosines; 1 / temperature.
        seed: of everything that is drawn.
    """

    epochs: int = 6
    batch: int = 256
    rate: float = 1e-4
    scale: float = 100.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or self.seed < 0:
            raise Refused("training", "epochs are at least 1, a batch has 2, the seed is from 0")
        if not (self.rate > 0 and self.scale > 0):
            raise Refused("training", "rate and scale are above 0")


@dataclass(frozen=True)
class ComposedTriplets:
    """References, targets and what is said of the targets.

    Attributes:
        conditions: texts, each once.
        rows: row of the reference's vector, of the target's, and place of the condition; shape
            (n, 3).
    """

    conditions: tuple[str, ...]
    rows: Ints

    @classmethod
    def of(
        cls, triplets: Sequence[tuple[str, str, str]], row_of: Mapping[str, int]
    ) -> ComposedTriplets:
        """Number triplets of names.

        Args:
            triplets: reference, target and condition of each.
            row_of: row of each image's vector.

        Raises:
            Refused: there is no triplet, or one names an image that has no vector.
        """
        if not triplets:
            raise Refused("triplets", "there is none")
        place: dict[str, int] = {}
        rows = np.empty((len(triplets), 3), np.int64)
        for number, (reference, target, condition) in enumerate(triplets):
            for image in (reference, target):
                if image not in row_of:
                    reason = f"triplet {number + 1} names {image!r}, of which there is no vector"
                    raise Refused("triplets", reason)
            said = place.setdefault(condition, len(place))
            rows[number] = row_of[reference], row_of[target], said
        return cls(tuple(place), rows)


class CombinerLearner(AdamLearner):
    """A Combiner and the triplets that it learns from; the towers stay as they are.

    Args:
        images: vectors of all images, shape (n_images, dim).
        texts: vectors of the triplets' conditions, shape (n_conditions, dim).
        triplets: rows of both.
        widths: of the network.
        training: how.

    Attributes:
        network: that is trained.
        fingerprint: as `Learner`.

    Raises:
        Refused: vectors that cannot be used, or triplets of images or conditions without one.
    """

    def __init__(
        self,
        images: Float32s,
        texts: Float32s,
        triplets: ComposedTriplets,
        widths: Widths,
        training: CombinerTraining,
    ) -> None:
        check_vectors("images", images, widths.dim)
        check_vectors("texts", texts, widths.dim)
        _check(triplets, len(images), len(texts))
        self._rows, self._training = triplets.rows, training
        self._images, self._texts = (
            torch.from_numpy(np.array(of, np.float32)) for of in (images, texts)
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_torch_seed(training.seed, "network"))
            self.network = Combiner(widths)
        self._adam = Adam(list(self.network.parameters()), training.rate)
        self._n_batches = max(1, len(triplets.rows) // training.batch)
        settings = {"widths": asdict(widths), "training": asdict(training)}
        self.fingerprint = run_fingerprint(settings, images, texts, triplets.rows)

    @property
    def n_steps(self) -> int:
        """Steps in all."""
        return self._n_batches * self._training.epochs

    def step(self, number: int) -> dict[str, float]:
        """Learn from one batch; what is left over of an epoch comes in another one."""
        epoch, place = divmod(number, self._n_batches)
        seed, size = self._training.seed, self._training.batch
        order = stream(seed, "triplets", epoch).permutation(len(self._rows))
        references, targets, conditions = torch.from_numpy(
            self._rows[order[place * size : (place + 1) * size]].T
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_torch_seed(seed, "dropout", number))
            queries = self.network(self._images[references], self._texts[conditions])
        wanted = normalize(self._images[targets], dim=1)
        loss = infonce(queries, wanted, scale=self._training.scale)
        if not loss.isfinite():
            reason = f"is {loss.item()} at step {number} (epoch {epoch}, batch {place}, triplets "
            some = ", ".join(map(str, order[place * size :][:5]))
            raise Refused("loss", f"{reason}{some} and so on); a lower rate may do")
        turn = math.cos(math.pi * epoch / self._training.epochs)
        self._adam.rate = self._training.rate * (FLOOR + (1 - FLOOR) * (1 + turn) / 2)
        self._adam.step(loss)
        return {"loss": round(float(loss.detach()), 6)}


def fit_combiner(
    learner: CombinerLearner,
    card: Mapping[str, Any],
    *,
    folder: Path | None = None,
    every: int = 50,
    progress: Progress = SILENT,
) -> TrainedCombiner:
    """Train a Combiner, or go on with it.

    Args:
        learner: as made afresh.
        card: what vectors and triplets are, for people; how it was trained is added.
        folder: for checkpoint and curve, as `train`; None to keep nothing.
        every: steps between checkpoints.
        progress: told the steps.

    Raises:
        Refused: a loss that is no number, with step and batch; or as `train`.
        OSError: the disk is full.
    """
    progress.start(0, learner.n_steps, "Learning to combine")
    if folder is not None:
        train(learner, folder, n_steps=learner.n_steps, every=every, progress=progress)
    else:
        with one_thread():
            for number in range(learner.n_steps):
                learner.step(number)
                progress.update(number + 1, learner.n_steps)
    return TrainedCombiner(learner.network.eval(), {**card, "run": learner.fingerprint})


def _check(triplets: ComposedTriplets, n_images: int, n_texts: int) -> None:
    rows = triplets.rows
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) < 2:
        raise Refused("triplets", f"shape {rows.shape} is not (n, 3) with n from 2")
    most = np.array([n_images, n_images, n_texts])
    bad = np.flatnonzero(((rows < 0) | (rows >= most)).any(axis=1))
    if bad.size:
        reason = f"triplet {bad[0]} is {rows[bad[0]].tolist()}, there are {n_images:,} images"
        raise Refused("triplets", f"{reason} and {n_texts:,} conditions")


def _torch_seed(seed: int, purpose: str, step: int = 0) -> int:
    return int(stream(seed, purpose, step).integers(2**62))
