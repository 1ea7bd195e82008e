"""The way from files to vectors: nothing mixed up, nothing lost, the same bytes each time."""

from __future__ import annotations

import io
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn
from torchvision.transforms import Compose, Normalize, Resize, ToTensor

from lookalike.backbones.batches import BatchSize
from lookalike.backbones.embed import PictureProblem, embed_images, embed_in_turn, open_picture
from lookalike.backbones.loading import load_backbone
from lookalike.backbones.networks import NetworkBackbone, Pixels
from lookalike.backbones.protocol import OutOfMemoryError, Vectors

ORIENTATION = 0x0112


class MeanColour:
    """A backbone whose vectors can be computed by hand."""

    spec = "test:mean-colour"
    dim = 3
    metric = "cosine"
    card: Mapping[str, Any] = {}
    fingerprint = "0" * 64
    smallest_side = 0
    batch_size = 4
    on_gpu = False

    def __init__(self, most: int = 99) -> None:
        self.most = most
        self.sizes: list[int] = []

    def transform(self, image: Image.Image) -> NDArray[np.float32]:
        return np.asarray(np.asarray(image).reshape(-1, 3).mean(axis=0), np.float32)

    def embed(self, inputs: Sequence[NDArray[np.float32]]) -> Vectors:
        if len(inputs) > self.most:
            raise OutOfMemoryError(f"{len(inputs)} do not fit")
        self.sizes.append(len(inputs))
        return np.stack(inputs).astype(np.float32)


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    paths = []
    for number in range(11):
        path = tmp_path / f"{number}.png"
        Image.new("RGB", (9, 7), (number * 20, 5, 250 - number)).save(path)
        paths.append(path)
    return paths


EXPECTED = np.array([[number * 20, 5, 250 - number] for number in range(11)], np.float32)


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_picture_gets_its_own_vector_in_order(
    pictures: list[Path], on_gpu: bool, n_threads: int
) -> None:
    backbone = MeanColour()
    backbone.on_gpu = on_gpu
    seen: list[int] = []
    found = embed_images(backbone, pictures, n_threads=n_threads, on_batch=seen.append)
    np.testing.assert_array_equal(found, EXPECTED)
    assert seen == [4, 8, 11]
    assert sorted(backbone.sizes) == [3, 4, 4]
    assert embed_images(backbone, []).shape == (0, 3)


def test_a_picture_may_be_a_function_that_opens_it(pictures: list[Path]) -> None:
    openers = [lambda path=path: io.BytesIO(path.read_bytes()) for path in pictures]
    np.testing.assert_array_equal(embed_images(MeanColour(), openers), EXPECTED)


@pytest.mark.parametrize("on_gpu", [False, True])
def test_broken_pictures_are_named_and_disturb_no_other(pictures: list[Path], on_gpu: bool) -> None:
    pictures[2].write_bytes(b"")
    pictures[5].write_bytes(pictures[5].read_bytes()[:40])
    pictures[8] = pictures[8].with_name("gone.png")
    backbone = MeanColour()
    backbone.on_gpu = on_gpu
    told: dict[int, str] = {}
    found = embed_images(backbone, pictures, on_broken=told.__setitem__)
    good = np.ones(11, bool)
    good[[2, 5, 8]] = False
    np.testing.assert_array_equal(found[good], EXPECTED[good])
    assert np.isnan(found[~good]).all()
    assert sorted(backbone.sizes) == [3, 4, 4], "the composition of batches is kept"
    assert list(told) == [2, 5, 8]
    assert all(str(pictures[place]) in reason for place, reason in told.items())
    with pytest.raises(PictureProblem, match=r"2.png: .*5.png: .*gone.png: "):
        embed_images(backbone, pictures)


def test_of_many_broken_pictures_five_are_named(pictures: list[Path]) -> None:
    for path in pictures[:8]:
        path.write_bytes(b"no picture")
    with pytest.raises(PictureProblem, match=r"0.png.*4.png: .* and 3 more$"):
        embed_images(MeanColour(), pictures)


def test_a_batch_that_does_not_fit_is_halved_until_it_does(pictures: list[Path]) -> None:
    backbone = MeanColour(most=2)
    np.testing.assert_array_equal(
        embed_images(backbone, pictures, batch_size=8, n_threads=1), EXPECTED
    )
    assert max(backbone.sizes) == 2
    with pytest.raises(OutOfMemoryError, match="1 do not fit"):
        embed_images(MeanColour(most=0), pictures)


class Activation:
    """What a forward pass holds while it runs."""


class Hungry(nn.Module):
    """A network whose device holds two pictures at a time."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason
        self.layer = nn.Linear(3, 4)
        self.made: list[weakref.ref[Activation]] = []
        self.seen: list[tuple[int, int]] = []  # pictures, activations of earlier passes

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        self.seen.append((len(batch), sum(one() is not None for one in self.made)))
        activation = Activation()
        self.made.append(weakref.ref(activation))
        if len(batch) > 2:
            raise RuntimeError(self.reason)
        found: torch.Tensor = self.layer(batch.mean(dim=(2, 3)))
        return found


def backbone_of(network: nn.Module) -> NetworkBackbone:
    steps = Compose([Resize(8), ToTensor(), Normalize([0.5] * 3, [0.5] * 3)])
    return NetworkBackbone(
        spec="test:hungry",
        model=network,
        pixels=Pixels.of(steps, "test:hungry"),
        card={},
        device=torch.device("cpu"),
    )


@pytest.mark.parametrize(
    "reason",
    [
        "CUDA error: out of memory",
        "MPS backend out of memory (MPS allocated: 17.90 GB, max allowed: 18.13 GB).",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "[enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: can't allocate memory",
    ],
)
def test_a_batch_that_did_not_fit_leaves_nothing_in_memory_when_the_halves_are_tried(
    pictures: list[Path], reason: str
) -> None:
    network = Hungry(reason)
    backbone = backbone_of(network)
    network.seen.clear()
    found = embed_images(backbone, pictures[:8], batch_size=8, n_threads=1)
    assert np.isfinite(found).all()
    assert network.seen == [(8, 0), (4, 0), (2, 0), (2, 0), (2, 0), (2, 0)]


def test_an_error_that_is_not_about_memory_is_not_taken_for_one(pictures: list[Path]) -> None:
    backbone = backbone_of(Hungry("CUDA error: device-side assert triggered"))
    with pytest.raises(RuntimeError, match="device-side assert"):
        embed_images(backbone, pictures, n_threads=1)


def test_whoever_watches_the_progress_may_stop_it(pictures: list[Path]) -> None:
    class StopError(Exception):
        pass

    def stop(n_done: int) -> None:
        raise StopError

    before = threading.active_count()
    with pytest.raises(StopError):
        embed_images(MeanColour(), pictures, on_batch=stop)
    assert threading.active_count() == before
    assert torch.get_num_threads() >= 1


def test_a_model_that_gives_nan_is_reported_with_the_picture(pictures: list[Path]) -> None:
    class Broken(MeanColour):
        def embed(self, inputs: Sequence[NDArray[np.float32]]) -> Vectors:
            found = super().embed(inputs)
            found[found[:, 0] == 100] = np.nan
            return found

    with pytest.raises(ValueError, match=r"test:mean-colour gives NaN or infinity for .*5.png"):
        embed_images(Broken(), pictures)
    with pytest.raises(ValueError, match="batch_size is 0"):
        embed_images(MeanColour(), pictures, batch_size=0)


@pytest.mark.slow
def test_the_same_files_give_the_same_bytes_whatever_the_number_of_threads(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    paths = []
    for number in range(9):
        small = Image.fromarray(rng.integers(0, 256, (12, 9, 3), np.uint8))
        paths.append(tmp_path / f"{number}.jpg")
        small.resize((180, 240), Image.Resampling.BICUBIC).save(paths[-1], quality=90)
    backbone = load_backbone("timm:tf_efficientnet_lite0", "cpu")
    first = embed_images(backbone, paths, batch_size=4, n_threads=1)
    for n_threads in (1, 2, 3):
        again = embed_images(backbone, paths, batch_size=4, n_threads=n_threads)
        assert again.tobytes() == first.tobytes()
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(embed_images(backbone, paths, batch_size=9), first, atol=1e-5)


def test_pictures_are_opened_upright_on_white_and_in_rgb(tmp_path: Path) -> None:
    turned = Image.new("RGB", (20, 10), "red")
    turned.paste("blue", (0, 0, 5, 10))
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # the camera was turned: show it rotated by 90 degrees clockwise
    turned.save(tmp_path / "turned.jpg", exif=exif, quality=95)
    upright = open_picture(tmp_path / "turned.jpg")
    assert upright.size == (10, 20)
    red, _, blue = upright.getpixel((5, 1))  # type: ignore[misc]
    assert blue > 200 > red
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    clear.putpixel((1, 1), (0, 255, 0, 255))
    clear.save(tmp_path / "clear.png")
    on_paper = open_picture(tmp_path / "clear.png")
    assert on_paper.mode == "RGB"
    assert on_paper.getpixel((0, 0)) == (255, 255, 255)
    assert on_paper.getpixel((1, 1)) == (0, 255, 0)
    Image.new("P", (4, 4)).save(tmp_path / "palette.gif")
    assert open_picture(tmp_path / "palette.gif").mode == "RGB"


def test_large_jpegs_are_decoded_small_but_never_below_what_is_needed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    noise = Image.fromarray(rng.integers(0, 256, (40, 60, 3), np.uint8))
    large = noise.resize((1200, 800), Image.Resampling.BICUBIC)
    large.save(tmp_path / "large.jpg", quality=92)
    large.save(tmp_path / "large.png")
    assert open_picture(tmp_path / "large.jpg", 256).size == (600, 400)
    assert open_picture(tmp_path / "large.jpg", 0).size == (1200, 800)
    assert open_picture(tmp_path / "large.png", 256).size == (1200, 800)
    for side in (17, 100, 256, 399, 401, 900):
        assert min(open_picture(tmp_path / "large.jpg", side).size) >= min(side, 800)


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (40_000, 156), (65_535, 255)])
@pytest.mark.parametrize("name", ["deep.png", "deep.tif"])
def test_of_16_bits_the_upper_8_are_seen(
    tmp_path: Path, name: str, value: int, expected: int
) -> None:
    Image.fromarray(np.full((4, 4), value, np.uint16)).save(tmp_path / name)
    assert open_picture(tmp_path / name).getpixel((1, 1)) == (expected,) * 3


def test_values_without_a_stated_white_are_refused(tmp_path: Path) -> None:
    Image.new("F", (4, 4)).save(tmp_path / "real.tif")
    with pytest.raises(PictureProblem, match=r"real.tif: It has 32 bits a channel"):
        open_picture(tmp_path / "real.tif")


def test_a_picture_with_too_many_pixels_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "bomb.png")
    with pytest.raises(PictureProblem, match=r"bomb.png: It would unpack to 9,000 × 9,000 pixels"):
        open_picture(tmp_path / "bomb.png")


# ---- groups that follow each other ----
@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("cuts", [(0, 4, 11), (0, 3, 3, 5, 11), (0, 11, 11), (0, 0)])
def test_groups_come_out_in_turn_each_as_if_it_were_alone(
    pictures: list[Path], on_gpu: bool, cuts: tuple[int, ...]
) -> None:
    backbone = MeanColour()
    backbone.on_gpu = on_gpu
    groups = [pictures[a:b] for a, b in pairwise(cuts)]
    seen: list[int] = []
    found = list(embed_in_turn(backbone, groups, n_threads=2, on_batch=seen.append))
    for one, (a, b) in zip(found, pairwise(cuts), strict=True):
        np.testing.assert_array_equal(one, EXPECTED[a:b])
    ends = [[*range(4, len(group), 4), len(group)] for group in groups if group]
    assert seen == [end for group in ends for end in group]
    assert sum(backbone.sizes) == cuts[-1]


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_next_group_is_begun_before_the_present_one_is_done(
    pictures: list[Path], on_gpu: bool
) -> None:
    asked: list[int] = []
    asked_at_forward: list[int] = []

    class Watched(MeanColour):
        def embed(self, inputs: Sequence[NDArray[np.float32]]) -> Vectors:
            asked_at_forward.append(len(asked))
            return super().embed(inputs)

    def groups() -> Iterator[list[Path]]:
        for number in range(50):
            asked.append(number)
            yield pictures[:8]

    backbone = Watched()
    backbone.on_gpu = on_gpu
    in_turn = embed_in_turn(backbone, groups(), batch_size=4, n_threads=1)
    for n_done in range(1, 11):
        next(in_turn)
        assert n_done < len(asked) <= n_done + 2, "one ahead, not all of them"
    in_turn.close()
    if on_gpu:  # the device has always more to do than the group that it is at
        assert all(n >= 2 for n in asked_at_forward)


@pytest.mark.parametrize("on_gpu", [False, True])
def test_a_group_that_cannot_be_read_raises_in_its_turn(pictures: list[Path], on_gpu: bool) -> None:
    pictures[5].write_bytes(b"no picture")
    backbone = MeanColour()
    backbone.on_gpu = on_gpu
    in_turn = embed_in_turn(backbone, [pictures[:4], pictures[4:8], pictures[8:]])
    np.testing.assert_array_equal(next(in_turn), EXPECTED[:4])
    with pytest.raises(PictureProblem, match=r"5.png"):
        next(in_turn)


# ---- the batch size of a GPU ----
def settled(rate_of: Callable[[int], float], fits: int = 10**9, first: int = 32) -> list[int]:
    """The batch sizes of a device that does so many pictures a second, whichever it gets."""
    size = BatchSize(first, grows=True)
    seen = []
    for _ in range(40):
        seen.append(size.now)
        if size.now > fits:
            size.did_not_fit(size.now)
        else:
            size.worked(size.now, size.now / rate_of(size.now))
    return [one for one, before in zip(seen, [0, *seen], strict=False) if one != before]


def test_a_batch_doubles_while_that_is_faster_and_stays_there() -> None:
    assert settled(float) == [32, 64, 128, 256]
    assert settled(lambda n: min(n, 128)) == [32, 64, 128, 256, 128]
    assert settled(lambda n: 100.0) == [32, 64, 32]


def test_a_batch_that_does_not_fit_goes_back_for_good() -> None:
    assert settled(float, fits=128) == [32, 64, 128, 256, 128]
    assert settled(float, fits=20) == [32, 16]
    assert settled(float, fits=1, first=5) == [5, 3, 2, 1]


def test_the_first_batch_of_a_size_and_those_that_are_not_full_say_nothing() -> None:
    size = BatchSize(32, grows=True)
    size.worked(32, 100.0)  # the kernels are chosen
    size.worked(7, 1e-6)
    assert size.now == 32
    size.worked(32, 1.0)
    size.worked(32, 1.1)
    assert size.now == 64
    fixed = BatchSize(16)
    for _ in range(9):
        fixed.worked(16, 1e-3)
    assert fixed.now == 16


def test_what_a_device_holds_is_found_and_kept_for_all_groups(pictures: list[Path]) -> None:
    backbone = MeanColour(most=6)
    backbone.on_gpu = True
    backbone.batch_size = 16
    in_turn = list(embed_in_turn(backbone, [pictures] * 3))
    for found in in_turn:
        np.testing.assert_array_equal(found, EXPECTED)
    assert max(backbone.sizes) == 6  # in the order of two threads
    assert sum(backbone.sizes) == 3 * len(pictures)
