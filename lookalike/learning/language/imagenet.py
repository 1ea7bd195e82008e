"""What a network trained on ImageNet takes pictures for, as words."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
from timm.data.imagenet_info import ImageNetInfo

from lookalike.core.arrays import Float32s, Floats, Ints
from lookalike.core.errors import Refused

MeanOf = Literal["probabilities", "logits"]
_LEAST = np.finfo(np.float32).tiny


@cache
def imagenet_names() -> tuple[str, ...]:
    """Return the names of the 1,000 classes, the first synonym of each.

    >>> imagenet_names()[:2]
    ('tench', 'goldfish')
    """
    known: Any = ImageNetInfo()
    n_classes = int(known.num_classes())
    return tuple(known.index_to_description(n).partition(",")[0] for n in range(n_classes))


def as_probabilities(vectors: Float32s | Floats) -> Floats:
    """Return probabilities of vectors of length 1 that an `@classes` backbone has made of them.

    >>> as_probabilities(np.array([[3.0, 1.0]]) / 10**0.5).round(2)
    array([[0.75, 0.25]])

    Args:
        vectors: shape (n, n_classes), nothing below 0.

    Raises:
        Refused: something is below 0, or a row is empty.
    """
    rows = np.asarray(vectors, np.float64)
    sums = rows.sum(axis=1, keepdims=True)
    if not ((rows >= 0).all() and (sums > 0).all()):
        raise Refused("probabilities", "a picture's are below 0, or all 0")
    shares: Floats = rows / sums
    return shares


def pseudolabels(
    probabilities: Floats, codes: Ints | None, k: int, *, mean_of: MeanOf = "probabilities"
) -> Ints:
    """Return the k likeliest ImageNet classes of each class, or of each image.

    Source: Roth, Vinyals and Akata (CVPR 2022), section 3.3: probabilities are averaged over the
    images of a class. Their code averages logits, which takes the geometric mean.

    >>> three = np.array([[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]])
    >>> pseudolabels(three, np.array([0, 0]), 2).tolist()
    [[0, 1]]
    >>> pseudolabels(three, None, 1).tolist()
    [[0], [1]]

    Args:
        probabilities: of each image, shape (n, m).
        codes: class of each image, 0 to C - 1, each of them with an image; None for each image
            by itself.
        k: how many.
        mean_of: probabilities or logits.

    Returns:
        Shape (C, k), or (n, k); likeliest first, ties by number.

    Raises:
        Refused: k that there are not, or a mean that is not known.
    """
    n_classes = probabilities.shape[1]
    if not 1 <= k <= n_classes:
        raise Refused("k", f"{k} is not 1 to {n_classes:,}")
    if mean_of not in ("probabilities", "logits"):
        raise Refused("mean_of", f"{mean_of!r} is neither probabilities nor logits")
    values = probabilities
    if mean_of == "logits":  # of an image up to a constant, which is the same for all classes
        values = np.log(np.maximum(probabilities, _LEAST))
    if codes is not None:
        sums = np.zeros((int(codes.max()) + 1, n_classes))
        np.add.at(sums, codes, values)
        values = sums / np.bincount(codes)[:, None]
    top: Ints = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return top
