"""Uploaded runs on their way in: kept under names of ours until the job that checks them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from evaluation.errors import InputError

MAX_BYTES = 2 * 2**30
CHUNK = 2**20
ENDINGS = (".npy", ".npz", ".parquet", ".csv", ".txt", ".run", ".trec", ".qrels", ".json", ".zip")


def kept_path(name: str) -> Path:
    """Return where an upload lies.

    Raises:
        ValueError: not a name that `keep_run_file` gave out.
    """
    stem, _, ending = name.partition(".")
    if f".{ending}" not in ENDINGS or str(uuid.UUID(stem)) != stem:
        raise ValueError(f"Not an upload: {name!r}.")
    return Path(settings.DATA_DIR) / "uploads" / name


def keep_run_file(file: UploadedFile[bytes]) -> str:
    """Copy an uploaded file to the disk, piece by piece, and return the name it has there.

    Raises:
        InputError: larger than MAX_BYTES.
    """
    ending = Path(str(file.name)).suffix.lower()
    name = f"{uuid.uuid4()}{ending if ending in ENDINGS else '.txt'}"
    path = kept_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as target:
            for chunk in _bounded(file):
                target.write(chunk)
            target.flush()
            os.fsync(target.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return name


def drop_run_file(name: str) -> None:
    """Delete an upload; nothing happens if there is none."""
    if name:
        kept_path(name).unlink(missing_ok=True)


def _bounded(file: UploadedFile[bytes]) -> Iterator[bytes]:
    n_bytes = 0
    for chunk in file.chunks(CHUNK):
        n_bytes += len(chunk)
        if n_bytes > MAX_BYTES:
            raise InputError(f"{file.name} is larger than {MAX_BYTES // 2**30} GB")
        yield chunk
