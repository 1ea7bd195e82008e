"""Uploaded runs on their way in: kept under names of ours until the job that checks them."""

from __future__ import annotations

from pathlib import Path

from django.core.files.uploadedfile import UploadedFile

from catalog.importing.uploads import drop_upload, keep_upload, upload_path
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError

MAX_BYTES = 2 * 2**30
ENDINGS = (".npy", ".npz", ".parquet", ".csv", ".txt", ".run", ".trec", ".qrels", ".json", ".zip")


def kept_path(name: str) -> Path:
    """Return where an upload lies.

    Raises:
        ValueError: not a name that `keep_run_file` gave out.
    """
    return upload_path(name)


def keep_run_file(file: UploadedFile[bytes]) -> str:
    """Copy an uploaded file to the disk, piece by piece, and return the name it has there.

    Raises:
        InputError: larger than MAX_BYTES.
    """
    ending = Path(str(file.name)).suffix.lower()
    try:
        return keep_upload(file, (ending if ending in ENDINGS else ".txt")[1:], MAX_BYTES)
    except Refused as problem:
        raise InputError(str(problem)) from problem


def drop_run_file(name: str) -> None:
    """Delete an upload; nothing happens if there is none."""
    if name:
        drop_upload(name)
