"""Classical descriptors: what colour, texture and shape alone can do, without any weights.

Source: scikit-image's local binary patterns (Ojala et al., PAMI 2002) and histograms of oriented
gradients (Dalal and Triggs, CVPR 2005). Histograms are compared by their square roots, so that
the cosine is the Bhattacharyya coefficient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from skimage.color import rgb2gray, rgb2lab
from skimage.feature import hog, local_binary_pattern

from lookalike.backbones.protocol import Vectors, compute_fingerprint, unit_rows

SIDE = 128
VERSION = 1  # of the definitions below; a change makes new embedding sets
Pixels = NDArray[np.uint8]


def colour_histogram(pixels: Pixels) -> NDArray[np.floating]:
    """Return the square roots of the shares of 8 x 8 x 8 bins of RGB, shape (512,)."""
    bins = (pixels >> 5).reshape(-1, 3).astype(np.int64) @ np.array([64, 8, 1])
    shares: NDArray[np.floating] = np.bincount(bins, minlength=512) / bins.size
    return np.asarray(np.sqrt(shares))


def colour_layout(pixels: Pixels) -> NDArray[np.floating]:
    """Return mean and spread of L, a and b in a 4 x 4 grid, shape (96,)."""
    lab = rgb2lab(pixels) / np.array([50.0, 60.0, 60.0]) - np.array([1.0, 0.0, 0.0])
    step = SIDE // 4
    cells = lab.reshape(4, step, 4, step, 3).swapaxes(1, 2).reshape(16, step * step, 3)
    return np.concatenate([cells.mean(axis=1).ravel(), cells.std(axis=1).ravel()])


def lbp_texture(pixels: Pixels) -> NDArray[np.floating]:
    """Return histograms of uniform local binary patterns at two radii in a 2 x 2 grid."""
    grey = (rgb2gray(pixels) * 255).astype(np.uint8)
    parts = []
    for points, radius in ((8, 1), (16, 2)):
        patterns = local_binary_pattern(grey, points, radius, "uniform")
        codes = patterns.astype(np.int64)
        half = SIDE // 2
        for row in (0, half):
            for column in (0, half):
                cell = codes[row : row + half, column : column + half].ravel()
                parts.append(np.bincount(cell, minlength=points + 2) / cell.size)
    return np.asarray(np.sqrt(np.concatenate(parts)))


def hog_shape(pixels: Pixels) -> NDArray[np.floating]:
    """Return histograms of oriented gradients, 16-pixel cells in 2 x 2 blocks, shape (1568,)."""
    histogram: NDArray[np.floating] = hog(
        rgb2gray(pixels),
        orientations=8,
        pixels_per_cell=(SIDE // 8, SIDE // 8),
        cells_per_block=(2, 2),
        block_norm="L2-Hys",
    )
    return histogram


FUNCTIONS: Mapping[str, Callable[[Pixels], NDArray[np.floating]]] = {
    "colour-histogram": colour_histogram,
    "colour-layout": colour_layout,
    "lbp-texture": lbp_texture,
    "hog-shape": hog_shape,
}


class DescriptorBackbone:
    """A descriptor as a backbone. It is computed in `transform`, so in the decoding threads."""

    metric = "cosine"
    smallest_side = SIDE
    batch_size = 16
    on_gpu = False

    def __init__(self, name: str) -> None:
        self.spec = f"descriptor:{name}"
        self._describe = FUNCTIONS[name]
        blank = np.zeros((SIDE, SIDE, 3), np.uint8)
        self.dim = int(self._describe(blank).size)
        self.card: Mapping[str, Any] = {
            "spec": self.spec,
            "model": name,
            "library": "scikit-image",
            "library_version": version("scikit-image"),
            "weights": "none",
            "preprocessing": f"RGB, {SIDE} x {SIDE} pixels, bicubic",
            "definition": VERSION,
            "normalised": "unit length",
            "precision": "float32",
            "dim": self.dim,
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card."""
        return compute_fingerprint(self.card)

    def transform(self, image: Image.Image) -> NDArray[np.floating]:
        """Return the descriptor of one RGB picture."""
        small = image.resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        return self._describe(np.asarray(small))

    def embed(self, inputs: Sequence[NDArray[np.floating]]) -> Vectors:
        """Stack descriptors and scale them to length 1."""
        return unit_rows(np.stack(inputs))
