"""How alike classes are by their words: the targets of language guidance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from lookalike.core.arrays import Float32s, Floats, Ints
from lookalike.learning.language.imagenet import MeanOf, imagenet_names, pseudolabels
from lookalike.learning.language.sources import LanguageSource, name_rows
from lookalike.learning.losses.matching import language_rows

TEMPLATE = "a photo of a {}"
KEPT = 4096  # classes whose similarities are worked out once


@dataclass(frozen=True)
class Language:
    """Words as rows whose dot products say how alike they are.

    Attributes:
        rows: unit rows, of each class or of each image.
        of_images: whether each image has words of its own.
    """

    rows: Float32s
    of_images: bool = False

    def rows_of(self, images: Ints, codes: Ints) -> torch.Tensor:
        """Return the words of images, shape (n, e).

        Args:
            images: rows of the images.
            codes: classes of the same.
        """
        return torch.from_numpy(self.rows[images if self.of_images else codes])

    def of(self, images: Ints, codes: Ints) -> torch.Tensor:
        """Return how alike the words of images are, shape (n, n); as `rows_of`."""
        if not self.of_images and len(self.rows) <= KEPT:
            return torch.from_numpy(self._of_classes.take(codes, axis=0).take(codes, axis=1))
        rows = self.rows_of(images, codes)
        return rows @ rows.T

    @cached_property
    def _of_classes(self) -> Float32s:
        found: Float32s = self.rows @ self.rows.T
        np.fill_diagonal(found, 1)  # to the last digit
        return found

    def among(self, images: Ints) -> Language:
        """Return that of some images, where each has words of its own."""
        return Language(self.rows[images], of_images=True) if self.of_images else self


def plain_name(name: str) -> str:
    """Return a class name as a text encoder should read it.

    Source: the code of language guidance: what follows the last dot, spaces for underscores,
    lower case.

    >>> plain_name("027.Shiny_Cowbird")
    'shiny cowbird'
    """
    return name.rpartition(".")[2].replace("_", " ").lower()


def name_language(
    names: Sequence[str], source: LanguageSource, template: str = TEMPLATE
) -> Language:
    """Return the language of class names (ELG).

    Raises:
        Refused: the source knows no word of one.
    """
    return Language(_rows(name_rows([plain_name(name) for name in names], source, template)))


def pseudolabel_language(
    probabilities: Floats,
    codes: Ints,
    source: LanguageSource,
    k: int,
    *,
    of_images: bool = False,
    mean_of: MeanOf = "probabilities",
    template: str = TEMPLATE,
) -> Language:
    """Return the language of the k ImageNet classes for which pictures are taken (PLG).

    Args:
        probabilities: of ImageNet's classes, shape (n, 1000).
        codes: class of each image, each of 0 to C - 1 with one.
        source: what reads the names.
        k: pseudolabels.
        of_images: for each image by itself, not for each class.
        mean_of: as `pseudolabels`.
        template: what a name goes into.

    Raises:
        Refused: as `pseudolabels`.
    """
    top = pseudolabels(probabilities, None if of_images else codes, k, mean_of=mean_of)
    used, places = np.unique(top, return_inverse=True)
    names = imagenet_names()
    vectors = name_rows([plain_name(names[n]) for n in used], source, template)
    return Language(_rows(vectors[places.reshape(top.shape)]), of_images)


def _rows(words: Float32s) -> Float32s:
    found: Float32s = language_rows(torch.from_numpy(words)).numpy()
    return found
