"""A release as one zip, always the same bytes for the same files; and a safe way back."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lookalike.client.desktop_junk import is_junk
from lookalike.core.unpacking import DAMAGES, why_too_much
from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import MANIFEST, SIGNATURE
from lookalike.release.format.manifest import is_safe, parse_manifest, paths_in

_MOMENT = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say; no clock enters the bytes
_PACKED = {".parquet", ".jpg", ".jpeg", ".png", ".webp"}  # compressed by themselves
_BLOCK = 2**20
JUNK = "was left by a system"
OUTSIDE = "is outside the release's folder"
ZIP = b"PK\x03\x04"
MAX_MANIFEST = 256 * 2**20
MAX_SIGNATURE = 4096


def write_archive(folder: Path, target: Path, root: str) -> None:
    """Pack a folder into a zip under one top folder, files in the order of their paths."""
    with zipfile.ZipFile(target, "w", allowZip64=True) as archive:
        for path in sorted(paths_in(folder)):
            entry = zipfile.ZipInfo(f"{root}/{path}", _MOMENT)
            is_packed = Path(path).suffix.lower() in _PACKED
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            entry.file_size = (folder / path).stat().st_size
            with (folder / path).open("rb") as source, archive.open(entry, "w") as packed:
                shutil.copyfileobj(source, packed, _BLOCK)


@dataclass(frozen=True)
class Unpacked:
    """A release that lies in a folder.

    Attributes:
        path: the folder.
        strays: entries of its zip that are damaged or not in that folder, and what is wrong.
    """

    path: Path
    strays: tuple[tuple[str, str], ...] = ()


@contextmanager
def unpacked(source: Path) -> Iterator[Unpacked]:
    """Give a release that is a folder already, or is unpacked for a while.

    Raises:
        ReleaseError: neither a release folder nor a readable zip of one.
        OSError: cannot be read, or no room to unpack it.
    """
    if source.is_dir():
        yield Unpacked(source)
        return
    if not source.exists():
        raise ReleaseError(f"{source} does not exist")
    if not zipfile.is_zipfile(source):
        with source.open("rb") as file:
            is_cut = file.read(len(ZIP)) == ZIP
        what = "a zip that is damaged or cut short" if is_cut else "neither a folder nor a zip"
        raise ReleaseError(f"{source} is {what}; give the folder or the zip of a release")
    with tempfile.TemporaryDirectory(prefix="release-") as temporary:
        strays = unpack(source, Path(temporary))
        yield Unpacked(Path(temporary), tuple(strays))


@contextmanager
def opened(source: Path) -> Iterator[Path]:
    """Give the folder of a release, as `unpacked` does, for those who do not check it."""
    with unpacked(source) as release:
        yield release.path


def is_release(source: Path) -> bool:
    """Whether a folder or zip says that it is a release: it has a manifest."""
    if source.is_dir():
        return (source / MANIFEST).exists()
    try:
        with zipfile.ZipFile(source) as archive:
            return any(name.split("/")[-1] == MANIFEST for name in archive.namelist())
    except (*DAMAGES, OSError):
        return False


def unpack(source: Path, folder: Path) -> list[tuple[str, str]]:
    """Unpack a zip of a release, without its top folder.

    A file that its own checksum finds damaged is kept as far as it came, so that checking names
    it. Sizes are held to what the manifest says.

    Returns:
        The entries that the zip finds damaged, that are outside the top folder, of a name used
        before, or left by a system, and what is wrong with them. The last three are not unpacked.

    Raises:
        ReleaseError: no zip, no manifest in it, names that point outside, or far more unpacked
            than packed.
        OSError: no room to unpack it.
    """
    strays = []
    with _opened_zip(source) as archive:
        root = _root(archive, source)
        sizes = _sizes(archive, root, source)
        met: set[str] = set()
        for entry in archive.infolist():
            name = entry.filename.removeprefix(root)
            if entry.is_dir():
                continue
            if name not in sizes and is_junk(name):
                strays.append((name, JUNK))
                continue
            if not entry.filename.startswith(root):
                strays.append((entry.filename, f"{OUTSIDE} {root}"))
                continue
            if not is_safe(name):
                raise ReleaseError(f"{source} holds a file outside its folder: {name!r}")
            if name in met:
                strays.append((name, "is in the zip twice"))
                continue
            met.add(name)
            if damage := _unpack_one(archive, entry, folder / name, sizes.get(name, 0)):
                strays.append((name, damage))
    return strays


def _opened_zip(source: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(source)
    except (*DAMAGES, OSError) as problem:
        raise ReleaseError(f"{source} is a damaged zip: {problem}") from problem


def _root(archive: zipfile.ZipFile, source: Path) -> str:
    manifests = [name for name in archive.namelist() if name.split("/")[-1] == MANIFEST]
    shortest = min(manifests, key=lambda name: (name.count("/"), name), default=None)
    if shortest is None:
        raise ReleaseError(f"{source} holds no {MANIFEST}: it is no release, or is incomplete")
    return shortest.removesuffix(MANIFEST)


def _sizes(archive: zipfile.ZipFile, root: str, source: Path) -> dict[str, int]:
    entry = next(info for info in archive.infolist() if info.filename == root + MANIFEST)
    if entry.file_size > MAX_MANIFEST or why_too_much(entry.file_size, entry.compress_size):
        raise ReleaseError(f"{source}: {MANIFEST} is larger than {MAX_MANIFEST >> 20} MiB")
    try:
        content = archive.read(entry)
    except (*DAMAGES, OSError) as problem:
        raise ReleaseError(f"{source}: {MANIFEST} is damaged: {problem}") from problem
    manifest = parse_manifest(content, f"{source}: {MANIFEST}")
    sizes = {path: held.n_bytes for path, held in manifest.files.items()}
    if reason := why_too_much(sum(sizes.values()), source.stat().st_size):
        raise ReleaseError(f"{source}: {reason}")
    return {**sizes, MANIFEST: entry.file_size, SIGNATURE: MAX_SIGNATURE}


def _unpack_one(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, n_expected: int
) -> str:
    """Write one file, at most one byte longer than expected: enough to be found wrong.

    Returns:
        What is wrong with the entry, "" if nothing is; the file ends there.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        out = target.open("wb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as problem:
        raise ReleaseError(
            f"{archive.filename} holds a file and a folder of one name: {entry.filename!r}"
        ) from problem
    with out:
        blocks = _blocks(archive, entry, n_expected + 1)
        while True:
            try:
                block = next(blocks, b"")
            except (*DAMAGES, OSError) as problem:
                return f"is damaged in the zip: {problem}"
            if not block:
                return ""
            out.write(block)


def _blocks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, n_left: int) -> Iterator[bytes]:
    with archive.open(entry) as packed:
        while n_left and (block := packed.read(min(_BLOCK, n_left))):
            n_left -= len(block)
            yield block
