"""Open the folder or zip file that pictures come from."""

from __future__ import annotations

from pathlib import Path

from lookalike.images.folder_source import FolderSource
from lookalike.images.source import MAX_FILES, ONLY_ZIPS, Source, SourceError, UnreadableFileError
from lookalike.images.zip_source import MAX_RATIO, MAX_UNPACKED, ZipSource

__all__ = [
    "MAX_FILES",
    "MAX_RATIO",
    "MAX_UNPACKED",
    "FolderSource",
    "Source",
    "SourceError",
    "UnreadableFileError",
    "ZipSource",
    "open_source",
]


def open_source(path: Path, name: str | None = None, names_encoding: str = "") -> Source:
    """Open a folder or a zip file.

    Args:
        path: of the folder or zip.
        name: what people call it; by default the name of the file.
        names_encoding: of a zip's names that do not say theirs; "" to guess it.

    Raises:
        SourceError: it does not exist, is neither, is damaged, or goes over a limit; or there is
            no such encoding.
    """
    label = name or path.name
    if path.is_dir():
        if names_encoding:
            raise SourceError(ONLY_ZIPS)
        return FolderSource(path, label)
    if path.is_file():
        return ZipSource(path, label, names_encoding)
    raise SourceError(f"There is no folder or zip file {path}.")
