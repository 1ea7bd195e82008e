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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from lookalike.client.desktop_junk import is_junk
from lookalike.client.errors import DamagedError
from lookalike.client.transport import BLOCK

MANIFEST = "MANIFEST.json"
SIGNATURE = f"{MANIFEST}.minisig"
Files = dict[str, Callable[[], IO[bytes]]]  # what opens each file, by its name
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


def verify(path: str | Path) -> list[Finding]:
    """Return what differs from the manifest of a release; nothing if all is right.

    Entries of a zip outside the release's folder, or of one name, are among the findings. Files
    that desktops and archive programs leave are not.

    Args:
        path: a release's folder, or its zip archive.

    Raises:
        DamagedError: there is no manifest, or it was changed after it was written.
    """
    with _opened(Path(path)) as (files, findings):
        if MANIFEST not in files:
            raise DamagedError(f"{path} has no {MANIFEST}: it is no release.")
        try:
            with files[MANIFEST]() as file:
                content = file.read()
        except DAMAGES as problem:
            raise DamagedError(f"{path}: {MANIFEST} cannot be read: {problem}") from problem
        listed = _listed(content, str(path))
        extra = files.keys() - listed.keys() - {MANIFEST, SIGNATURE}
        strangers = sorted(name for name in extra if not is_junk(name))
        findings += [Finding(name, "not in the manifest") for name in strangers]
        for name, entry in listed.items():
            if reason := _difference(files, name, entry):
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


def _difference(files: Files, name: str, entry: dict[str, Any]) -> str:
    if name not in files:
        return "missing"
    digest, n_bytes = hashlib.sha256(), 0
    try:
        with files[name]() as file:
            while block := file.read(BLOCK):
                digest.update(block)
                n_bytes += len(block)
    except DAMAGES as problem:
        return f"cannot be read: {problem}"
    if n_bytes != entry["n_bytes"]:
        return f"{n_bytes} bytes instead of {entry['n_bytes']}"
    return "" if digest.hexdigest() == entry["sha256"] else "other bytes"


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Files, list[Finding]]]:
    """Give the files of a release, and what its zip holds beside them."""
    if path.is_dir():
        found = [held for held in path.rglob("*") if held.is_file()]
        yield {held.relative_to(path).as_posix(): partial(_binary, held) for held in found}, []
        return
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGES as problem:
        raise DamagedError(f"{path} cannot be opened: {problem}") from problem
    with archive:
        yield _packed_files(archive)


def _binary(path: Path) -> IO[bytes]:
    return path.open("rb")


def _packed_files(archive: zipfile.ZipFile) -> tuple[Files, list[Finding]]:
    names = [name for name in archive.namelist() if not name.endswith("/")]
    found = [name for name in names if name.rpartition("/")[2] == MANIFEST]
    nearest = min(found, key=lambda name: (name.count("/"), name), default=MANIFEST)
    top = nearest.removesuffix(MANIFEST)
    strays = [
        Finding(name, f"beside the folder {top} of the release")
        for name in names
        if not name.startswith(top) and not is_junk(name)
    ]
    n_of = Counter(name.removeprefix(top) for name in names if name.startswith(top))
    twice = sorted(name for name, n in n_of.items() if n > 1)
    strays += [Finding(name, "in the zip twice") for name in twice]
    return {name: partial(_unpacked, archive, top + name) for name in n_of}, strays


def _unpacked(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    entry = archive.getinfo(name)
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"packed in a way ({entry.compress_type}) that no release is")
    return archive.open(entry)
