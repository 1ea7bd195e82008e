"""torchvision's resizing by Pillow alone: processes that decode need not load torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class Resized:
    """Resizes a picture and cuts out its middle, to the pixel what torchvision makes of it.

    Attributes:
        size: (height, width), or what the shorter side becomes.
        resample: of Pillow.
        crop: (height, width) of the middle, not above `size`; None for all of it.
    """

    size: tuple[int, int] | int
    resample: Image.Resampling
    crop: tuple[int, int] | None = None

    def __call__(self, image: Image.Image) -> Image.Image:
        """Return an RGB picture resized.

        >>> middle = Resized(256, Image.Resampling.BICUBIC, crop=(224, 224))
        >>> middle(Image.new("RGB", (640, 480))).size
        (224, 224)
        """
        if self._size_of(image) != image.size:
            image = image.resize(self._size_of(image), self.resample)
        if self.crop is None:
            return image
        height, width = self.crop
        left, top = round((image.width - width) / 2), round((image.height - height) / 2)
        return image.crop((left, top, left + width, top + height))

    def _size_of(self, image: Image.Image) -> tuple[int, int]:
        if not isinstance(self.size, int):
            return self.size[1], self.size[0]
        longer = int(self.size * max(image.size) / min(image.size))
        return (self.size, longer) if image.width <= image.height else (longer, self.size)


@dataclass(frozen=True)
class AsArray:
    """Makes of an RGB picture what a network gets, shape (height, width, 3), by resizing it."""

    resize: Callable[[Image.Image], Image.Image]

    def __call__(self, image: Image.Image) -> NDArray[np.uint8]:
        """Return it.

        >>> AsArray(Resized((2, 3), Image.Resampling.BOX))(Image.new("RGB", (6, 4), "white")).shape
        (2, 3, 3)
        """
        return np.asarray(self.resize(image), np.uint8)
