"""Resizing by Pillow alone gives torchvision's pixels, and a table its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import timm
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from timm.data.config import resolve_model_data_config
from timm.data.transforms_factory import create_transform
from torch import nn
from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor

from lookalike.backbones.networks import NetworkBackbone, Pixels
from lookalike.backbones.resizing import Resized

LAST = [ToTensor(), Normalize((0.5,) * 3, (0.5,) * 3)]


def of_timm(name: str) -> Any:
    return create_transform(**resolve_model_data_config(timm.create_model(name, pretrained=False)))


def of_open_clip(mode: Any) -> Any:
    return image_transform_v2(PreprocessCfg(size=48, resize_mode=mode), is_train=False)


USUAL = {
    "timm": of_timm("tf_efficientnet_lite0"),
    "open_clip": of_open_clip("shortest"),
    "open_clip, squashed": of_open_clip("squash"),
    "both sides": Compose([Resize((21, 34)), CenterCrop((20, 30)), *LAST]),
}


@pytest.mark.parametrize("name", USUAL)
@settings(max_examples=50)  # each a large picture, several ways
@given(width=st.integers(1, 400), height=st.integers(1, 400), seed=st.integers(0, 9))
def test_every_size_becomes_the_same_pixels(name: str, width: int, height: int, seed: int) -> None:
    pixels = Pixels.of(USUAL[name], name)
    assert isinstance(pixels.resize, Resized)
    values = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    image = Image.fromarray(values)
    expected = Compose(USUAL[name].transforms[:-2])(image)
    np.testing.assert_array_equal(np.asarray(pixels.resize(image)), np.asarray(expected))


@pytest.mark.parametrize(
    "steps",
    [
        [Resize(20), CenterCrop(24)],  # which torchvision pads
        [Resize(20, max_size=30)],
        [CenterCrop(20), Resize(20)],
        of_open_clip("longest").transforms[:-2],
    ],
    ids=["a crop above the size", "a longest side", "another order", "timm's own step"],
)
def test_other_steps_stay_the_librarys(steps: list[Any]) -> None:
    found = Pixels.of(Compose([*steps, *LAST]), "other").resize
    assert isinstance(found, Compose)
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8))
    expected = Compose(steps)(image)
    np.testing.assert_array_equal(np.asarray(found(image)), np.asarray(expected))


@pytest.mark.parametrize("takes_planes", [False, True])
def test_bytes_become_torchvisions_numbers_to_the_last_bit(takes_planes: bool) -> None:
    transform = USUAL["timm"]
    backbone = NetworkBackbone(
        spec="test:sums", model=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        pixels=Pixels.of(transform, "test:sums"), card={}, device=torch.device("cpu"),
    )  # fmt: skip
    if takes_planes:
        backbone.run_by(backbone.forward_by_torch, "another")
    rng = np.random.default_rng(1)
    images = [Image.fromarray(rng.integers(0, 256, (300, 260, 3), np.uint8)) for _ in range(3)]
    found = backbone.as_inputs([backbone.transform(image) for image in images])
    expected = torch.stack([transform(image) for image in images])
    np.testing.assert_array_equal(found.numpy().view(np.int32), expected.numpy().view(np.int32))
    assert found.is_contiguous() == takes_planes
