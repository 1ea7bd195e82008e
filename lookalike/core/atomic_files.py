"""Put a file in place whole or not at all, even when the process is killed or the power fails."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Let `fill` write a temporary file beside `path`, flush it to the disk, and rename it.

    A reader sees the old file or the new one, never a part. Two writers of the same content
    may race: the later one wins and both are right.

    Args:
        path: where the file shall be; missing folders are made.
        fill: writes the content to the open binary file that it is given.

    Raises:
        OSError: the disk is full or not writable; `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".writing-{secrets.token_hex(8)}"  # of the mode that umask gives
    try:
        with temporary.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make the rename itself survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
