"""Check the files of a downloaded release against its manifest, offline.

The command `lookalike verify` also computes every number anew.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from lookalike.client.errors import DamagedError
from lookalike.client.transport import BLOCK

MANIFEST = "MANIFEST.json"
# What damaged bytes make zipfile raise; encrypted entries and unknown ways of packing, too.
DAMAGES = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, RuntimeError,
    ValueError, OverflowError, OSError,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A file that is not as the manifest says."""

    path: str
    reason: str


class _Files(Protocol):
    strays: list[Finding]

    def names(self) -> set[str]: ...
    def open(self, name: str) -> IO[bytes]: ...


def verify(path: str | Path) -> list[Finding]:
    """Return what differs from the manifest of a release; nothing if all is right.

    Entries of a zip beside the release's folder, or of one name, are among what is returned.

    Args:
        path: a release's folder, or its zip archive.

    Raises:
        DamagedError: there is no manifest, or it was changed after it was written.
    """
    with _opened(Path(path)) as files:
        if MANIFEST not in files.names():
            raise DamagedError(f"{path} has no {MANIFEST}: it is no release.")
        try:
            with files.open(MANIFEST) as file:
                content = file.read()
        except DAMAGES as problem:
            raise DamagedError(f"{path}: {MANIFEST} cannot be read: {problem}") from problem
        listed = _listed(content, str(path))
        findings = [*files.strays,
                    *(Finding(name, "not in the manifest") for name in sorted(files.names())
                      if name != MANIFEST and name not in listed)]  # fmt: skip
        for name, entry in listed.items():
            reason = _difference(files, name, entry)
            if reason:
                findings.append(Finding(name, reason))
        return findings


def _listed(content: bytes, where: str) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(content)
        seal = found.pop("seal")
        body, whole = (
            (json.dumps(one, indent=1, ensure_ascii=False) + "\n").encode()
            for one in (found, {**found, "seal": seal})
        )
        files: dict[str, dict[str, Any]] = found["files"]
        is_right = hashlib.sha256(body).hexdigest() == seal and whole == content
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise DamagedError(f"{where}: {MANIFEST} is no manifest: {problem!r}") from problem
    if not is_right:
        raise DamagedError(f"{where}: {MANIFEST} was changed: its seal does not fit.")
    return files


def _difference(files: _Files, name: str, entry: dict[str, Any]) -> str:
    if name not in files.names():
        return "missing"
    digest, n_bytes = hashlib.sha256(), 0
    try:
        with files.open(name) as file:
            while block := file.read(BLOCK):
                digest.update(block)
                n_bytes += len(block)
    except DAMAGES as problem:
        return f"cannot be read: {problem}"
    if n_bytes != entry["n_bytes"]:
        return f"{n_bytes} bytes instead of {entry['n_bytes']}"
    return "" if digest.hexdigest() == entry["sha256"] else "other bytes"


class _Folder:
    strays: list[Finding] = []

    def __init__(self, root: Path) -> None:
        self._root = root
        found = (path for path in root.rglob("*") if path.is_file())
        self._names = {path.relative_to(root).as_posix() for path in found}

    def names(self) -> set[str]:
        return self._names

    def open(self, name: str) -> IO[bytes]:
        return (self._root / name).open("rb")


class _Zip:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        names = [name for name in archive.namelist() if not name.endswith("/")]
        found = [name for name in names if name.rpartition("/")[2] == MANIFEST]
        nearest = min(found, key=lambda name: (name.count("/"), name), default=MANIFEST)
        self._top = nearest.removesuffix(MANIFEST)
        self.strays = [
            Finding(name, f"beside the folder {self._top} of the release")
            for name in names
            if not name.startswith(self._top)
        ]
        inside = [name.removeprefix(self._top) for name in names if name.startswith(self._top)]
        n_of = Counter(inside)
        self._names = set(n_of)
        twice = sorted(name for name, n in n_of.items() if n > 1)
        self.strays += [Finding(name, "in the zip twice") for name in twice]

    def names(self) -> set[str]:
        return self._names

    def open(self, name: str) -> IO[bytes]:
        entry = self._archive.getinfo(self._top + name)
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"packed in a way ({entry.compress_type}) that no release is")
        return self._archive.open(entry)


@contextmanager
def _opened(path: Path) -> Iterator[_Files]:
    if path.is_dir():
        yield _Folder(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGES as problem:
        raise DamagedError(f"{path} cannot be opened: {problem}") from problem
    with archive:
        yield _Zip(archive)
