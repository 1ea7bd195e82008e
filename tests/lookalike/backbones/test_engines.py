"""The engine on a processor: taken where it is faster and finds the same, else torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from timm.layers import Conv2dSame
from torch import nn

from lookalike.backbones.embed import embed_images
from lookalike.backbones.engines import (
    AT_ONCE,
    MAX_BYTES,
    choose_engine,
    export_onnx,
    onnx_forward,
    onnx_session,
)
from lookalike.backbones.loading import load_backbone
from lookalike.backbones.networks import NetworkBackbone, Pixels

LITE0 = "timm:tf_efficientnet_lite0"
SIDE = 32


class Sum(nn.Module):
    """Colours of the pixels, one after another, with something else done to them."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.change = change

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        changed: torch.Tensor = self.change(images.flatten(1) * self.weight)
        return changed


class Heads(nn.Module):
    """The first of some tokens, after one layer of attention."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        tokens = images.permute(0, 2, 1, 3).flatten(2)
        first: torch.Tensor = self.layer(tokens)[:, 0]
        return first


def network(model: nn.Module) -> NetworkBackbone:
    pixels = Pixels(lambda image: image.resize((SIDE, SIDE)), (0.5,) * 3, (0.5,) * 3, SIDE)
    return NetworkBackbone(
        spec="mine", model=model, pixels=pixels, card={}, device=torch.device("cpu")
    )


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(1)
    paths = [folder / f"{number}.png" for number in range(20)]
    for path in paths:
        values = rng.integers(0, 256, (6, 8, 3), np.uint8)
        Image.fromarray(values).resize((320, 240), Image.Resampling.BICUBIC).save(path)
    return paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engines")


@pytest.mark.slow
def test_a_packaged_network_gives_the_same_vectors_whatever_runs_it(
    folder: Path, photos: list[Path]
) -> None:
    by_torch, quick = load_backbone(LITE0, "cpu"), load_backbone(LITE0, "cpu", engines=folder)
    (kept,) = folder.glob("*.json")
    verdict = json.loads(kept.read_text())
    assert "ms a picture to torch's" in verdict["reason"]
    assert ("engine" in quick.card) == (verdict["engine"] == "onnxruntime")
    assert quick.fingerprint == by_torch.fingerprint
    expected, found = embed_images(by_torch, photos), embed_images(quick, photos, n_threads=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_array_equal(embed_images(quick, photos, n_threads=2), found)


def test_an_exported_network_takes_batches_of_any_size_and_agrees(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )
    backbone = network(layers)
    verdict = choose_engine(backbone, tmp_path)
    expected = network(layers)
    for n in (1, 3, 16, 21):
        values = list(np.random.default_rng(n).integers(0, 256, (n, SIDE, SIDE, 3), np.uint8))
        np.testing.assert_allclose(backbone.embed(values), expected.embed(values), atol=1e-5)
    assert bool(list(tmp_path.glob("*.onnx"))) == (verdict.engine == "onnxruntime")


def test_a_network_with_attention_of_torchs_own_is_exported(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(48, 4, 64, batch_first=True, norm_first=True)
    rows = nn.Sequential(nn.Flatten(2), nn.Unflatten(2, (64, 16)), Heads(layer))
    backbone = network(rows)
    verdict = choose_engine(backbone, tmp_path)
    assert "ms a picture to torch's" in verdict.reason
    assert torch.backends.mha.get_fastpath_enabled()


def test_padding_of_a_known_size_is_worked_out_once() -> None:
    padded = nn.Sequential(Conv2dSame(3, 8, 3, stride=2), nn.ReLU())
    exported = export_onnx(padded, torch.rand(1, 3, SIDE, SIDE))
    batch = torch.rand(5, 3, SIDE, SIDE)
    for at_once in AT_ONCE:
        session = onnx_session(exported, at_once)
        assert session.get_inputs()[0].shape == [at_once, 3, SIDE, SIDE]
        found = onnx_forward(session, at_once, batch)
        np.testing.assert_allclose(found, padded(batch).detach(), atol=1e-5)


def test_what_was_found_is_kept_and_a_damaged_file_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = nn.Sequential(nn.Conv2d(3, 32, 5), nn.ReLU(), nn.Conv2d(32, 64, 5, groups=32),
                          nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())  # fmt: skip
    monkeypatch.setattr("lookalike.backbones.engines.LEAST_GAIN", 0)  # slower ones, too
    exports = []

    def export(*given: Any) -> bytes:
        exports.append(given)
        return export_onnx(*given)

    monkeypatch.setattr("lookalike.backbones.engines.export_onnx", export)
    first = choose_engine(network(model), tmp_path)
    assert first.engine == "onnxruntime"
    assert (choose_engine(network(model), tmp_path), len(exports)) == (first, 1)
    (kept,) = tmp_path.glob("*.onnx")
    for damaged in (kept.read_bytes()[: kept.stat().st_size // 2], b""):
        kept.write_bytes(damaged)
        backbone = network(model)
        assert choose_engine(backbone, tmp_path).network_sha256 == first.network_sha256
        assert backbone.card["engine"].startswith("onnxruntime ")
    (said,) = tmp_path.glob("*.json")
    said.write_text(said.read_text()[:20])
    assert choose_engine(network(model), tmp_path).engine == "onnxruntime"
    assert len(exports) == 4


def test_a_network_that_cannot_be_exported_stays_with_torch(tmp_path: Path) -> None:
    backbone = network(Sum(lambda values: torch.linalg.qr(values)[0] @ torch.ones(len(values), 8)))
    verdict = choose_engine(backbone, tmp_path)
    assert verdict.engine == "torch"
    assert verdict.reason.startswith("it cannot be exported: ")
    assert choose_engine(backbone, tmp_path) == verdict
    assert "engine" not in backbone.card


def test_a_network_that_fails_when_it_is_tried_stays_with_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.backbones.engines.export_onnx", lambda *_: b"no network")
    verdict = choose_engine(network(Sum(lambda values: values)), tmp_path)
    assert verdict.engine == "torch"
    assert verdict.reason.startswith("it fails when it is tried: ")


def test_who_waits_is_told_of_a_trial_and_of_nothing_that_was_found_before(tmp_path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        choose_engine(network(Sum(lambda values: values)), tmp_path, lambda: told.append("trial"))
    assert told == ["trial"]


def test_an_engine_that_finds_other_neighbours_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.backbones.engines.LEAST_GAIN", 0)  # slower ones, too
    backbone = network(Sum(lambda values: values + torch.randn_like(values)))
    verdict = choose_engine(backbone, tmp_path)
    assert verdict.engine == "torch"
    assert "of the neighbours are torch's" in verdict.reason
    assert not list(tmp_path.glob("*.onnx"))


def test_an_engine_that_is_no_faster_is_not_asked_for_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.backbones.engines.LEAST_GAIN", 1e9)
    verdict = choose_engine(
        network(Sum(lambda values: values + torch.randn_like(values))), tmp_path
    )
    assert verdict.engine == "torch"
    assert "ms a picture to torch's" in verdict.reason


def test_where_nothing_can_be_kept_torch_runs_the_network(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    verdict = choose_engine(network(Sum(lambda values: values)), tmp_path / "file")
    assert (verdict.engine, "nothing can be kept in" in verdict.reason) == ("torch", True)


def test_a_network_too_large_for_the_format_is_not_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.backbones.engines.MAX_BYTES", 3)
    verdict = choose_engine(network(Sum(lambda values: values)), tmp_path)
    assert verdict.reason == "its weights have 4 bytes, and ONNX takes 3"
    assert MAX_BYTES < 2**31


@pytest.mark.slow
@pytest.mark.parametrize("spec", [f"{LITE0}@bfloat16", "descriptor:hog-shape"])
def test_only_networks_in_full_precision_are_tried(spec: str, tmp_path: Path) -> None:
    assert "engine" not in load_backbone(spec, "cpu", engines=tmp_path).card
    assert not list(tmp_path.iterdir())
