"""Learn an embedding from classes on fixed vectors, guided by language or not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch.nn.functional import normalize, relu

from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.engine.adam import Adam, AdamLearner
from lookalike.learning.engine.determinism import normal, stream
from lookalike.learning.engine.fitting import require_finite, run_fingerprint
from lookalike.learning.engine.perceptron import Perceptron
from lookalike.learning.engine.processes import gathered, own_part
from lookalike.learning.losses.margin import BOUNDARY, distance_weighted, margin_loss
from lookalike.learning.losses.matching import Compare, Direction, Mask, matching, one_class
from lookalike.learning.losses.multisimilarity import Form, multisimilarity
from lookalike.learning.losses.pairs import sides_of
from lookalike.learning.losses.s2sd import Distillation, s2sd
from lookalike.learning.losses.triplet import triplet_loss
from lookalike.learning.metric.classes import ClassBatches, Classes
from lookalike.learning.metric.language import Language
from lookalike.learning.projection import Layers, check_vectors

Objective = Literal["multisimilarity", "multisimilarity, original", "margin", "triplet", "s2sd"]
OBJECTIVES: tuple[Objective, ...] = (
    "multisimilarity", "multisimilarity, original", "margin", "triplet", "s2sd",
)  # fmt: skip


@dataclass(frozen=True)
class MetricSettings:
    """How an embedding is learnt.

    Attributes:
        objective: of OBJECTIVES; "multisimilarity" is the released code's, with a logarithm more.
        dim: of the embedding.
        hidden: width before it; 0 for a linear map.
        steps: batches that are seen.
        n_classes: in a batch.
        per_class: images of each.
        rate: of learning, at first; it falls to 0 along a cosine.
        weight_decay: L2.
        boundary_rate: of Margin's boundaries, one for each class.
        branches: widths of S2SD's.
        feature_weight: of S2SD's features; its branches have none, as beside language guidance.
        seed: of everything that is drawn.
    """

    objective: Objective = "multisimilarity"
    dim: int = 128
    hidden: int = 512
    steps: int = 400
    n_classes: int = 56
    per_class: int = 2
    rate: float = 1e-3
    weight_decay: float = 4e-4
    boundary_rate: float = 5e-4
    branches: tuple[int, ...] = (256, 512)
    feature_weight: float = 50.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            known = "; ".join(OBJECTIVES)
            raise Refused("objective", f"there is no {self.objective!r}, but {known}")
        if min(self.steps, self.dim) < 1 or self.hidden < 0 or not self.rate > 0 or self.seed < 0:
            raise Refused("settings", "steps, dim and rate are above 0, the seed is not below")


@dataclass(frozen=True)
class Guidance:
    """How language guides; as `matching` for what is not said here.

    Attributes:
        weight: ω of its equation 4; 0 leaves the matching out.
        delay: steps before it counts.
        mining: share of words in what Multisimilarity chooses pairs by (equation S2, linear).
        prediction: weight of a network that foretells words from the embedding (equation S4).
    """

    weight: float = 10.0
    shift: float = 1.0
    temperature: float = 1.0
    direction: Direction = "backward"
    mask: Mask = "both"
    compare: Compare = "rows"
    delay: int = 0
    mining: float = 0.0
    prediction: float = 0.0

    def loss(
        self, vectors: torch.Tensor, labels: torch.Tensor, words: torch.Tensor,
        **known: Any,
    ) -> torch.Tensor:  # fmt: skip
        """Return `matching` by these settings, without the weight.

        Args:
            vectors: of images.
            labels: of their classes.
            words: how alike these are.
            **known: what else `matching` takes.
        """
        settings = {
            "shift": self.shift, "temperature": self.temperature, "direction": self.direction,
            "mask": self.mask, "compare": self.compare,
        }  # fmt: skip
        return matching(vectors, labels, words, **{**settings, **known})


class _Batch(NamedTuple):
    """A step's number and images, how alike their words are, and cosines that losses share."""

    number: int
    inputs: torch.Tensor
    vectors: torch.Tensor
    labels: torch.Tensor
    alike: torch.Tensor | None
    cosines: torch.Tensor | None


class MetricLearner(AdamLearner):
    """An embedding of fixed vectors and the classes that it learns from.

    Source: Roth, Vinyals and Akata, "Integrating Language Guidance into Vision-based Deep Metric
    Learning" (CVPR 2022), equation 4, with a small network on fixed vectors in the place of a
    whole one.

    Args:
        vectors: of the images to learn from, shape (n, n_in).
        classes: of the same images.
        settings: how.
        language: of the classes, or of the same images; None to learn without.
        guidance: how language guides; its defaults if None.

    Attributes:
        network: that is trained.
        fingerprint: as `Learner`.

    Raises:
        Refused: vectors or classes that cannot be used, or words for others than these.
    """

    def __init__(
        self,
        vectors: Float32s,
        classes: Classes,
        settings: MetricSettings,
        language: Language | None = None,
        guidance: Guidance | None = None,
    ) -> None:
        check_vectors("vectors", vectors)
        if len(vectors) != len(classes.codes):
            raise Refused("classes", f"{len(classes.codes):,} for {len(vectors):,} vectors")
        n_words = len(classes.codes if language and language.of_images else classes.names)
        if language is not None and len(language.rows) != n_words:
            raise Refused("language", f"words of {len(language.rows):,} for {n_words:,}")
        self._batches = ClassBatches(classes, settings.n_classes, settings.per_class, settings.seed)
        self._settings, self._language = settings, language
        places = torch.arange(settings.n_classes).repeat_interleave(settings.per_class)
        self._same = one_class(places)  # of each batch, which comes class by class
        self._guidance = guidance or Guidance()
        # classes have one name each, which is like itself already
        self._mask = self._guidance.mask if language and language.of_images else "image"
        rng = stream(settings.seed, "network")
        widths = [settings.hidden] * bool(settings.hidden) + [settings.dim]
        self.network = Perceptron(vectors, widths, rng)
        self._rows = self.network.scaled(vectors)
        self._boundaries = torch.zeros(len(classes.names))  # away from where they begin
        self._branches = self._draw_branches(vectors.shape[1], rng)
        self._predictor = self._draw_predictor(rng)
        learnt = [*self.network.parameters, *self._branches, *self._predictor]
        if settings.objective == "margin":
            learnt.append(self._boundaries)
        self._adam = Adam(learnt, settings.rate, weight_decay=settings.weight_decay)
        self.card = {
            "method": "metric learning", **asdict(settings), "branches": list(settings.branches),
            "guidance": asdict(self._guidance) if language else None,
            "n_images": len(vectors), "n_classes_in_all": len(np.unique(classes.codes)),
        }  # fmt: skip
        self.fingerprint = run_fingerprint(
            self.card, vectors, classes.codes, language.rows if language else None
        )

    def step(self, number: int) -> dict[str, float]:
        """Learn from one batch."""
        rows = self._batches.rows(number)
        codes = self._batches.classes.codes[rows]
        labels, inputs = torch.from_numpy(codes), own_part(self._rows[torch.from_numpy(rows)])
        vectors = gathered(self.network.unit(inputs))
        language = self._language if number >= self._guidance.delay else None
        alike = language.of(rows, codes) if language else None
        cosines = None if alike is None else self._cosines(vectors)
        loss = self._objective(_Batch(number, inputs, vectors, labels, alike, cosines))
        losses = {"loss": loss}
        if alike is not None:
            known = {"cosines": cosines, "same": self._same, "mask": self._mask}
            losses["language"] = self._guidance.loss(vectors, labels, alike, **known)
            loss = loss + self._guidance.weight * losses["language"]
        if language and self._guidance.prediction:
            words = language.rows_of(rows, codes)
            losses["prediction"] = 1 - (self._foretold(vectors) * words).sum(dim=1).mean()
            loss = loss + self._guidance.prediction * losses["prediction"]
        require_finite(loss, number, rows)
        share_left = (1 + math.cos(math.pi * number / self._settings.steps)) / 2
        self._adam.rate = self._settings.rate * share_left
        self._adam.step(loss)
        return {name: round(float(value.detach()), 6) for name, value in losses.items()}

    def projection(self, card: Mapping[str, Any] | None = None) -> Layers:
        """Return the embedding as it is now.

        Args:
            card: what else its card shall say.
        """
        return self.network.projection(
            {**self.card, "data_sha256": self.fingerprint, **(card or {})}
        )

    def _cosines(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return cosines for both losses, or for mining and one loss."""
        with torch.set_grad_enabled(self._settings.objective.startswith("multisimilarity")):
            return vectors @ vectors.T

    def _objective(self, batch: _Batch) -> torch.Tensor:
        _, inputs, vectors, labels, alike, cosines = batch
        match self._settings.objective:
            case "multisimilarity" | "multisimilarity, original" as name:
                form: Form = "original" if name.endswith("original") else "official"
                judged, share = None, self._guidance.mining
                if alike is not None and cosines is not None and share:
                    judged = torch.lerp(cosines.detach(), alike, share)
                return multisimilarity(vectors, labels, form=form, judged=judged, cosines=cosines)
            case "s2sd":
                features = gathered(self.network.features(inputs))
                settings = Distillation(0.0, self._settings.feature_weight)
                return s2sd(
                    lambda of: multisimilarity(of, labels), vectors, self._branched(features),
                    features, settings,
                )  # fmt: skip
        rng = stream(self._settings.seed, "triplets", batch.number)
        triplets = distance_weighted(vectors, labels, rng, cosines=cosines)
        near, far = sides_of(vectors, triplets)
        if self._settings.objective == "triplet":
            return triplet_loss(near, far)
        # Adam moves whatever it learns by its rate, so boundaries are learnt in units of theirs
        unit = self._settings.boundary_rate / self._settings.rate
        boundaries = BOUNDARY + unit * self._boundaries[labels[triplets[:, 0]]]
        return margin_loss(near, far, boundaries)

    def _draw_branches(self, n_in: int, rng: np.random.Generator) -> list[torch.Tensor]:
        if self._settings.objective != "s2sd":
            return []
        n, drawn = self._settings.hidden or n_in, []
        for width in self._settings.branches:
            drawn += [normal((width, n), (2 / n) ** 0.5, rng), torch.zeros(width)]
            drawn += [normal((width, width), width**-0.5, rng), torch.zeros(width)]
        return drawn

    def _draw_predictor(self, rng: np.random.Generator) -> list[torch.Tensor]:
        if self._language is None or not self._guidance.prediction:
            return []
        n, width = self._settings.dim, self._language.rows.shape[1]
        first = [normal((width, n), (2 / n) ** 0.5, rng), torch.zeros(width)]
        return [*first, normal((width, width), width**-0.5, rng), torch.zeros(width)]

    def _foretold(self, vectors: torch.Tensor) -> torch.Tensor:
        W, b, V, c = self._predictor
        return normalize(relu(vectors @ W.T + b) @ V.T + c, dim=1)

    def _branched(self, features: torch.Tensor) -> list[torch.Tensor]:
        parts = zip(*(self._branches[n::4] for n in range(4)), strict=True)
        return [normalize(relu(features @ W.T + b) @ V.T + c, dim=1) for W, b, V, c in parts]
