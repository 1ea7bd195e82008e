"""A text-image space: a head for vectors of pictures, one for vectors of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.lit.captions import UNKNOWN, Attributes
from lookalike.learning.projection import Layers

IMAGES, TEXTS = "images.safetensors", "texts.safetensors"


@dataclass(frozen=True)
class TextSpace:
    """Where pictures and texts meet.

    Attributes:
        images: maps vectors of the locked image tower.
        texts: maps vectors of the text encoder.
    """

    images: Layers
    texts: Layers

    @property
    def card(self) -> Mapping[str, Any]:
        """What it was made from."""
        return self.images.card

    def save(self, folder: Path) -> None:
        """Write both heads."""
        self.texts.save(folder / TEXTS)
        self.images.save(folder / IMAGES)

    @classmethod
    def load(cls, folder: Path) -> TextSpace:
        """Return what `save` wrote.

        Raises:
            Refused: the folder holds no text space, or halves of two.
        """
        try:
            space = cls(Layers.load(folder / IMAGES), Layers.load(folder / TEXTS))
        except FileNotFoundError:
            raise Refused("space", f"{folder} holds no text space") from None
        if dict(space.images.card) != dict(space.texts.card):
            raise Refused("space", f"{folder} holds halves of two text spaces")
        return space


@dataclass(frozen=True)
class ZeroShot:
    """How often the nearest caption of a column is the right one, on images never seen.

    Attributes:
        column: the attribute.
        n_images: held out and known.
        n_values: captions to choose from.
        accuracy: share of the right ones.
        majority: share that the most common value of the training images would get right.
        was_captioned: whether training saw captions of it.
    """

    column: str
    n_images: int
    n_values: int
    accuracy: float
    majority: float
    was_captioned: bool


def zero_shot(
    vectors: Float32s,
    attributes: Attributes,
    texts_of: Mapping[str, Float32s],
    held_out: np.ndarray[Any, np.dtype[np.bool_]],
    captioned: Sequence[str],
) -> list[ZeroShot]:
    """Return for each attribute how well captions find its value.

    Args:
        vectors: of all images in the space, shape (n, dim), unit rows.
        attributes: of all images.
        texts_of: {column: unit vectors of a caption for each of its values}.
        held_out: which images training did not see, shape (n,).
        captioned: the columns of which it saw captions.
    """
    found = []
    for place, name in enumerate(attributes.columns):
        codes = attributes.codes[:, place]
        seen, asked = codes[~held_out & (codes != UNKNOWN)], held_out & (codes != UNKNOWN)
        if not asked.any() or not seen.size:
            continue
        guesses = (vectors[asked] @ texts_of[name].T).argmax(axis=1)
        common = int(np.bincount(seen).argmax())
        found.append(
            ZeroShot(
                column=name,
                n_images=int(asked.sum()),
                n_values=len(attributes.values[place]),
                accuracy=float((guesses == codes[asked]).mean()),
                majority=float((codes[asked] == common).mean()),
                was_captioned=name in captioned,
            )
        )
    return found
