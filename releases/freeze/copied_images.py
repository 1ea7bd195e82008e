"""Copy images into a release, without the metadata that cameras and people wrote into them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catalog.frozen_rows import FrozenImage
from catalog.images.blobs import read_blob
from lookalike.images.formats import ENDINGS
from lookalike.images.strip import StripError, has_metadata, strip_metadata
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder, write_json
from lookalike.release.format.layout import WITHOUT_METADATA
from lookalike.release.format.manifest import make_entry
from lookalike.release.format.tables import write_rows
from releases.freeze.requests import FreezeRequest
from releases.freeze.scope import Scope


def file_of(row: FrozenImage, request: FreezeRequest) -> str:
    """Return where an image is in the release; "" if it is left out."""
    return f"images/{row.sha256}{ENDINGS[row.format][0]}" if request.with_images else ""


def copy_images(scope: Scope, request: FreezeRequest, files: Path) -> None:
    """Copy the originals; where bytes changed, record the hash of what is released.

    Raises:
        ReleaseError: an original is missing or damaged, or its metadata cannot be removed.
    """
    images = scope.images
    (files / "images").mkdir()
    stripped: list[dict[str, Any]] = []
    for name, at in zip(images.names, images.first_row.tolist(), strict=True):
        row = images.rows[at]
        target = files / file_of(row, request)
        content = _original(row)
        released = content if request.with_metadata else _without_metadata(content, row)
        target.write_bytes(released)
        if released != content:
            entry = make_entry(target)
            stripped.append(
                {"image_id": name, "file": file_of(row, request), "sha256": entry.sha256,
                 "n_bytes": entry.n_bytes}
            )  # fmt: skip
    if stripped:
        write_rows(files, "image_files", stripped)
        info = Folder(files).info
        info["schema_version"] = WITHOUT_METADATA
        info["licence"]["image_metadata"] = "removed"
        write_json(files / "release.json", info)


def _original(row: FrozenImage) -> bytes:
    try:
        return read_blob(row.sha256, "original")
    except FileNotFoundError:
        raise ReleaseError(
            f"The picture {row.path} is missing; import the catalog again, or freeze without "
            "images."
        ) from None


def _without_metadata(content: bytes, row: FrozenImage) -> bytes:
    try:
        return strip_metadata(content)
    except StripError as problem:
        if not has_metadata(content):
            return content
        raise ReleaseError(
            f"The picture {row.path} has metadata, such as a place or a camera. {problem} Convert "
            "it before the import, or keep the metadata."
        ) from problem
