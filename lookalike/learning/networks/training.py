"""Train a timm network on pictures and their classes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize

from lookalike.backbones.networks import use_full_float32
from lookalike.backbones.weights import State, state_sha256
from lookalike.core.arrays import Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.core.memory import is_out_of_memory
from lookalike.learning.embeddings.learn import share_right
from lookalike.learning.engine.adam import Adam
from lookalike.learning.engine.determinism import normal, stream
from lookalike.learning.engine.fitting import require_finite, run_fingerprint
from lookalike.learning.engine.processes import averaged, gathered, own_part
from lookalike.learning.losses.margin import distance_weighted
from lookalike.learning.losses.multisimilarity import multisimilarity
from lookalike.learning.losses.pairs import sides_of
from lookalike.learning.losses.triplet import triplet_loss
from lookalike.learning.metric.classes import ClassBatches, Classes
from lookalike.learning.metric.language import Language
from lookalike.learning.metric.training import Guidance
from lookalike.learning.networks.loss_scale import LossScale
from lookalike.learning.networks.pictures import LearntPictures
from lookalike.learning.networks.settings import NetworkSettings

_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Trial:
    """Images of products of their own, by which the best step is chosen.

    Attributes:
        rows: of the pictures.
        labels: of these images.
        products: of these images.
        name: of the labels.
    """

    rows: Ints
    labels: Sequence[str]
    products: Sequence[str]
    name: str

    def score(self, vectors: Float32s) -> float | None:
        """Return how often the nearest image is right; None where nothing can be asked."""
        everything = np.ones(len(self.rows), np.bool_)
        return share_right(vectors, self.labels, self.products, everything, self.name)


class _Batch(NamedTuple):
    """A step's number, its pictures and their classes, and how alike their words are."""

    number: int
    rows: Ints
    labels: torch.Tensor
    alike: torch.Tensor | None


class NetworkLearner:
    """A network that learns from pictures, P classes and K images of each in a batch.

    It stays in evaluation mode: batch norms keep the statistics that they came with, since those
    of small batches are noise, and with them a batch in parts, or shared among processes, would
    be another one. For the same reason nothing is dropped out.

    A batch in parts: Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory
    Limited Setup" (RepL4NLP 2021). All parts pass once without slopes; the loss of the whole
    batch says the slope of each vector; parts pass again, one at a time, with these.

    Args:
        model: of timm, without a classifier.
        pictures: all that there are.
        rows: those to learn from.
        classes: of these.
        settings: how.
        language: of the classes, or of the same pictures; None to learn without.
        trial: others, to choose the best step by; None to keep the last.
        device: where the network computes.

    Attributes:
        fingerprint: as `Learner`.
        has_ended: whether it has tried in vain for long enough.

    Raises:
        Refused: classes or a size that cannot be learnt from.
    """

    def __init__(
        self, model: nn.Module, pictures: LearntPictures, rows: Ints, classes: Classes,
        settings: NetworkSettings, *, language: Language | None, trial: Trial | None,
        device: torch.device,
    ) -> None:  # fmt: skip
        self._pictures, self._image_rows, self._trial = pictures, rows, trial
        self._settings, self._device = settings, device
        self._language, self._guidance = language, Guidance(settings.weight)
        n_classes = settings.batch // settings.per_class
        self._batches = ClassBatches(classes, n_classes, settings.per_class, settings.seed)
        card = {**asdict(settings), "weights": state_sha256(model.state_dict()),
                "pictures": pictures.sha256, "trial": trial and list(trial.labels)}  # fmt: skip
        self.fingerprint = run_fingerprint(
            card, rows, classes.codes, language.rows if language else None
        )
        use_full_float32()
        self._model = model.eval().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._names = [name for name, _ in self._model.named_parameters()]
        self._head = self._drawn_head(len(classes.names), self._width())
        self._learnt = [*self._model.parameters(), *self._head]
        self._adam = Adam(
            self._learnt, settings.rate, weight_decay=settings.weight_decay, is_decoupled=True
        )
        self._scale = LossScale(is_used=settings.precision == "float16")
        self._best = [parameter.detach().clone() for parameter in self._model.parameters()]
        self._trials = torch.tensor([-1.0, 0.0, 0.0], dtype=torch.float64)  # best, its step, vain

    @property
    def has_ended(self) -> bool:
        """Whether it has tried in vain for long enough."""
        return bool(self._trials[2] >= self._settings.patience)

    @property
    def best_step(self) -> int:
        """How many steps the best weights have seen."""
        return int(self._trials[1])

    def step(self, number: int) -> dict[str, float]:
        """Learn from one batch; before the first and after some, see whether it was a gain."""
        trials = {} if number else self._try_out(0)
        chosen = self._batches.rows(number)
        codes = self._batches.classes.codes[chosen]
        alike = self._language.of(chosen, codes).to(self._device) if self._language else None
        batch = _Batch(
            number, self._image_rows[chosen], torch.from_numpy(codes).to(self._device), alike
        )
        own = own_part(torch.from_numpy(batch.rows)).numpy()
        inputs = self._pictures.augmented(own, number).to(self._device)
        losses, gradients = self._slopes(inputs, batch)
        self._adam.rate = self._settings.rate_at(number)
        if self._scale.unscale(gradients, number):
            self._adam.move(gradients)
        n_done = number + 1
        if n_done % self._settings.every == 0 or n_done == self._settings.steps:
            trials = {**trials, **self._try_out(n_done)}
        return {**losses, **trials}

    def state(self) -> dict[str, torch.Tensor]:
        """Return parameters, moments, the best parameters and what is counted."""
        best = {f"best.{number}": of for number, of in enumerate(self._best)}
        counted = {"scale": self._scale.state, "trials": self._trials,
                   "moves": torch.tensor(self._adam.n_steps)}  # fmt: skip
        return {**self._adam.state(), **best, **counted}

    def restore(self, state: dict[str, torch.Tensor], n_steps: int) -> None:
        """Take up the state that there was after so many steps."""
        self._adam.restore(state, int(state["moves"]))
        self._scale.state.copy_(state["scale"])
        self._trials.copy_(state["trials"])
        for number, tensor in enumerate(self._best):
            tensor.copy_(state[f"best.{number}"])

    def weights(self) -> State:
        """Return the best weights of the network, as they lie in a file."""
        found = {**self._model.state_dict(), **dict(zip(self._names, self._best, strict=True))}
        return {name: of.detach().cpu().contiguous() for name, of in found.items()}

    def _slopes(
        self, inputs: torch.Tensor, batch: _Batch
    ) -> tuple[dict[str, float], list[torch.Tensor]]:
        """Return the losses of a batch and its gradients, times the scale."""
        if len(inputs) % self._settings.accumulate:
            raise Refused("accumulate", f"{len(inputs)} images make no {self._settings.accumulate}"
                          " parts of one size")  # fmt: skip
        parts = inputs.chunk(self._settings.accumulate)
        with torch.set_grad_enabled(len(parts) == 1):
            first = [self._features(part) for part in parts]
        features = torch.cat(first).detach().requires_grad_()
        whole = gathered(features)
        losses = self._losses(whole, batch)
        loss = losses["loss"]
        if "language" in losses:
            loss = loss + self._guidance.weight * losses["language"]
        # a loss of pairs may pass over vectors that are no numbers
        require_finite(loss.detach() + 0 * whole.detach().sum(), batch.number, batch.rows)
        scaled = loss * self._scale.value
        slope, *of_head = torch.autograd.grad(scaled, [features, *self._head])
        parameters = self._learnt[: len(self._names)]
        for parameter in parameters:
            parameter.grad = None
        for part, seen, of in zip(parts, first, slope.chunk(len(parts)), strict=True):
            torch.autograd.backward(seen if len(parts) == 1 else self._features(part), of)
        of_network = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in parameters
        ]
        told = {name: round(float(value.detach()), 6) for name, value in losses.items()}
        return told, averaged([*of_network, *of_head])

    def _losses(self, features: torch.Tensor, batch: _Batch) -> dict[str, torch.Tensor]:
        if self._head:
            W, b = self._head
            return {"loss": cross_entropy(features @ W.T + b, batch.labels)}
        vectors = normalize(features, dim=1)
        losses = {"loss": self._loss_of_pairs(vectors, batch)}
        if batch.alike is not None:
            losses["language"] = self._guidance.loss(vectors, batch.labels, batch.alike)
        return losses

    def _loss_of_pairs(self, vectors: torch.Tensor, batch: _Batch) -> torch.Tensor:
        if self._settings.objective == "triplet":
            rng = stream(self._settings.seed, "triplets", batch.number)
            return triplet_loss(*sides_of(vectors, distance_weighted(vectors, batch.labels, rng)))
        return multisimilarity(vectors, batch.labels)

    def _try_out(self, n_done: int) -> dict[str, float]:
        """Ask about other products, and keep the weights if they are the best so far."""
        if self._trial is None:
            found: float | None = None
        else:
            with torch.no_grad():
                rows, size = self._trial.rows, self._settings.batch
                parts = [rows[at : at + size] for at in range(0, len(rows), size)]
                vectors = [self._features(self._pictures.plain(part).to(self._device)).cpu().numpy()
                           for part in parts]  # fmt: skip
            everything = np.concatenate(vectors)
            require_finite(torch.from_numpy(everything).sum(), n_done, rows)
            found = self._trial.score(everything)
        if found is None or found > float(self._trials[0]):
            counted = (-1.0 if found is None else found, float(n_done), 0.0)
            self._trials.copy_(torch.tensor(counted, dtype=torch.float64))
            for best, parameter in zip(self._best, self._model.parameters(), strict=True):
                best.copy_(parameter.detach())
        else:
            self._trials[2] += 1
        return {} if found is None else {"validation": round(found, 6)}

    def _features(self, images: torch.Tensor) -> torch.Tensor:
        with self._autocast():
            features: torch.Tensor = self._model(images)
        return features.float()

    def _autocast(self) -> AbstractContextManager[object]:
        dtype = _DTYPES.get(self._settings.precision)
        # its cache of cast weights would outlive them: parts pass without slopes first
        return nullcontext() if dtype is None else torch.autocast(
            self._device.type, dtype, cache_enabled=False
        )  # fmt: skip

    def _width(self) -> int:
        """Return how many numbers the network gives for a picture.

        Raises:
            Refused: it takes none of this size.
        """
        side = self._pictures.side
        try:
            with torch.no_grad():
                found = self._features(torch.zeros(1, 3, side, side, device=self._device))
        except (AssertionError, RuntimeError) as problem:
            if is_out_of_memory(problem):
                raise
            reason = f"{self._settings.model} takes no pictures of {side} pixels: {problem}"
            raise Refused("image_size", reason) from problem
        return int(found.shape[1])

    def _drawn_head(self, n_classes: int, n: int) -> list[torch.Tensor]:
        """Return weight and bias of a classifier where there is one."""
        if self._settings.objective != "fine-tuning":
            return []
        drawn = normal((n_classes, n), n**-0.5, stream(self._settings.seed, "head"))
        return [drawn.to(self._device), torch.zeros(n_classes, device=self._device)]
