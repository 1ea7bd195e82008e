"""What is given away under a hash has that hash.

A process reads a file to its end before it first serves it, and again when its time, size or
place on the disk has changed, and once a day. What changes on the disk without any of these is
found by the next of them, or by `manage.py check_storage`.
"""

from __future__ import annotations

import hashlib
import logging
import time
from functools import lru_cache
from pathlib import Path

DAY = 86_400
logger = logging.getLogger(__name__)


class DamagedFileError(Exception):
    """A file of a release is not what was frozen; the message names it."""


def check_whole(path: Path, sha256: str) -> None:
    """Return if a file is what was frozen.

    Raises:
        DamagedFileError: it is missing, cut or changed.
    """
    try:
        stat = path.stat()
        key = (stat.st_ino, stat.st_size, stat.st_mtime_ns, int(time.time() // DAY))
        is_whole = _digest(path, key) == sha256
    except OSError as problem:
        logger.error("The file %s of a release cannot be read: %s.", path, problem)
        raise DamagedFileError(f"{path.name} is missing on the server.") from None
    if not is_whole:
        logger.error("The file %s of a release was changed on the disk.", path)
        raise DamagedFileError(
            f"{path.name} was damaged on the server since it was frozen, so it is not given away."
        )


@lru_cache(maxsize=4096)
def _digest(path: Path, _key: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
