"""A Combiner with one condition, as a map of vectors: numpy alone, so any process applies it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lookalike.backbones.protocol import compute_fingerprint, unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.projection import BLOCK, Layer, Layers

KIND = "fixed condition"
PARTS = ("image", "text", "joint", "out", "gate", "share")  # of a Combiner


@dataclass(frozen=True)
class FixedCondition:
    """What a Combiner looks for beside each image under one condition, as `Projection`.

    Images are then compared by what is looked for beside them. The Combiner itself compares it
    with images as they are, which no one map of vectors can say.

    Attributes:
        images: from vectors to the space in which images and texts meet.
        text: vector of the condition in that space, shape (dim,).
        parts: the Combiner's layers by name, of PARTS.
        card: as `Projection`.
    """

    images: Layers
    text: Float32s
    parts: Mapping[str, Layer]
    card: Mapping[str, Any]

    @property
    def dim(self) -> int:
        """Length of the vectors that come out."""
        return len(self.text)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card and of every number."""
        digest = hashlib.sha256(compute_fingerprint(dict(self.card)).encode())
        digest.update(self.images.fingerprint.encode())
        for name, array in self._arrays().items():
            digest.update(f"{name} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array, "<f4").data)
        return digest.hexdigest()

    def apply(self, vectors: Float32s) -> Float32s:
        """Return what is looked for beside each row, shape (n, dim), float32, of length 1.

        Raises:
            Refused: as `Layers.apply`.
        """
        found = np.empty((len(vectors), self.dim), np.float32)
        for start in range(0, len(vectors), BLOCK):
            images = self.images.apply(vectors[start : start + BLOCK])
            seen = self._through("image", images)
            text = np.broadcast_to(self._through("text", self.text[None]), seen.shape)
            both = np.concatenate([text, seen], axis=1)
            share = self._linear("share", self._through("gate", both))
            share = np.float32(1) / (np.float32(1) + np.exp(-share))
            added = self._linear("out", self._through("joint", both))
            found[start : start + BLOCK] = unit_rows(
                added + share * self.text + (1 - share) * images
            )
        return found

    def content(self) -> bytes:
        """Return its file, as safetensors."""
        facts = {"kind": KIND, "card": dict(self.card), "of_images": dict(self.images.card),
                 "slope": self.images.slope, "n_in": self.images.n_in}  # fmt: skip
        return save(self._arrays(), {"card": json.dumps(facts, sort_keys=True)})

    @classmethod
    def of_file(cls, arrays: Mapping[str, Float32s], facts: Mapping[str, Any]) -> FixedCondition:
        """Return what `content` holds."""
        layers = {name.rpartition(".")[0]: _layer(arrays, name.rpartition(".")[0])
                  for name in arrays if name.endswith(".weight")}  # fmt: skip
        names = sorted(name for name in layers if name.startswith("images."))
        images = Layers(
            facts["n_in"], tuple(layers[name] for name in names), facts["of_images"],
            facts["slope"],
        )  # fmt: skip
        parts = {name: layers[name] for name in PARTS}
        return cls(images, arrays["condition"], parts, facts["card"])

    def _linear(self, name: str, rows: Float32s) -> Float32s:
        found: Float32s = rows @ self.parts[name].weight.T + self.parts[name].bias
        return found

    def _through(self, name: str, rows: Float32s) -> Float32s:
        found: Float32s = np.maximum(self._linear(name, rows), 0)
        return found

    def _arrays(self) -> dict[str, Float32s]:
        layers = {f"images.{n:03d}": layer for n, layer in enumerate(self.images.layers)}
        layers |= self.parts
        arrays = {f"{name}.{part}": getattr(layer, part) for name, layer in layers.items()
                  for part in ("weight", "bias")}  # fmt: skip
        return {"condition": self.text, **arrays}


def _layer(arrays: Mapping[str, Float32s], name: str) -> Layer:
    return Layer(arrays[f"{name}.weight"], arrays[f"{name}.bias"])


def load_projection(path: Path) -> Layers | FixedCondition:
    """Return the map that a file holds, of either kind.

    Raises:
        Refused: the file is damaged, or something else.
        OSError: it cannot be opened.
    """
    with path.open("rb"):
        pass  # a missing file is an OSError, for safetensors it is one of its own
    try:
        with safe_open(path, "numpy") as file:
            facts = json.loads(file.metadata()["card"])
            if facts.get("kind") == KIND:
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                return FixedCondition.of_file(arrays, facts)
    except (SafetensorError, KeyError, TypeError, ValueError) as problem:
        raise Refused("projection", f"{path.name} is no projection: {problem}") from problem
    return Layers.load(path)
