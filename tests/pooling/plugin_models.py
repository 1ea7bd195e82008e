"""Plug-ins for tests: one that works, and ones that do not keep the protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image


class Brightness:
    """Says how alike the mean brightness of two pictures is."""

    version = "1"

    def similarity(self, query: Path, candidates: Sequence[Path]) -> list[float]:
        asked = _brightness(query)
        return [-abs(asked - _brightness(path)) for path in candidates]


def _brightness(path: Path) -> float:
    with Image.open(path) as picture:
        return float(np.asarray(picture.convert("L"), np.float64).mean())


class TooFew(Brightness):
    def similarity(self, query: Path, candidates: Sequence[Path]) -> list[float]:
        return super().similarity(query, candidates)[1:]


class NotFinite(Brightness):
    def similarity(self, query: Path, candidates: Sequence[Path]) -> list[float]:
        return [float("nan"), *super().similarity(query, candidates)[1:]]


class Crashing(Brightness):
    def similarity(self, query: Path, candidates: Sequence[Path]) -> list[float]:
        raise RuntimeError("the model fell over")


class NoVersion:
    def similarity(self, query: Path, candidates: Sequence[Path]) -> list[float]:
        return [0.0 for _ in candidates]


ready = Brightness()
