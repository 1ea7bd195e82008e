"""Where a notion looks: against gradients that are known by hand."""

from __future__ import annotations

import numpy as np
import torch

from lookalike.learning.notions.saliency import difference_picture, mapped_by, smooth_grad
from lookalike.learning.projection import Layer, Layers


def by_quarter(batch: torch.Tensor) -> torch.Tensor:
    """The mean of each quarter of a picture: vectors that say where something is."""
    return torch.nn.functional.adaptive_avg_pool2d(batch.mean(dim=1, keepdim=True), 2).flatten(1)


def first_alone(vectors: torch.Tensor) -> torch.Tensor:
    return vectors[:, :1]


def test_a_map_of_one_quarter_looks_at_that_quarter_and_at_nothing_else():
    image, black = torch.rand(3, 8, 8), torch.zeros(3, 8, 8)
    found, everywhere = smooth_grad(by_quarter, [first_alone, lambda v: v], image, black)
    assert (found[:4, :4] == found[0, 0]).all()
    assert found[0, 0] > 0
    assert not found[4:].any()
    assert not found[:, 4:].any()
    assert everywhere[4:].any()
    again = smooth_grad(by_quarter, [first_alone], image, black)[0]
    assert again.tobytes() == found.tobytes()


def test_a_map_that_sees_nothing_is_all_nought():
    image = torch.rand(3, 4, 4)
    nothing = lambda vectors: 0 * vectors  # noqa: E731
    assert not smooth_grad(by_quarter, [nothing], image, torch.zeros(3, 4, 4))[0].any()


def test_torch_maps_as_numpy_does():
    rng = np.random.default_rng(0)
    first = Layer(rng.standard_normal((6, 5), np.float32), rng.standard_normal(6, np.float32))
    layers = Layers(5, (first, Layer.linear(rng.standard_normal((2, 6), np.float32))), {}, 0.0)
    rows = rng.standard_normal((4, 5), np.float32)
    np.testing.assert_allclose(
        mapped_by(layers)(torch.from_numpy(rows)).numpy(), layers.apply(rows), atol=1e-5
    )


def test_more_is_yellow_less_is_blue_and_what_is_alike_stays_grey():
    picture = np.full((20, 60, 3), 100, np.uint8)
    more, less = np.zeros((2, 20, 60), np.float32)
    more[:, :10] = less[:, -10:] = 0.4
    shown = difference_picture(picture, more, less)
    np.testing.assert_allclose(shown[10, [0, 30, 59]], [(253, 231, 37), [100] * 3, (33, 60, 180)])
    assert (difference_picture(picture, more, more) == 100).all()
