"""The images that a model is asked about after training, and what it has seen of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lookalike.core.arrays import Bools, Ints
from lookalike.core.errors import Refused

PRODUCTS, CLASSES, IMAGES = "products", "classes", "images"
USUAL = ""  # products where any is known, else images
HOLD_OUT = (USUAL, PRODUCTS, CLASSES, IMAGES)
SHARE = 0.2
FEWEST_CLASSES = 2  # on either side, so that images can be told apart
Labels = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Split:
    """The images to learn from and those to ask about.

    Attributes:
        unit: PRODUCTS, CLASSES or IMAGES: what lies on one side as a whole.
        may_learn: shape (n_images,).
        asked: the images asked about each sort of label, shape (n_images,) each.
    """

    unit: str
    may_learn: Bools
    asked: Mapping[str, Bools]


@dataclass(frozen=True)
class HeldOut:
    """What was held out, and what of it the model has seen nevertheless.

    Attributes:
        unit: PRODUCTS, CLASSES or IMAGES.
        n_images: held out.
        n_products_seen: products with images on both sides.
        classes: by sort of label, how many classes are asked about and how many of those were
            learned from.
    """

    unit: str
    n_images: int
    n_products_seen: int
    classes: Mapping[str, tuple[int, int]]

    def as_json(self) -> dict[str, Any]:
        """Return it as cards and figures hold it."""
        return {**asdict(self), "classes": {name: list(of) for name, of in self.classes.items()}}

    @property
    def words(self) -> list[str]:
        """Say it in one sentence for each fact."""
        lines = [f"held out: {self.unit} ({self.n_images:,} images)"]
        for name, (n_asked, n_seen) in self.classes.items():
            lines.append(f"{name}: {n_seen:,} of {n_asked:,} classes asked about were learned from")
        if self.n_products_seen:
            lines.append(f"{self.n_products_seen:,} products have images on both sides")
        return lines


def usual_unit(products: Sequence[str]) -> str:
    """Return PRODUCTS where any product is known, else IMAGES."""
    return PRODUCTS if any(products) else IMAGES


def held_out_groups(groups: Sequence[str], seed: int) -> Bools:
    """Return which images are held out: all of a product or none, about a fifth of the products.

    An image without a product is one of its own. It depends on seed and name alone.
    """
    names = [group or f"image {row}" for row, group in enumerate(groups)]
    out: Bools = np.array([_place(f"{seed} {name}") for name in names]) < SHARE
    return out


def split_images(
    labels: Labels, products: Sequence[str], hold_out: str = USUAL, *, seed: int = 0
) -> Split:
    """Hold out about a fifth of the products, of each label's classes, or of the images.

    Args:
        labels: of each image by sort, "" where one is not known.
        products: of each image, "" where it is not known; such an image is a product of its own.
        hold_out: one of HOLD_OUT. With CLASSES, an image with a held-out class of any sort is not
            learned from, and each sort of label is asked about its own held-out classes.
        seed: of the draw, which depends on seed and names alone.

    Raises:
        Refused: an unknown word, no product to hold out, or too few classes.

    >>> split = split_images({"cut": list("aabbccdd")}, [""] * 8, "classes")
    >>> int(split.may_learn.sum()), int(split.asked["cut"].sum())
    (4, 4)
    """
    if hold_out not in HOLD_OUT:
        raise Refused("hold_out", f"{hold_out!r} is none of {', '.join(HOLD_OUT[1:])}")
    unit = hold_out or usual_unit(products)
    if unit == CLASSES:
        asked = {name: _held_out_classes(name, of, seed) for name, of in labels.items()}
        return Split(unit, ~np.any([*asked.values()], axis=0), asked)
    if unit == PRODUCTS and not any(products):
        raise Refused("hold_out", "no image has a product; hold out classes or images")
    out = held_out_groups(products if unit == PRODUCTS else [""] * len(products), seed)
    return Split(unit, ~out, dict.fromkeys(labels, out))


def describe(split: Split, labels: Labels, products: Sequence[str], learnt: Ints) -> HeldOut:
    """Return what was held out, and what of it the model has seen.

    Args:
        split: of the images.
        labels: as `split_images`.
        products: as `split_images`.
        learnt: rows of the images that were learned from.
    """
    out = np.any([*split.asked.values()], axis=0)
    seen_products = {products[row] for row in learnt.tolist()} - {""}
    asked_products = {products[row] for row in np.flatnonzero(out).tolist()}
    classes = {}
    for name, of in labels.items():
        asked = {of[row] for row in np.flatnonzero(split.asked[name]).tolist()} - {""}
        classes[name] = (len(asked), len(asked & {of[row] for row in learnt.tolist()}))
    return HeldOut(split.unit, int(out.sum()), len(seen_products & asked_products), classes)


def _held_out_classes(name: str, values: Sequence[str], seed: int) -> Bools:
    """Return the images of a fifth of the classes with two images or more, two at least."""
    sizes = Counter(value for value in values if value)
    classes = sorted(
        (value for value, size in sizes.items() if size > 1),
        key=lambda value: _place(f"{seed} {name} {value}"),
    )
    n_out = max(FEWEST_CLASSES, round(SHARE * len(classes)))
    if len(classes) < n_out + FEWEST_CLASSES:
        raise Refused(
            "hold_out",
            f"{name} has {len(classes)} classes of two images or more; to hold out classes takes "
            f"{2 * FEWEST_CLASSES}, two of them to learn from. Hold out products or images",
        )
    chosen = set(classes[:n_out])
    return np.array([value in chosen for value in values], np.bool_)


def _place(name: str) -> float:
    """Return a number from 0 to 1 that depends on a name alone."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64
