"""Check the files of a downloaded release against its manifest, offline.

`python -m releases verify` of the main project also computes every number anew.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from lookalike_client.errors import DamagedError
from lookalike_client.transport import BLOCK

MANIFEST = "MANIFEST.json"


@dataclass(frozen=True)
class Finding:
    """A file that is not as the manifest says."""

    path: str
    reason: str


class _Files(Protocol):
    def names(self) -> set[str]: ...
    def open(self, name: str) -> IO[bytes]: ...


def verify(path: str | Path) -> list[Finding]:
    """Return what differs from the manifest of a release; nothing if all is right.

    Args:
        path: a release's folder, or its zip archive.

    Raises:
        DamagedError: there is no manifest, or it was changed after it was written.
    """
    with _opened(Path(path)) as files:
        if MANIFEST not in files.names():
            raise DamagedError(f"{path} has no {MANIFEST}: it is no release.")
        with files.open(MANIFEST) as file:
            listed = _listed(file.read(), str(path))
        findings = [Finding(name, "not in the manifest") for name in sorted(files.names())
                    if name != MANIFEST and name not in listed]  # fmt: skip
        for name, entry in listed.items():
            reason = _difference(files, name, entry)
            if reason:
                findings.append(Finding(name, reason))
        return findings


def _listed(content: bytes, where: str) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(content)
        seal = found.pop("seal")
        body = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        files: dict[str, dict[str, Any]] = found["files"]
        is_right = hashlib.sha256(body.encode()).hexdigest() == seal
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
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
    except (OSError, zipfile.BadZipFile) as problem:
        return f"cannot be read: {problem}"
    if n_bytes != entry["n_bytes"]:
        return f"{n_bytes} bytes instead of {entry['n_bytes']}"
    return "" if digest.hexdigest() == entry["sha256"] else "other bytes"


class _Folder:
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
        tops = {name.partition("/")[0] for name in names}
        is_nested = MANIFEST not in names and len(tops) == 1
        self._top = f"{tops.pop()}/" if is_nested else ""
        self._names = {name.removeprefix(self._top) for name in names}

    def names(self) -> set[str]:
        return self._names

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(self._top + name)


@contextmanager
def _opened(path: Path) -> Iterator[_Files]:
    if path.is_dir():
        yield _Folder(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as problem:
        raise DamagedError(f"{path} cannot be opened: {problem}") from problem
    with archive:
        yield _Zip(archive)
