"""How a network is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from lookalike.core.errors import Refused
from lookalike.learning.embeddings.recipe import WORDS

Objective = Literal["multisimilarity", "triplet", "fine-tuning"]
OBJECTIVES: tuple[Objective, ...] = ("multisimilarity", "triplet", "fine-tuning")
Precision = Literal["float32", "bfloat16", "float16"]
WARMUP = 0.1  # of the steps


@dataclass(frozen=True)
class NetworkSettings:
    """How a network is trained.

    Attributes:
        model: spec of the network that it begins as, of timm or a file.
        objective: of OBJECTIVES; fine-tuning classifies, by a head that is left in the end.
        image_size: pixels of a picture's side; 0 for the model's own.
        steps: at most.
        batch: images of a step.
        per_class: images of each class in it.
        rate: of learning; reached after a tenth of the steps, it falls to 0 along a cosine.
        weight_decay: of AdamW.
        precision: of the forward pass, by autocast.
        accumulate: parts in which a batch passes through the network; the step is the same.
        every: steps between trials on products of their own, and between checkpoints.
        patience: trials without a gain after which it ends.
        crop: least share of a picture that a random crop holds.
        words: that guide: "names" of the classes (ELG), "pseudolabels" (PLG), or none.
        weight: of the words.
        seed: of everything that is drawn.

    Raises:
        Refused: the field and the reason.
    """

    model: str
    objective: Objective = "multisimilarity"
    image_size: int = 0
    steps: int = 400
    batch: int = 64
    per_class: int = 2
    rate: float = 1e-4
    weight_decay: float = 1e-4
    precision: Precision = "float32"
    accumulate: int = 1
    every: int = 20
    patience: int = 5
    crop: float = 0.4
    words: str = ""
    weight: float = 10.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise Refused("objective", f"there is no {self.objective!r}, but {OBJECTIVES}")
        if self.words not in WORDS:
            raise Refused("words", f"{self.words!r} is neither names nor pseudolabels")
        if self.words and self.objective == "fine-tuning":
            raise Refused("words", "fine-tuning is not guided by words")
        if min(self.steps, self.batch, self.per_class, self.accumulate) < 1:
            raise Refused("steps", "batch, per_class and accumulate are at least 1")
        if min(self.every, self.patience) < 1:
            raise Refused("every", "and patience are at least 1")
        if not self.rate > 0 or min(self.weight_decay, self.weight, self.seed) < 0:
            raise Refused("rate", "is above 0; weight decay, weight and seed are not below")
        if not 0 < self.crop <= 1 or self.image_size < 0:
            raise Refused("crop", "is above 0 and at most 1; an image's size is not below 0")
        if self.batch % self.per_class or self.batch % self.accumulate:
            reason = f"{self.batch} images are no multiple of {self.per_class} of each class and"
            raise Refused("batch", f"{reason} of {self.accumulate} parts")

    def rate_at(self, step: int) -> float:
        """Return the rate of learning at a step.

        >>> settings = NetworkSettings("timm:resnet18", steps=100, rate=1.0)
        >>> [round(settings.rate_at(step), 2) for step in (0, 9, 10, 55, 99)]
        [0.1, 1.0, 1.0, 0.5, 0.0]
        """
        n_warm = round(WARMUP * self.steps)
        if step < n_warm:
            return self.rate * (step + 1) / n_warm
        share = (step - n_warm) / (self.steps - n_warm)
        return self.rate * (1 + math.cos(math.pi * share)) / 2
