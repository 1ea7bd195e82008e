"""The files of pictures on disk, named by the SHA-256 of the original's bytes.

No name from outside ever becomes a path here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import connection

from catalog.files import write_atomically
from catalog.models import Image
from catalog.pictures import Picture

SIZES = ("thumb", "view", "original")
_IN_USE = 0x10_0CA1E  # PostgreSQL advisory lock: held shared by imports, alone by the clean-up


def blob_path(sha256: str, size: str) -> Path:
    """Return where one size of a picture lies (or would lie).

    Raises:
        ValueError: not a SHA-256 in hexadecimal, or not one of SIZES.
    """
    is_hash = len(sha256) == 64 and not set(sha256) - set("0123456789abcdef")
    if not is_hash or size not in SIZES:
        raise ValueError(f"No such file: {size} of {sha256!r}.")
    ending = "" if size == "original" else ".webp"
    return Path(settings.DATA_DIR) / "blobs" / size / sha256[:2] / f"{sha256}{ending}"


def has_blobs(sha256: str) -> bool:
    """Whether the original and its previews are all on disk."""
    return all(blob_path(sha256, size).exists() for size in SIZES)


def store_blobs(sha256: str, content: bytes, picture: Picture) -> None:
    """Store the original and its previews, each whole or not at all; twice is once."""
    for size, data in (("original", content), ("view", picture.view), ("thumb", picture.thumb)):
        path = blob_path(sha256, size)
        if not path.exists():
            write_atomically(path, partial(_write, data))


def _write(data: bytes, file: BinaryIO) -> None:
    file.write(data)


@contextmanager
def blobs_in_use() -> Iterator[None]:
    """Keep the clean-up away while files are written whose rows are yet to come."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_lock_shared(%s)", [_IN_USE])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock_shared(%s)", [_IN_USE])


def remove_unused_blobs() -> int:
    """Delete the files of pictures that are in no catalog; how many pictures that were.

    While an import runs nothing is deleted; the next call finds the leftovers.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_lock(%s)", [_IN_USE])
        if not cursor.fetchone()[0]:
            return 0
    try:
        return _remove_unused()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock(%s)", [_IN_USE])


def _remove_unused() -> int:
    used = set(Image.objects.values_list("sha256", flat=True).iterator())
    unused = set()
    root = Path(settings.DATA_DIR) / "blobs"
    for size in SIZES:
        for path in (root / size).glob("??/*"):
            sha256 = path.name.partition(".")[0]
            if sha256 not in used:  # also what a killed writer left behind
                unused.add(sha256)
                path.unlink()
    return len(unused - {""})
