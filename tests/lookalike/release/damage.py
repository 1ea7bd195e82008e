"""Ways to damage the zip of a release, each with what a check must name then."""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lookalike.release.format.archive import opened
from lookalike.release.format.layout import MANIFEST
from lookalike.release.format.manifest import paths_in
from tests.paths import GOLDEN_RELEASES

OLD = GOLDEN_RELEASES / "small-1.0.0.zip"
ROOT = "small-1.0.0/"
WHOLE = OLD.read_bytes()
Check = Callable[[Path], set[str]]


def flipped(at: int, bit: int = 1) -> bytes:
    broken = bytearray(WHOLE)
    broken[at] ^= bit
    return bytes(broken)


def data_of(name: str) -> Iterator[int]:
    """Some places of a file's packed bytes."""
    with zipfile.ZipFile(OLD) as archive:
        entry = archive.getinfo(ROOT + name)
        n_name, n_extra = struct.unpack("<HH", WHOLE[entry.header_offset + 26 :][:4])
    start = entry.header_offset + 30 + n_name + n_extra
    n = entry.compress_size
    yield from (start, start + n // 2, start + n - 1)


def central() -> Iterator[tuple[str, int]]:
    """Where the entry of each file in the zip's directory begins."""
    with zipfile.ZipFile(OLD) as archive:
        at = archive.start_dir
    while WHOLE[at : at + 4] == b"PK\x01\x02":
        n_name, n_extra, n_comment = struct.unpack("<HHH", WHOLE[at + 28 : at + 34])
        yield WHOLE[at + 46 : at + 46 + n_name].decode().removeprefix(ROOT), at
        at += 46 + n_name + n_extra + n_comment


def check_data(check: Check, tmp_path: Path) -> None:
    """Flip bits of the data of every file of a zip."""
    with opened(OLD) as folder:
        names = sorted(paths_in(folder))
    source = tmp_path / "broken.zip"
    for name in names:
        for number, at in enumerate(data_of(name)):
            source.write_bytes(flipped(at, 1 << number))
            found = check(source)
            assert found == {name} or (not found and _is_same(source)), (name, at)


def check_entries(check: Check, tmp_path: Path) -> None:
    """Flags, way of packing, checksum, sizes, lengths, offset and name of every entry."""
    source = tmp_path / "broken.zip"
    harmless = {4, 5, 12, 13, 14, 15, 34, 35, 36, 37, *range(38, 42)}  # clock, system, rights
    for name, start in central():
        if name not in (MANIFEST, "statistics.json", "data/pairs.parquet"):
            continue
        for offset in (*range(6, 46), 46, 46 + len(ROOT), 46 + len(ROOT) + len(name) - 1):
            for bit in (1, 8, 64):
                source.write_bytes(flipped(start + offset, bit))
                found = check(source)
                assert found or offset in harmless or _is_same(source), (name, offset, bit)


def _is_same(source: Path) -> bool:
    """Whether a zip still holds what it held."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(OLD) as right:
        return {name: given.read(name) for name in given.namelist()} == {
            name: right.read(name) for name in right.namelist()
        }


def check_reasons(check: Check, tmp_path: Path) -> None:
    """Encrypted, packed in an unknown way, of a wrong checksum, for a later version of zip."""
    places = dict(central())
    source = tmp_path / "broken.zip"
    for name in (MANIFEST, "statistics.json"):
        for offset, bit in ((8, 1), (10, 0x40), (10, 4), (16, 1), (6, 0x80)):
            source.write_bytes(flipped(places[name] + offset, bit))
            found = check(source)
            assert name in found or any("zip" in one for one in found), (name, offset, found)


def check_strays(check: Check, tmp_path: Path) -> None:
    """Add entries to a zip that are not of the release."""
    source = Path(shutil.copy(OLD, tmp_path / "more.zip"))
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr("EXTRA-README.txt", "x")
        archive.writestr("other/a.txt", "x")
    assert check(source) == {"EXTRA-README.txt", "other/a.txt"}
    source = Path(shutil.copy(OLD, tmp_path / "twice.zip"))
    with zipfile.ZipFile(source, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(f"{ROOT}trec/qrels.txt", "x")
    assert check(source) == {"trec/qrels.txt"}
