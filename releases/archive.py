"""A release as one zip, always the same bytes for the same files; and a safe way back."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from releases.errors import ReleaseError
from releases.layout import MANIFEST
from releases.manifest import is_safe, parse_manifest, paths_in

_MOMENT = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say; no clock enters the bytes
_PACKED = {".parquet", ".jpg", ".jpeg", ".png", ".webp"}  # compressed by themselves
_BLOCK = 2**20
MAX_MANIFEST = 256 * 2**20


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


@contextmanager
def opened(source: Path) -> Iterator[Path]:
    """Give the folder of a release that is a folder already, or is unpacked for a while.

    Raises:
        ReleaseError: neither a release folder nor a readable zip of one.
        OSError: cannot be read, or no room to unpack it.
    """
    if source.is_dir():
        yield source
        return
    if not source.exists():
        raise ReleaseError(f"{source} does not exist")
    if not zipfile.is_zipfile(source):
        raise ReleaseError(f"{source} is neither a folder nor a zip")
    with tempfile.TemporaryDirectory(prefix="release-") as temporary:
        unpack(source, Path(temporary))
        yield Path(temporary)


def unpack(source: Path, folder: Path) -> None:
    """Unpack a zip of a release, without its top folder.

    A file that its own checksum finds damaged is kept as far as it came, so that checking names
    it. Sizes are held to what the manifest says.

    Raises:
        ReleaseError: no zip, no manifest in it, or names that point outside.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            root = _root(archive, source)
            sizes = _sizes(archive, root, source)
            for entry in archive.infolist():
                name = entry.filename.removeprefix(root)
                if entry.is_dir() or not entry.filename.startswith(root):
                    continue
                if not is_safe(name):
                    raise ReleaseError(f"{source} holds a file outside its folder: {name!r}")
                _unpack_one(archive, entry, folder / name, sizes.get(name, 0))
    except zipfile.BadZipFile as problem:
        raise ReleaseError(f"{source} is a damaged zip: {problem}") from problem


def _root(archive: zipfile.ZipFile, source: Path) -> str:
    found = [name for name in archive.namelist() if name.split("/")[-1] == MANIFEST]
    shortest = min(found, key=lambda name: (name.count("/"), name), default=None)
    if shortest is None:
        raise ReleaseError(f"{source} holds no {MANIFEST}: it is no release, or is incomplete")
    return shortest.removesuffix(MANIFEST)


def _sizes(archive: zipfile.ZipFile, root: str, source: Path) -> dict[str, int]:
    entry = archive.getinfo(root + MANIFEST)
    if entry.file_size > MAX_MANIFEST:
        raise ReleaseError(f"{source}: {MANIFEST} is larger than {MAX_MANIFEST >> 20} MiB")
    manifest = parse_manifest(archive.read(entry), f"{source}: {MANIFEST}")
    sizes = {path: one.n_bytes for path, one in manifest.files.items()}
    return {**sizes, MANIFEST: entry.file_size}


def _unpack_one(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, n_expected: int
) -> None:
    """Write one file, at most one byte longer than expected: enough to be found wrong."""
    target.parent.mkdir(parents=True, exist_ok=True)
    n_left = n_expected + 1
    with target.open("wb") as out:
        try:
            with archive.open(entry) as packed:
                while n_left and (block := packed.read(min(_BLOCK, n_left))):
                    out.write(block)
                    n_left -= len(block)
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, zlib.error):
            return
