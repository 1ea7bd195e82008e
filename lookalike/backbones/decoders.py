"""Processes that decode pictures for a GPU, one beside each thread.

Python runs the code of one thread at a time. A fifth of decoding a photo is such code, so sixteen
threads decode little more than five do, and what feeds the GPU waits among them for its turn. So
each has a process decode for it, once that has started; until then it decodes by itself.
docs/adr/0018-processes-decode-for-a-gpu.md says why these are no processes of `multiprocessing`.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, BinaryIO, Self

from PIL import Image

from lookalike.backbones.pictures import (
    Opener,
    PictureProblem,
    open_picture,
    picture_content,
    picture_name,
)

Transform = Callable[[Image.Image], Any]
AFTER = 64  # pictures; for fewer, no process is started
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

    def read(self, image: Path | Opener) -> Any:
        """Return what `read_picture` returns.

        Raises:
            OSError: as `read_picture`.
        """
        self._n_begun += 1
        decoder = self._decoder()
        try:
            if decoder is None or not decoder.is_ready():
                return read_picture(image, *self._how)
            sent = image if isinstance(image, Path) else _Content.of(image)
        except PictureProblem as problem:
            return problem
        try:
            return decoder.decoded(sent)
        except (EOFError, ConnectionError) as problem:
            self._own.decoder = None
            if not self._is_over:
                log.warning("A process that decodes is gone (%r); its thread goes on.", problem)
            return read_picture(image, *self._how)

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


class _Decoder:
    """A process that decodes one picture after the other."""

    def __init__(self, how: bytes) -> None:
        self._line, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from lookalike.backbones import decoders; decoders.serve()",
                 str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the one that started it
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                     "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        self._line.send_bytes(how)
        self._is_ready = False

    def is_ready(self) -> bool:
        """Whether it has started, or has ended before."""
        if not self._is_ready and self._line.poll():
            with suppress(EOFError, ConnectionError):
                self._line.recv()
            self._is_ready = True
        return self._is_ready

    def decoded(self, image: Path | Opener) -> Any:
        """Return what `read_picture` returns.

        Raises:
            EOFError, ConnectionError: the process is gone.
        """
        self._line.send(image)
        return self._line.recv()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._line.close()


class _Content:
    """A file that was read elsewhere."""

    def __init__(self, name: str, content: bytes) -> None:
        self.__name__, self._content = name, content

    @classmethod
    def of(cls, image: Opener) -> _Content:
        """Read it.

        Raises:
            PictureProblem, OSError: as `picture_content`.
        """
        return cls(picture_name(image), picture_content(image))

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self._content)


def serve() -> None:
    """Decode what comes along the line that the caller names, until it ends."""
    with Connection(int(sys.argv[1])) as line, suppress(EOFError, ConnectionError):
        how = line.recv()
        line.send(None)
        while True:
            line.send(read_picture(line.recv(), *how))
