"""What sources of pools have on disk, for `manage.py check_storage`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import FileIO

from lookalike.core.stored_files import StoredFile, damage
from pooling.models import PoolSource
from pooling.sources.upload_files import upload_path


def stored_files() -> Iterator[StoredFile]:
    """Yield uploaded embeddings and rankings, with their lists of ids."""
    pairs = PoolSource.objects.values_list("file_sha256", "ids_sha256").distinct()
    for sha256 in sorted({sha256 for pair in pairs for sha256 in pair if sha256}):
        path = upload_path(sha256)
        yield StoredFile("upload", path.name, partial(damage, partial(FileIO, path), sha256))
