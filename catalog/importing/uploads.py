"""Uploaded files of every page, kept under names of ours until the job that reads them ends."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat

from jobs.disk import free_bytes, has_room
from lookalike.core.errors import Refused

MAX_BYTES = 20 * 2**30
CHUNK = 2**20
ENDINGS = frozenset(
    {"zip", "meta", "npy", "npz", "parquet", "csv", "txt", "run", "trec", "qrels", "json"}
)
KEPT_SECONDS = 86_400  # a failed import can be tried again within this time


def upload_path(name: str) -> Path:
    """Return where an upload lies.

    Raises:
        ValueError: not a name that `keep_upload` gave out.
    """
    stem, _, ending = name.partition(".")
    if ending not in ENDINGS or str(uuid.UUID(stem)) != stem:
        raise ValueError(f"Not an upload: {name!r}.")
    return Path(settings.DATA_DIR) / "uploads" / name


def uploads_folder() -> Path:
    """Return where uploads lie; it is made where it is missing."""
    folder = Path(settings.DATA_DIR) / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_upload(file: UploadedFile[bytes], ending: str, at_most: int | None = None) -> str:
    """Copy an uploaded file to the disk, piece by piece, and return the name it has there.

    Args:
        file: from the request.
        ending: one of ENDINGS; what the file is read as, never what its giver calls it.
        at_most: bytes; by default MAX_BYTES, which only a zip of pictures needs.

    Raises:
        Refused: larger than that, or the disk has no room for it.
    """
    check_room(file.size or 0)
    at_most = MAX_BYTES if at_most is None else at_most
    name = f"{uuid.uuid4()}.{ending}"
    path = upload_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    n_bytes = 0
    try:
        with path.open("xb") as target:
            for chunk in file.chunks(CHUNK):
                n_bytes += len(chunk)
                if n_bytes > at_most:
                    raise Refused("", _too_large(file, ending, at_most))
                target.write(chunk)
            target.flush()
            os.fsync(target.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return name


def check_room(n_bytes: int) -> None:
    """Leave so much of the disk free that the site goes on when uploads stop.

    Raises:
        Refused: with so many bytes more, less than LEAST_FREE_MIB would be left.
    """
    Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
    if not has_room(n_bytes):
        n_free = free_bytes()
        raise Refused(
            "",
            f"The site’s disk is nearly full: {filesizeformat(n_free)} are free, of which "
            f"{settings.LEAST_FREE_MIB} MB are kept. Nothing was uploaded; ask an admin to make "
            "room.",
        )


def _too_large(file: UploadedFile[bytes], ending: str, at_most: int) -> str:
    if ending in {"zip", "meta"} and at_most == MAX_BYTES:
        return (
            f"The upload is larger than {at_most // 2**30} GB. Split it, or put the pictures into "
            "a folder of the server."
        )
    return f"{file.name} is larger than {filesizeformat(at_most)}"


def drop_upload(name: str) -> None:
    """Delete an upload; nothing happens if it is gone."""
    upload_path(name).unlink(missing_ok=True)


def drop_old_uploads() -> int:
    """Delete uploads that no job can want any more, and what was on its way; returns how many."""
    n_dropped = 0
    for path in uploads_folder().iterdir():
        with suppress(FileNotFoundError):  # its job has just ended
            if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink()
                n_dropped += 1
    return n_dropped
