"""JSON nested without end, or with a number of thousands of digits, is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lookalike.conditional.formats.json_files import read_json as read_sets
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.errors import InputError
from lookalike.io.json_text import read_json
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.manifest import parse_manifest

HOSTILE = {"nested": b"[" * 200_000, "digits": b'{"a": ' + b"9" * 5000 + b"}"}
READERS: dict[str, Callable[[Path], object]] = {
    "labels": read_json,
    "sets": read_sets,
    "metadata": lambda path: read_metadata(path.read_bytes(), path.name),
    "manifest": lambda path: parse_manifest(path.read_bytes(), path.name),
    "file of a release": lambda path: Folder(path.parent).json(path.name),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_it_is_refused_by_every_reader(
    tmp_path: Path, read: Callable[[Path], object], content: bytes
) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(content)
    with pytest.raises((InputError, MetadataError, ReleaseError), match=r"hostile\.json"):
        read(path)
