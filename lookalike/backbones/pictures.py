"""Open pictures for backbones: upright, RGB, and no larger than needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageOps

Opener = Callable[[], BinaryIO]
MAX_PIXELS = 80_000_000  # below Pillow's own limit, so that it has nothing to warn of
DEEP_MODES = ("I", "F")  # more than 8 bits a channel; Pillow would clip them


class PictureProblem(Exception):  # noqa: N818  (it is collected, not only raised)
    """A picture cannot be turned into a vector; names the file and the reason."""


def open_picture(source: Path | Opener, smallest_side: int = 0) -> Image.Image:
    """Return a picture as RGB, upright, transparent parts on white.

    Args:
        source: the file, or a function that opens it.
        smallest_side: the shorter side that is needed; a JPEG may then be decoded at 1/2, 1/4
            or 1/8 of its size (never below that side), which is several times faster.

    Raises:
        PictureProblem: it is missing, cannot be decoded, or has more than 8 bits a channel.
        OSError: the function could not get at it, which says nothing about the picture.
    """
    file = _file(source)
    try:
        with closing(file):
            return _decoded(file, smallest_side)
    except Exception as problem:  # decoders meet damaged bytes with errors of every type
        raise _problem(source, problem) from problem


def picture_content(source: Path | Opener) -> bytes:
    """Return what a file holds, to be opened elsewhere.

    Raises:
        PictureProblem: it is missing, or cannot be read.
        OSError: as `open_picture`.
    """
    file = _file(source)
    try:
        with closing(file):
            return file.read()
    except Exception as problem:  # as `open_picture` has it
        raise _problem(source, problem) from problem


def picture_name(source: Path | Opener) -> str:
    """Return what to call a picture in a message."""
    return str(source) if isinstance(source, Path) else getattr(source, "__name__", repr(source))


def _file(source: Path | Opener) -> BinaryIO:
    try:
        return source.open("rb") if isinstance(source, Path) else source()
    except FileNotFoundError as problem:
        raise PictureProblem(f"{picture_name(source)}: {problem}") from problem


def _problem(source: Path | Opener, problem: Exception) -> PictureProblem:
    return PictureProblem(f"{picture_name(source)}: {str(problem) or type(problem).__name__}")


def _decoded(file: BinaryIO, smallest_side: int) -> Image.Image:
    with Image.open(file) as image:
        if image.width * image.height > MAX_PIXELS:
            raise ValueError(f"{image.width} x {image.height} pixels are more than {MAX_PIXELS:,}")
        if image.mode.startswith(DEEP_MODES):
            raise ValueError("it has more than 8 bits a channel")
        if smallest_side and image.format == "JPEG":
            image.draft("RGB", (smallest_side, smallest_side))
        upright = ImageOps.exif_transpose(image)
        if not upright.has_transparency_data:
            return upright.convert("RGB")
        layered = upright.convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(paper, layered).convert("RGB")
