"""Maps from vectors to vectors: numpy alone, so that any process can apply them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lookalike.backbones.protocol import compute_fingerprint, unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.atomic_files import write_atomically
from lookalike.core.errors import Refused

BLOCK = 8192  # rows that are mapped at once
_CARD = "card"


class Projection(Protocol):
    """A fixed map from vectors to vectors of length 1."""

    @property
    def card(self) -> Mapping[str, Any]:
        """What it was made from, for people; the fingerprint covers it."""

    @property
    def dim(self) -> int:
        """Length of the vectors that come out."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides what comes out, hexadecimal."""

    def apply(self, vectors: Float32s) -> Float32s:
        """Return the mapped rows, shape (n, dim), each of length 1."""

    def content(self) -> bytes:
        """Return its file, as safetensors."""


@dataclass(frozen=True)
class Layer:
    """x W' + b, W of shape (out, in) and b of shape (out,)."""

    weight: Float32s
    bias: Float32s

    @classmethod
    def linear(cls, weight: Sequence[Sequence[float]] | Float32s) -> Layer:
        """Return a layer without a bias."""
        W = np.ascontiguousarray(weight, np.float32)
        return cls(W, np.zeros(len(W), np.float32))


@dataclass(frozen=True)
class Layers:
    """Layers with a leaky ReLU between them; rows have length 1 before the first and in the end.

    None at all leaves vectors as they are but for their length. `apply` gives a row the same
    direction whatever length it has.

    Attributes:
        n_in: length of the vectors that go in.
        layers: in turn.
        slope: of the ReLU, below zero.
        card: as `Projection`.
    """

    n_in: int
    layers: tuple[Layer, ...]
    card: Mapping[str, Any]
    slope: float = 0.01

    @property
    def dim(self) -> int:
        """Length of the vectors that come out."""
        return len(self.layers[-1].weight) if self.layers else self.n_in

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card and of every number."""
        digest = hashlib.sha256(compute_fingerprint(dict(self.card)).encode())
        digest.update(json.dumps([self.n_in, self.slope]).encode())
        for name, array in self._arrays().items():
            digest.update(f"{name} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array, "<f4").data)
        return digest.hexdigest()

    def apply(self, vectors: Float32s) -> Float32s:
        """Return the mapped rows, shape (n, dim), float32, each of length 1.

        Raises:
            Refused: rows of another length than `n_in`, or NaN or infinity among them.
        """
        check_vectors("vectors", vectors, self.n_in)
        mapped = np.empty((len(vectors), self.dim), np.float32)
        for start in range(0, len(vectors), BLOCK):
            rows = unit_rows(vectors[start : start + BLOCK])
            for number, layer in enumerate(self.layers):
                if number:
                    rows = np.where(rows > 0, rows, np.float32(self.slope) * rows)
                rows = rows @ layer.weight.T + layer.bias
            mapped[start : start + BLOCK] = unit_rows(rows)
        return mapped

    def followed_by(self, other: Layers) -> Layers:
        """Return both as one, with the card of the other and beneath it one's own.

        Exact, since a linear map without a bias turns a row the same way whatever its length.

        Raises:
            Refused: the other is no single layer without a bias, or does not fit.
        """
        if other.n_in != self.dim:
            raise Refused("projection", f"{self.dim} numbers come out and {other.n_in} go in")
        if len(other.layers) != 1 or other.layers[0].bias.any():
            raise Refused("projection", "only a linear one without a bias can follow another")
        card = {**other.card, "after": {"fingerprint": self.fingerprint, **self.card}}
        if not self.layers:
            return Layers(self.n_in, other.layers, card, self.slope)
        W, last = other.layers[0].weight, self.layers[-1]
        joined = Layer(W @ last.weight, W @ last.bias)
        return Layers(self.n_in, (*self.layers[:-1], joined), card, self.slope)

    def content(self) -> bytes:
        """Return its file, as safetensors."""
        arrays = self._arrays() or {"none": np.empty(0, np.float32)}
        facts = {"card": dict(self.card), "slope": self.slope, "n_in": self.n_in}
        return save(arrays, {_CARD: json.dumps(facts, sort_keys=True)})

    def save(self, path: Path) -> None:
        """Write it whole or not at all."""
        content = self.content()
        write_atomically(path, lambda file: file.write(content))

    @classmethod
    def load(cls, path: Path) -> Layers:
        """Return what `save` wrote.

        Raises:
            Refused: the file is damaged, or something else.
            OSError: it cannot be opened.
        """
        with path.open("rb"):
            pass  # a missing file is an OSError, for safetensors it is one of its own
        try:
            with safe_open(path, "numpy") as file:
                facts = json.loads(file.metadata()[_CARD])
                n_layers = sum(name.endswith(".weight") for name in file.keys())  # noqa: SIM118
                layers = tuple(
                    Layer(*(file.get_tensor(f"{n}.{part}") for part in ("weight", "bias")))
                    for n in range(n_layers)
                )
        except (SafetensorError, KeyError, TypeError, ValueError) as problem:
            raise Refused("projection", f"{path.name} is no projection: {problem}") from problem
        return cls(facts["n_in"], layers, facts["card"], facts["slope"])

    def _arrays(self) -> dict[str, Float32s]:
        return {
            f"{number}.{part}": getattr(layer, part)
            for number, layer in enumerate(self.layers)
            for part in ("weight", "bias")
        }


def check_vectors(field: str, vectors: Float32s, dim: int | None = None) -> None:
    """Pass if there are rows of finite numbers, none of length zero.

    Raises:
        Refused: otherwise; or they have another length than `dim`.
    """
    if vectors.ndim != 2 or (dim is not None and vectors.shape[1] != dim):
        wanted = "(n, dim)" if dim is None else f"(n, {dim})"
        raise Refused(field, f"vectors of shape {vectors.shape} where {wanted} is needed")
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        if not np.isfinite(block).all():
            row = start + int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
            raise Refused(field, f"vector {row + 1} holds NaN or infinity")
        if not block.any(axis=1).all():
            row = start + int(np.flatnonzero(~block.any(axis=1))[0])
            raise Refused(field, f"vector {row + 1} has length 0, so no direction")
