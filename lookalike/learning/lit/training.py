"""Train a text-image space on a catalog's own attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import log_softmax, normalize, relu

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.adam import Adam, AdamLearner
from lookalike.learning.engine.determinism import normal, stream
from lookalike.learning.engine.fitting import require_finite, run_fingerprint
from lookalike.learning.engine.loop import train
from lookalike.learning.held_out import held_out_groups
from lookalike.learning.language.encoders import TextEncoder
from lookalike.learning.lit.captions import (
    UNKNOWN,
    Attributes,
    CaptionDraw,
    caption_text,
    draw_captions,
)
from lookalike.learning.lit.space import TextSpace, ZeroShot, zero_shot
from lookalike.learning.projection import Layer, Layers, check_vectors

FEWEST = 20  # images to learn from
SCALE = math.log(10.0)  # of the logits, to begin with; at most 100


@dataclass(frozen=True)
class LitSettings:
    """How a space is trained.

    Attributes:
        dim: of the space.
        hidden: width of each head.
        epochs: how often each image is seen.
        batch: images of a step.
        rate: of learning, at first; it falls to 0 along a cosine.
        weight_decay: L2.
        seed: of everything that is drawn.
    """

    dim: int = 256
    hidden: int = 512
    epochs: int = 40
    batch: int = 256
    rate: float = 1e-3
    weight_decay: float = 1e-4
    seed: int = 0


@dataclass(frozen=True)
class LitRun:
    """A trained space and what it can do.

    Attributes:
        space: the heads.
        scores: by attribute, on products that were held out.
        seen: rows of the images that it learned from.
        n_held_out: images.
    """

    space: TextSpace
    scores: list[ZeroShot]
    seen: Ints
    n_held_out: int

    @property
    def n_seen(self) -> int:
        """Images that it learned from."""
        return len(self.seen)


class LitLearner(AdamLearner):
    """Two heads on fixed vectors, drawn together where a caption is true of an image.

    Source: Zhai et al., "LiT: Zero-Shot Transfer with Locked-image text Tuning" (CVPR 2022),
    with the loss of CLIP. Unlike there a batch has many true pairs, since captions are few:
    every caption that is true of an image counts as its own, with equal shares.

    Args:
        images: vectors of the images to learn from.
        codes: their attributes.
        captions: by key, unit vectors of every caption that is drawn.
        settings: as `LitSettings`.
        fingerprint: as `Learner`.
    """

    def __init__(
        self,
        images: Float32s,
        codes: Ints,
        captions: tuple[dict[tuple[int, ...], int], Float32s],
        settings: LitSettings,
        fingerprint: str,
    ) -> None:
        self.fingerprint = fingerprint
        self._settings, self._codes = settings, codes
        self._row_of, texts = captions
        self._schedule = Schedule(codes, settings)
        rows = unit_rows(images)
        # each number of the tower for itself; of texts, few of which are known, all alike
        self._scalings = [
            (rows.mean(axis=0), rows.std(axis=0) + np.float32(1e-4)),
            (texts.mean(axis=0), texts.std() + np.float32(1e-4)),
        ]
        self._images, self._texts = (
            torch.from_numpy((of - mean) / std)
            for of, (mean, std) in zip((rows, texts), self._scalings, strict=True)
        )
        rng = stream(settings.seed, "heads")
        widths = (settings.hidden, settings.dim)
        self.heads = [_head(v.shape[1], *widths, rng) for v in (self._images, self._texts)]
        self._scale = torch.tensor(SCALE)
        self._adam = Adam([*self.heads[0], *self.heads[1], self._scale], settings.rate,
                          weight_decay=settings.weight_decay)  # fmt: skip

    def step(self, number: int) -> dict[str, float]:
        """Learn from one batch."""
        rows, draw = self._schedule.batch(number)
        texts = [self._row_of[key] for key in draw.keys()]  # noqa: SIM118 - no dict
        images = normalize(_through(self.heads[0], self._images[rows]), dim=1)
        words = normalize(_through(self.heads[1], self._texts[texts]), dim=1)
        logits = self._scale.clamp(max=math.log(100.0)).exp() * (images @ words.T)
        true = torch.from_numpy(draw.are_true(self._codes[rows])).float()
        loss = (_cross_entropy(logits, true) + _cross_entropy(logits.T, true.T)) / 2
        require_finite(loss, number, rows)
        self._adam.rate = self._settings.rate * self._schedule.share_left(number)
        self._adam.step(loss)
        return {"loss": round(float(loss.detach()), 6)}

    def space(self, card: Mapping[str, Any]) -> TextSpace:
        """Return the heads as they are, with the scaling of their inputs in them."""
        heads = []
        for head, (mean, std) in zip(self.heads, self._scalings, strict=True):
            W, b, *last = (parameter.detach().numpy().copy() for parameter in head)
            scaled = W / std
            layers = (Layer(scaled, b - scaled @ mean), Layer(*last))
            heads.append(Layers(len(mean), layers, card, 0.0))
        return TextSpace(*heads)


@dataclass(frozen=True)
class Schedule:
    """Which images and captions each step sees: a function of seed and step alone.

    Attributes:
        codes: attributes of the images.
        settings: as `LitSettings`.
    """

    codes: Ints
    settings: LitSettings

    @cached_property
    def n_batches(self) -> int:
        """Steps of an epoch; what is left over comes in another one."""
        return max(1, len(self.codes) // self.settings.batch)

    @property
    def n_steps(self) -> int:
        """Steps in all."""
        return self.n_batches * self.settings.epochs

    def share_left(self, number: int) -> float:
        """Return which share of the rate is left at a step."""
        return 0.5 + 0.5 * math.cos(math.pi * number / self.n_steps)

    def batch(self, number: int) -> tuple[Ints, CaptionDraw]:
        """Return rows of images, and a caption for each."""
        epoch, place = divmod(number, self.n_batches)
        order = stream(self.settings.seed, "images", epoch).permutation(len(self.codes))
        rows = order[place * self.settings.batch : (place + 1) * self.settings.batch]
        return rows, draw_captions(self.codes[rows], stream(self.settings.seed, "captions", number))

    def captions(self) -> list[tuple[int, ...]]:
        """Return every caption that will be drawn, once."""
        draws = (self.batch(number)[1].keys() for number in range(self.n_steps))
        return sorted({key for keys in draws for key in keys})


def train_text_space(
    images: Float32s,
    attributes: Attributes,
    groups: Sequence[str],
    encoder: TextEncoder,
    folder: Path,
    *,
    parent: str,
    captioned: Sequence[str] = (),
    settings: LitSettings | None = None,
    every: int = 20,
    on_checkpoint: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> LitRun:
    """Train a space for a catalog, or go on with it, and say what it can do.

    Args:
        images: vectors of the locked tower, shape (n, d).
        attributes: of the same images; those that are not captioned are scored all the same.
        groups: product of each image; a product is held out as a whole.
        encoder: reads the captions.
        folder: where the run keeps its checkpoint, curve and, in the end, the space.
        parent: fingerprint of the tower.
        captioned: columns of which captions are made; all if empty.
        settings: as `LitSettings`; its defaults if None.
        every: steps between checkpoints.
        on_checkpoint: called when one lies on disk.
        progress: told the steps.

    Raises:
        Refused: too few images with a known attribute, or vectors without direction.
    """
    settings = settings or LitSettings()
    check_vectors("images", images)
    names = tuple(captioned) or attributes.columns
    out = held_out_groups(groups, settings.seed)
    places = [attributes.columns.index(name) for name in names]
    codes = np.full_like(attributes.codes, UNKNOWN)
    codes[:, places] = attributes.codes[:, places]
    seen = np.flatnonzero(~out & (codes != UNKNOWN).any(axis=1))
    if len(seen) < FEWEST:
        raise Refused("images", f"{len(seen)} have an attribute to learn from; {FEWEST} are needed")
    keys = Schedule(codes[seen], settings).captions()
    texts = [caption_text(attributes, key) for key in keys]
    progress.start(0, None, f"Reading {len(texts):,} captions", is_long=True)
    vectors = encoder.encode(texts)
    card = {
        "method": "LiT", **asdict(settings), "parent": parent, "encoder": encoder.fingerprint,
        "encoder_spec": encoder.spec, "columns": list(names), "n_images": len(seen),
        "templates": dict(zip(attributes.columns, attributes.templates, strict=True)),
    }  # fmt: skip
    fingerprint = run_fingerprint(card, images[seen], codes[seen], vectors)
    row_of = {key: row for row, key in enumerate(keys)}
    learner = LitLearner(images[seen], codes[seen], (row_of, vectors), settings, fingerprint)
    n_steps = Schedule(codes[seen], settings).n_steps
    progress.start(0, n_steps, "Learning from captions")
    train(
        learner, folder, n_steps=n_steps, every=every, on_checkpoint=on_checkpoint,
        progress=progress,
    )  # fmt: skip
    space = learner.space({**card, "data_sha256": fingerprint})
    space.save(folder)
    prompts = {n: space.texts.apply(encoder.encode(attributes.texts(p)))
               for p, n in enumerate(attributes.columns)}  # fmt: skip
    scores = zero_shot(space.images.apply(images), attributes, prompts, out, names)
    return LitRun(space, scores, seen, int(out.sum()))


def _head(n_in: int, hidden: int, dim: int, rng: np.random.Generator) -> list[torch.Tensor]:
    first = normal((hidden, n_in), (2 / n_in) ** 0.5, rng)
    second = normal((dim, hidden), hidden**-0.5, rng)
    return [first, torch.zeros(hidden), second, torch.zeros(dim)]


def _through(head: list[torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    return relu(rows @ head[0].T + head[1]) @ head[2].T + head[3]


def _cross_entropy(logits: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Return the mean over rows of the cross entropy with equal shares of what is true."""
    shares = true / true.sum(dim=1, keepdim=True)
    return -(shares * log_softmax(logits, dim=1)).sum(dim=1).mean()
