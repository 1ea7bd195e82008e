"""Classes of images: what an embedding learns from, and which of them it is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools, Ints
from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import stream


@dataclass(frozen=True)
class Classes:
    """What each image shows.

    Attributes:
        names: of the classes, in alphabetical order.
        codes: shape (n_images,), places in `names`.
    """

    names: tuple[str, ...]
    codes: Ints

    @classmethod
    def of(cls, values: Sequence[str]) -> Classes:
        """Return the classes of images.

        >>> Classes.of(["red bag", "hat", "red bag"]).codes.tolist()
        [1, 0, 1]

        Raises:
            Refused: an image has none, or there is one class alone.
        """
        if absent := [row for row, value in enumerate(values) if not value]:
            raise Refused("classes", f"image {absent[0] + 1} has none ({len(absent):,} have not)")
        names, codes = np.unique(np.array(values, object).astype(str), return_inverse=True)
        if len(names) < 2:
            raise Refused("classes", f"{len(names)} is not enough; nothing can be told apart")
        return cls(tuple(names.tolist()), codes.astype(np.int64))

    def within(self, share: tuple[float, float]) -> Bools:
        """Return the images of a part of the classes, by their order: (0, 0.5) is the first half.

        Raises:
            Refused: fewer than two classes are in it.
        """
        n = len(self.names)
        first, last = (round(n * of) for of in share)
        if last - first < 2:
            raise Refused("classes", f"{last - first} of {n} are in a part; two are needed")
        inside: Bools = (self.codes >= first) & (self.codes < last)
        return inside


def rows_of_pairs(labels: Sequence[Sequence[str]], among: Bools) -> tuple[Ints, int]:
    """Return the images that have every sort of label and another image of each.

    >>> rows_of_pairs([["a", "a", "b", "a", ""]], np.array([True, True, True, False, True]))
    (array([0, 1]), 1)

    Args:
        labels: of all images by sort, "" where one is not known.
        among: which images may be taken.

    Returns:
        Their rows, and how many classes have but one image and are left out.
    """
    codes = [np.unique(np.array(of, object).astype(str), return_inverse=True)[1] for of in labels]
    rows = np.flatnonzero(among & np.all([[bool(value) for value in of] for of in labels], axis=0))
    n_small = 0
    while True:
        sizes = [np.bincount(of[rows], minlength=len(of)) for of in codes]
        alone = [int((of == 1).sum()) for of in sizes]
        if not any(alone):
            return rows, n_small
        n_small += sum(alone)
        kept = np.all([size[of[rows]] > 1 for of, size in zip(codes, sizes, strict=True)], axis=0)
        rows = rows[kept]


@dataclass(frozen=True)
class ClassBatches:
    """Batches with as many images of each of some classes: a function of seed and step alone.

    The code of language guidance draws classes and images with replacement; here a batch holds
    no class and no image twice, so each image in it has `per_class` - 1 positives.

    Attributes:
        classes: of the images to draw from.
        n_classes: in a batch.
        per_class: images of each.
        seed: of the draws.

    Raises:
        Refused: a batch without positives or without negatives, more classes than there are, or
            a class with too few images.
    """

    classes: Classes
    n_classes: int = 56
    per_class: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.per_class < 2:
            raise Refused("batch", f"with {self.per_class} image of a class there is no positive")
        if self.n_classes < 2:
            raise Refused("batch", f"with {self.n_classes} class there is no negative")
        sizes = np.bincount(self.classes.codes, minlength=len(self.classes.names))
        if (n := int((sizes > 0).sum())) < self.n_classes:
            raise Refused("batch", f"{self.n_classes} classes are asked for, of {n}")
        small = np.flatnonzero((sizes > 0) & (sizes < self.per_class))
        if small.size:
            name, size = self.classes.names[small[0]], sizes[small[0]]
            have = f"{size} image{'s' if size > 1 else ''}, so a batch cannot hold {self.per_class}"
            raise Refused("classes", f"{name!r} has {have} ({len(small):,} are so small)")

    def rows(self, number: int) -> Ints:
        """Return the images of a batch, shape (n_classes * per_class,), class by class."""
        rng, codes = stream(self.seed, "classes", number), self.classes.codes
        order = np.lexsort((rng.random(len(codes)), codes))  # by class, in any order within
        present, starts = np.unique(codes[order], return_index=True)
        chosen = rng.choice(len(present), self.n_classes, replace=False)
        rows: Ints = order[starts[chosen][:, None] + np.arange(self.per_class)].ravel()
        return rows
