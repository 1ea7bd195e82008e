"""Open pictures for backbones as an import does: upright, in sRGB, and no larger than needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from lookalike.images.pixels import decode
from lookalike.images.source import Source, UnreadableFileError

Opener = Callable[[], BinaryIO]


class PictureProblem(Exception):  # noqa: N818  (it is collected, not only raised)
    """A picture cannot be turned into a vector; names the file and the reason."""


def open_picture(source: Path | Opener, smallest_side: int = 0) -> Image.Image:
    """Return a picture as RGB, rendered as `lookalike.images.pixels` states.

    Args:
        source: the file, or a function that opens it.
        smallest_side: the shorter side that is needed; a JPEG may then be decoded at 1/2, 1/4
            or 1/8 of its size (never below that side), which is several times faster.

    Raises:
        PictureProblem: it is missing, or is refused by `lookalike.images.pixels.decode`.
        OSError: the function could not get at it, which says nothing about the picture.
    """
    file = _file(source)
    try:
        with closing(file):
            return decode(file.read(), smallest_side=smallest_side).in_srgb()
    except Exception as problem:  # storages fail with errors of every type
        raise _problem(source, problem) from problem


class SourcePicture:
    """Opens one picture of a folder or zip; messages name it by its path there."""

    def __init__(self, source: Source, path: str) -> None:
        self._source = source
        self.__name__ = path

    def __call__(self) -> BinaryIO:
        """Return the picture's bytes as an open file."""
        try:
            return BytesIO(self._source.read(self.__name__))
        except UnreadableFileError as problem:
            raise FileNotFoundError(str(problem)) from problem


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
