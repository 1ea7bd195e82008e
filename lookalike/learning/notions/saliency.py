"""Where in a picture a notion looks: SmoothGrad, and the difference between two maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from torch import Tensor
from torch.nn.functional import leaky_relu, linear, normalize

from lookalike.core.arrays import Float32s
from lookalike.learning.engine.determinism import normal, one_thread, stream
from lookalike.learning.projection import Layers

N_COPIES = 25
SPREAD = 0.15
PERCENTILE = 99
DIM = 2  # directions of the notions that are shown so
MORE, LESS = (253, 231, 37), (33, 60, 180)  # yellow, blue
LUMINANCE = (0.299, 0.587, 0.114)
SMOOTHING = 3  # pixels

Map = Callable[[Tensor], Tensor]


def smooth_grad(
    features: Map,
    maps: Sequence[Map],
    image: Tensor,
    black: Tensor,
    *,
    seed: int = 0,
    n_copies: int = N_COPIES,
) -> list[Float32s]:
    """Return how much each pixel moves a picture's vector away from that of a black picture.

    Source: SmoothGrad (Smilkov et al., 2017) as in the code of InDiReCT (Kobs, Steininger and
    Hotho, WACV 2023, section 6): noisy copies whose noise has 0.15 of the picture's range as
    deviation; gradients of the distance; the mean over the channels, its absolute value
    summed over the copies; from the least value to the 99th percentile scaled to [0, 1].

    Args:
        features: from pictures, shape (n, 3, h, w), to a network's vectors, differentiable.
        maps: of these vectors, such as a notion's; each is asked with the same noise.
        image: as the network takes it, shape (3, h, w).
        black: a black picture, likewise.
        seed: of the noise.
        n_copies: of the picture.

    Returns:
        For each map shape (h, w), in [0, 1]; all 0 where no pixel moves the vector.
    """
    rng = stream(seed, "saliency")
    spread = SPREAD * float(image.max() - image.min())
    sums = torch.zeros(len(maps), *image.shape[1:], device=image.device)
    with one_thread():
        with torch.no_grad():
            seen_in_black = features(black[None])
            bases = [way(seen_in_black) for way in maps]
        for _ in range(n_copies):  # one at a time: 25 copies of a large picture fill a memory
            noise = normal(tuple(image.shape), spread, rng).to(image.device)
            copy = (image + noise)[None].requires_grad_()
            seen = features(copy)
            for number, (way, base) in enumerate(zip(maps, bases, strict=True)):
                distance = (way(seen) - base).square().sum().clamp_min(1e-12).sqrt()
                (gradient,) = torch.autograd.grad(distance, copy, retain_graph=True)
                sums[number] += gradient[0].mean(dim=0).abs()
    return [_scaled(total) for total in sums.cpu().numpy()]


def _scaled(sums: Float32s) -> Float32s:
    low, high = float(sums.min()), float(np.percentile(sums, PERCENTILE))
    if high <= low:
        return np.zeros_like(sums)
    scaled: Float32s = np.clip((sums - low) / (high - low), 0, 1).astype(np.float32)
    return scaled


def mapped_by(layers: Layers) -> Map:
    """Return a projection as torch computes it, so that gradients pass through."""
    weights = [
        tuple(torch.from_numpy(np.array(part)) for part in (layer.weight, layer.bias))
        for layer in layers.layers
    ]

    def apply(vectors: Tensor) -> Tensor:
        rows = normalize(vectors.float(), dim=1)
        for number, (weight, bias) in enumerate(weights):
            rows = leaky_relu(rows, layers.slope) if number else rows
            rows = linear(rows, weight.to(rows.device), bias.to(rows.device))
        return normalize(rows, dim=1)

    return apply


def difference_picture(
    picture: NDArray[np.uint8], more: Float32s, less: Float32s
) -> NDArray[np.uint8]:
    """Return a picture in grey and over it where one map looks more (yellow) or less (blue).

    Single pixels of a gradient are noise: the difference is smoothed (a Gaussian of 3 pixels), and
    scaled so that it is as strong as can be where it is largest.

    Args:
        picture: shape (h, w, 3).
        more: one saliency of it, shape (h, w), in [0, 1].
        less: the other, likewise.

    Returns:
        Shape (h, w, 3).
    """
    share = gaussian_filter(more - less, SMOOTHING)
    share = (share / max(float(np.abs(share).max()), 1e-12))[..., None]
    grey = np.repeat((picture @ np.array(LUMINANCE, np.float32))[..., None], 3, axis=2)
    end = np.where(share > 0, np.array(MORE, np.float32), np.array(LESS, np.float32))
    shown: NDArray[np.uint8] = np.rint(grey + np.abs(share) * (end - grey)).astype(np.uint8)
    return shown
