"""Pictures that take minutes or gigabytes to decode end a process, not the program that asks."""

from __future__ import annotations

import io
import os
import re
import resource
import struct
import time
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.images.containers import MAX_SCANS
from lookalike.images.decode import PictureError, read_picture
from lookalike.images.picture_processes import (
    PictureLimits,
    PictureProcesses,
    TooManyOverrunsError,
)
from tests.waiting import wait_until

LIMITS = PictureLimits()
SCAN = re.compile(rb"\xff\xda.*?(?=\xff[\xc4\xd9\xda])", re.DOTALL)


def jpeg(side: int = 64, **options: object) -> bytes:
    """Return a picture of noise, so that each scan holds something."""
    pixels = np.random.default_rng(0).integers(0, 255, (side, side, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", **options)
    return out.getvalue()


def with_scans(content: bytes, n_more: int, between: bytes = b"") -> bytes:
    """Repeat the last scan of a progressive JPEG."""
    *_, last = SCAN.finditer(content)
    return content[: last.end()] + n_more * (between + last[0]) + content[last.end() :]


def png_bomb(side: int) -> bytes:
    """Return a PNG of zeros with an alpha channel, a thousandth of its pixels' bytes."""

    def part(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(bytes(1 + 4 * side)) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", body) + part(b"IEND", b"")


def test_it_reads_what_the_program_itself_would() -> None:
    for content in (jpeg(), jpeg(progressive=True), png_bomb(300)):
        with PictureProcesses() as processes:
            assert processes.read(content, "a") == read_picture(content, "a")


@pytest.mark.parametrize("content", [b"", b"no picture", jpeg()[:900]])
def test_refusals_are_those_of_the_program_itself(content: bytes) -> None:
    with pytest.raises(PictureError) as expected:
        read_picture(content, "a.jpg")
    with PictureProcesses() as processes, pytest.raises(PictureError) as refused:
        processes.read(content, "a.jpg")
    assert str(refused.value) == str(expected.value)


def test_a_jpeg_of_sixty_five_scans_is_refused_and_fewer_are_read() -> None:
    plain = jpeg(progressive=True)
    n_scans = len(SCAN.findall(plain))
    assert read_picture(with_scans(plain, MAX_SCANS - n_scans)).width == 64
    bomb = with_scans(plain, MAX_SCANS + 1 - n_scans)
    with pytest.raises(PictureError, match="64 scans"):
        read_picture(bomb)


@pytest.mark.parametrize(
    "between", [b"\xff\xfe\x00\x04\xff\xd9", b"\xff\xff\xff"], ids=["end", "pad"]
)
def test_scans_do_not_hide_behind_a_comment_or_padding(between: bytes) -> None:
    with pytest.raises(PictureError, match="64 scans"):
        read_picture(with_scans(jpeg(progressive=True), 300, between))


def test_what_follows_the_picture_counts_as_nothing() -> None:
    """Phones append films, in which any two bytes occur."""
    assert read_picture(jpeg() + 100 * b"\xff\xda\x00\x02").width == 64


def test_a_bomb_of_memory_ends_no_more_than_its_own_reading() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bomb = png_bomb(7900)
    assert len(bomb) < 300_000
    with PictureProcesses(replace(LIMITS, memory=400 * 2**20)) as processes:
        with pytest.raises(PictureError, match="MB"):
            processes.read(bomb)
        assert processes.read(jpeg()).width == 64
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_the_largest_picture_that_is_accepted_fits() -> None:
    with PictureProcesses() as processes:
        assert processes.read(png_bomb(7900)).width == 7900


def test_a_bomb_of_time_ends_after_its_seconds() -> None:
    out = io.BytesIO()
    Image.new("RGB", (7000, 7000), "teal").save(out, "JPEG", progressive=True)
    bomb = with_scans(out.getvalue(), 50)
    assert len(bomb) < 2_000_000
    before, began = os.times().children_user, time.monotonic()
    with PictureProcesses(replace(LIMITS, cpu_seconds=0)) as processes:
        with pytest.raises(PictureError, match="seconds of a processor"):
            processes.read(bomb)
        seconds = os.times().children_user - before
        assert processes.read(jpeg()).width == 64
    assert seconds < 10
    assert time.monotonic() - began < 60


def test_many_bombs_end_the_whole_import() -> None:
    with PictureProcesses(replace(LIMITS, seconds=0.0, overruns=2)) as processes:
        for _ in range(2):
            with pytest.raises(PictureError):
                processes.read(jpeg())
        with pytest.raises(TooManyOverrunsError):
            processes.read(jpeg())


def test_a_killed_process_is_replaced_and_the_picture_read() -> None:
    with PictureProcesses() as processes:
        processes.read(jpeg())
        processes._own.reader._process.kill()
        processes._own.reader._process.wait()
        assert processes.read(jpeg()).width == 64


def test_it_knows_no_secret_and_ends_when_it_was_idle_for_a_while(monkeypatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    monkeypatch.setattr("lookalike.images.picture_processes.IDLE_SECONDS", 0.5)
    with PictureProcesses(replace(LIMITS, cpu_seconds=9)) as processes:
        processes.read(jpeg())
        process = processes._own.reader._process
        assert b"hunter2" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    with PictureProcesses(replace(LIMITS, cpu_seconds=9)) as again:
        again.read(jpeg())
        assert again._own.reader._process is process  # it takes half a second to start one
    wait_until(lambda: process.poll() is not None)
