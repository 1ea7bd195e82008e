"""Pictures decoded in processes are those that threads decode, whatever becomes of a process."""

from __future__ import annotations

import io
import logging
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import psutil
import pytest
from PIL import Image

from lookalike.backbones import decoders
from lookalike.backbones.decoders import Decoders
from lookalike.backbones.pictures import PictureProblem
from lookalike.backbones.resizing import AsArray, Resized
from tests.waiting import wait_until

TRANSFORM = AsArray(Resized(16, Image.Resampling.BICUBIC, crop=(12, 12)))


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    for number in range(6):
        pixels = rng.integers(0, 256, (40, 60, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.jpg")
    return sorted(tmp_path.glob("*.jpg"))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "AFTER", 0)


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def when_ready(reader: Decoders, photo: Path) -> None:
    """Read until this thread's process has started, and takes part."""
    reader.read([photo])
    wait_until(lambda: bool(reader._started[-1].is_ready()))


def test_a_process_reads_what_threads_read(photos: list[Path]) -> None:
    before = len(children())
    with Decoders(TRANSFORM, 16) as reader:
        when_ready(reader, photos[0])
        assert len(children()) == before + 1
        for photo in photos:
            expected = decoders.read_picture(photo, TRANSFORM, 16)
            assert expected.shape == (12, 12, 3)
            opener = partial(io.BytesIO, photo.read_bytes())
            for source in (photo, opener):
                np.testing.assert_array_equal(reader.read([source])[0], expected)
        found = reader.read(photos)
        reader.read(photos[::-1])  # takes the place that they had in memory
        expected = [decoders.read_picture(photo, TRANSFORM, 16) for photo in photos]
        np.testing.assert_array_equal(found, expected)
    assert len(children()) == before


def test_pixels_that_do_not_fit_into_shared_memory_are_sent(
    photos: list[Path],
) -> None:
    large = AsArray(Resized(3000, Image.Resampling.BICUBIC, crop=None))  # 40 MB each
    with Decoders(large, 0) as reader:
        when_ready(reader, photos[0])
        found = reader.read(photos[:2])
    for photo, pixels in zip(photos, found, strict=False):
        np.testing.assert_array_equal(pixels, decoders.read_picture(photo, large, 0))


def test_what_cannot_be_read_is_named_as_threads_name_it(photos: list[Path]) -> None:
    photos[1].write_bytes(photos[1].read_bytes()[:200])
    photos[2].unlink()

    def unreachable() -> Any:
        raise ConnectionResetError("the storage does not answer")

    def gone() -> BinaryIO:
        return photos[2].open("rb")

    with Decoders(TRANSFORM, 16) as reader:
        when_ready(reader, photos[0])
        first, *problems, same, last = reader.read([*photos[:3], gone, photos[3]])
        assert isinstance(first, np.ndarray)
        assert isinstance(last, np.ndarray)
        assert isinstance(same, PictureProblem)
        for photo, problem in zip(photos[1:3], problems, strict=True):
            assert isinstance(problem, PictureProblem)
            assert str(problem) == str(decoders.read_picture(photo, TRANSFORM, 16))
            assert str(photo) in str(problem)
        with pytest.raises(ConnectionResetError, match="does not answer"):
            reader.read([photos[0], unreachable])
        assert isinstance(reader.read([photos[3]])[0], np.ndarray)


def test_a_process_that_is_killed_is_done_without(
    photos: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    with Decoders(TRANSFORM, 16) as reader, caplog.at_level(logging.WARNING):
        when_ready(reader, photos[0])
        (child,) = (one for one in children() if "serve()" in " ".join(one.cmdline()))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        for _ in range(2):
            expected = [decoders.read_picture(photo, TRANSFORM, 16) for photo in photos]
            np.testing.assert_array_equal(reader.read(photos), expected)
    assert [record.message for record in caplog.records if "is gone" in record.message]


def test_what_cannot_be_sent_to_a_process_is_done_without(photos: list[Path]) -> None:
    def transform(image: Image.Image) -> Any:
        return np.asarray(image)

    before = len(children())
    with Decoders(transform, 16) as reader:
        for photo in photos:
            np.testing.assert_array_equal(
                reader.read([photo])[0], decoders.read_picture(photo, transform, 16)
            )
        assert len(children()) == before
