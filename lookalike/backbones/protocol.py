"""What the embedding pipeline asks of a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Vectors = NDArray[np.float32]


class Backbone(Protocol):
    """A fixed model from pictures to vectors.

    Attributes:
        spec: the canonical text that names it.
        dim: length of its vectors.
        metric: how its vectors are compared; always "cosine", and they have length 1.
        card: what the fingerprint covers, for people: library, version, weights, preprocessing.
        smallest_side: pixels that the preprocessing needs on the shorter side, so that a JPEG
            may be decoded at a fraction of its size; 0 asks for the whole picture.
        batch_size: how many pictures it likes to get at once.
        on_gpu: whether a batch runs on a GPU, so that the processor is free to decode meanwhile.
    """

    spec: str
    dim: int
    metric: str
    card: Mapping[str, Any]
    smallest_side: int
    batch_size: int
    on_gpu: bool

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides its vectors, hexadecimal."""

    def transform(self, image: Image.Image) -> Any:
        """Return one RGB picture as the model's input; called from several threads."""

    def embed(self, inputs: Sequence[Any]) -> Vectors:
        """Return the vectors of transformed pictures, shape (n, dim), rows of length 1.

        May be called from several threads, each of which then computes alone.
        """


class OutOfMemoryError(Exception):
    """A batch does not fit into the device's memory; a smaller one may."""


def stored_dtype(card: Mapping[str, Any]) -> str:
    """Return how vectors are stored by a model's card: as it says, or else as float32."""
    return str(card.get("stored_as", "float32"))


# of a card: decides no vector, or as little as the processor does
APART = frozenset({"spec", "weights", "weights_licence", "engine"})


def compute_fingerprint(card: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a card says about the vectors, in any order.

    The same weights under another name, from another file or run by another engine have the same
    fingerprint.
    """
    facts = {key: value for key, value in card.items() if key not in APART}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def unit_rows(vectors: NDArray[np.floating]) -> Vectors:
    """Return the rows scaled to length 1; a row of zeros stays as it is."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
