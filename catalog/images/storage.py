"""Where blobs lie: this machine's data folder, or an S3-compatible object storage.

`default_storage` is one of the two, by the settings. Names are content hashes
(`catalog.images.blobs`), so to write a name twice is harmless and nothing is ever changed.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from lookalike.core.atomic_files import write_atomically


class LocalBlobs(FileSystemStorage):
    """The folder `blobs` of the data folder; a file is there whole or not at all."""

    @property
    def base_location(self) -> str:
        return str(Path(settings.DATA_DIR) / "blobs")

    @property
    def location(self) -> str:
        return self.base_location

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name

    def _save(self, name: str, content: File[bytes]) -> str:
        write_atomically(Path(self.path(name)), lambda file: file.writelines(content.chunks()))
        return name
