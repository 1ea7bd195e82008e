"""Processes that decode pictures for a GPU, one beside each thread.

Python runs the code of one thread at a time. A fifth of decoding a photo is such code, so sixteen
threads decode little more than five do, and what feeds the GPU waits among them for its turn. So
each has a process decode for it, once that has started; until then it decodes by itself. A
process gets several pictures at once and leaves their pixels in memory that both see, as each
message waits for that turn, too.
docs/adr/0018-processes-decode-for-a-gpu.md says why these are no processes of `multiprocessing`.
"""

from __future__ import annotations

import io
import logging
import math
import mmap
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.backbones.pictures import (
    Opener,
    PictureProblem,
    open_picture,
    picture_content,
    picture_name,
)
from lookalike.core.child_processes import start_child

Transform = Callable[[Image.Image], Any]
AFTER = 64  # pictures; for fewer, no process is started
SHARED = 1 << 24  # bytes that a process may leave pixels in; what does not fit is sent
log = logging.getLogger(__name__)


def read_picture(image: Path | Opener, transform: Transform, smallest_side: int) -> Any:
    """Return a picture as a network's input, or the PictureProblem why it cannot be read.

    Raises:
        OSError: as `open_picture`.
    """
    try:
        return transform(open_picture(image, smallest_side))
    except PictureProblem as problem:
        return problem


class Decoders:
    """Reads pictures in threads, in whose processes they are decoded; use it in a `with`.

    Args:
        transform: as `read_picture`; processes help where it can be sent to them.
        smallest_side: as `open_picture`.
    """

    def __init__(self, transform: Transform, smallest_side: int) -> None:
        self._how = transform, smallest_side
        self._message = _message(self._how)
        self._n_begun = 0
        self._own = threading.local()
        self._started: list[_Decoder] = []
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        for decoder in self._started:
            decoder.end()

    def read(self, images: Sequence[Path | Opener]) -> list[Any]:
        """Return what `read_picture` returns for each.

        Raises:
            OSError: as `read_picture`.
        """
        self._n_begun += len(images)
        decoder = self._decoder()
        if decoder is not None and decoder.is_ready():
            sent = [one if isinstance(one, Path) else _content(one) for one in images]
            try:
                return decoder.decoded(sent)
            except (EOFError, ConnectionError) as problem:
                self._own.decoder = None
                if not self._is_over:
                    log.warning("A process that decodes is gone (%r); its thread goes on.", problem)
        return [read_picture(one, *self._how) for one in images]

    def _decoder(self) -> _Decoder | None:
        """Return the process of this thread; None if it has none, or none yet."""
        is_time = self._n_begun > AFTER and not self._is_over
        if is_time and self._message and not hasattr(self._own, "decoder"):
            self._own.decoder = None
            try:
                self._own.decoder = _Decoder(self._message)
                self._started.append(self._own.decoder)
            except OSError as problem:
                log.warning("No process can be started (%s); its thread decodes.", problem)
        return getattr(self._own, "decoder", None)


def _message(how: tuple[Transform, int]) -> bytes | None:
    """Return what a process is told first; None if that cannot be sent."""
    try:
        return bytes(ForkingPickler.dumps(how))
    except Exception as problem:  # what cannot be pickled says so in many ways
        log.warning("No process can decode (%r); threads do.", problem)
        return None


_PROGRAM = "from lookalike.backbones import decoders; decoders.serve()"


class _Decoder:
    """A process that decodes pictures."""

    def __init__(self, how: bytes) -> None:
        with tempfile.TemporaryFile() as shared:
            shared.truncate(SHARED)
            self._shared = _shared_memory(shared.fileno())
            self._process, self._line = start_child(_PROGRAM, [shared.fileno()])
        self._line.send_bytes(how)
        self._is_ready = False

    def is_ready(self) -> bool:
        """Whether it has started, or has ended before."""
        if not self._is_ready and self._line.poll():
            with suppress(EOFError, ConnectionError):
                self._line.recv()
            self._is_ready = True
        return self._is_ready

    def decoded(self, images: Sequence[Path | Opener | PictureProblem]) -> list[Any]:
        """Return what `read_picture` returns for each; a problem is returned as it is.

        Raises:
            EOFError, ConnectionError: the process is gone.
        """
        self._line.send(images)
        n_bytes, found = self._line.recv()
        shared = self._shared[:n_bytes].copy()  # the next pictures take its place
        return [one.seen_in(shared) if isinstance(one, _Place) else one for one in found]

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._line.close()


class _Content:
    """A file that was read elsewhere."""

    def __init__(self, name: str, content: bytes) -> None:
        self.__name__, self._content = name, content

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self._content)


def _content(image: Opener) -> Opener | PictureProblem:
    """Read a file, to be opened elsewhere.

    Raises:
        OSError: as `picture_content`.
    """
    try:
        return _Content(picture_name(image), picture_content(image))
    except PictureProblem as problem:
        return problem


@dataclass(frozen=True)
class _Place:
    """Where a picture lies in memory that two processes share."""

    begin: int
    shape: tuple[int, ...]

    def seen_in(self, shared: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return it, without a copy."""
        return shared[self.begin : self.begin + math.prod(self.shape)].reshape(self.shape)


def _shared_memory(handle: int) -> NDArray[np.uint8]:
    return np.frombuffer(mmap.mmap(handle, SHARED), np.uint8)


def _left_in(shared: NDArray[np.uint8], found: Sequence[Any]) -> tuple[int, list[Any]]:
    """Put pictures there as far as they fit; return the bytes used, and what to send."""
    end, sent = 0, []
    for one in found:
        if isinstance(one, np.ndarray) and one.dtype == np.uint8 and end + one.size <= SHARED:
            place = _Place(end, one.shape)
            np.copyto(place.seen_in(shared), one)
            end += one.size
            sent.append(place)
        else:
            sent.append(one)
    return end, sent


def serve() -> None:
    """Decode what comes along the line that the caller names, until it ends."""
    line, shared = Connection(int(sys.argv[1])), _shared_memory(int(sys.argv[2]))
    with line, suppress(EOFError, ConnectionError):
        how = line.recv()
        line.send(None)
        while True:
            images = line.recv()
            found = [
                one if isinstance(one, PictureProblem) else read_picture(one, *how)
                for one in images
            ]
            line.send(_left_in(shared, found))
