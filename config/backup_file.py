"""What the file of a backup holds, and whether it is whole."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

DUMP, MANIFEST = "database.dump", "manifest.json"
FORMAT = 1
CHUNK = 2**20
BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, EOFError, RuntimeError)


class BackupError(Exception):
    """A backup was not made, or is not sound; the message says why and what to do."""


@dataclass
class Manifest:
    """What a backup holds.

    Attributes:
        version: of Lookalike.
        made_at: when the snapshot was taken.
        server: major version of the PostgreSQL that was dumped.
        bucket: of the object storage that holds the pictures, which are not in here; or empty.
        counts: rows of each table.
        files: name to SHA-256; the dump, and each file of the data folder as files/NAME.
    """

    version: str
    made_at: str
    server: int
    bucket: str
    counts: dict[str, int]
    files: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


def verify(path: Path) -> Manifest:
    """Return what a backup holds, after each byte of it was checked.

    Raises:
        BackupError: it is cut short, damaged, or not a backup.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive)
            names = set(archive.namelist()) - {MANIFEST}
            for name in sorted(names ^ manifest.files.keys()):
                raise BackupError(f"{path} is damaged: its list of files is wrong at {name}.")
            for name, sha256 in manifest.files.items():
                with archive.open(name) as member:
                    is_sound = copy_hashed(member) == sha256
                if not is_sound:
                    raise BackupError(f"{path} is damaged: {name} is not what was stored.")
    except BROKEN as problem:
        raise BackupError(f"{path} is damaged, cut short or no backup: {problem}") from problem
    return manifest


def _read_manifest(archive: zipfile.ZipFile) -> Manifest:
    """Return the manifest.

    Raises:
        BackupError: a later version made it.
    """
    content = json.loads(archive.read(MANIFEST))
    if content["format"] > FORMAT:
        raise BackupError(f"This backup was made by Lookalike {content['version']}; use that.")
    return Manifest(**content)


def copy_hashed(source: IO[bytes], target: IO[bytes] | None = None) -> str:
    """Copy a stream, if only to nowhere; return its SHA-256."""
    digest = hashlib.sha256()
    while piece := source.read(CHUNK):
        digest.update(piece)
        if target is not None:
            target.write(piece)
    return digest.hexdigest()
