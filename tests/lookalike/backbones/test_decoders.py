"""Pictures decoded in processes are those that threads decode, whatever becomes of a process."""

from __future__ import annotations

import io
import logging
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

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
    reader.read(photo)
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
                np.testing.assert_array_equal(reader.read(source), expected)
    assert len(children()) == before


def test_what_cannot_be_read_is_named_as_threads_name_it(photos: list[Path]) -> None:
    photos[1].write_bytes(photos[1].read_bytes()[:200])
    photos[2].unlink()

    def unreachable() -> Any:
        raise ConnectionResetError("the storage does not answer")

    with Decoders(TRANSFORM, 16) as reader:
        when_ready(reader, photos[0])
        for photo in photos[1:3]:
            problem = reader.read(photo)
            assert isinstance(problem, PictureProblem)
            assert str(problem) == str(decoders.read_picture(photo, TRANSFORM, 16))
            assert str(photo) in str(problem)
        with pytest.raises(ConnectionResetError, match="does not answer"):
            reader.read(unreachable)
        assert isinstance(reader.read(photos[3]), np.ndarray)


def test_a_process_that_is_killed_is_done_without(
    photos: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    with Decoders(TRANSFORM, 16) as reader, caplog.at_level(logging.WARNING):
        when_ready(reader, photos[0])
        (child,) = (one for one in children() if "serve()" in " ".join(one.cmdline()))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        for photo in photos:
            expected = decoders.read_picture(photo, TRANSFORM, 16)
            np.testing.assert_array_equal(reader.read(photo), expected)
    assert [record.message for record in caplog.records if "is gone" in record.message]


def test_what_cannot_be_sent_to_a_process_is_done_without(photos: list[Path]) -> None:
    def transform(image: Image.Image) -> Any:
        return np.asarray(image)

    before = len(children())
    with Decoders(transform, 16) as reader:
        for photo in photos:
            np.testing.assert_array_equal(
                reader.read(photo), decoders.read_picture(photo, transform, 16)
            )
        assert len(children()) == before
