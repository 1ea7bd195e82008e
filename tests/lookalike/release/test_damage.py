"""Damage anywhere in a folder or a zip: it is named, and nothing worse happens."""

from __future__ import annotations

import json
import shutil
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from lookalike.release.archive import opened, unpacked
from lookalike.release.errors import ReleaseError
from lookalike.release.layout import MANIFEST
from lookalike.release.manifest import Manifest, paths_in, read_manifest
from lookalike.release.verify import verify
from lookalike.release.verify_files import against_manifest
from tests.paths import GOLDEN_RELEASES

OLD = GOLDEN_RELEASES / "small-1.0.0.zip"
ROOT = "small-1.0.0/"
WHOLE = OLD.read_bytes()
Check = Callable[[Path], set[str]]


def named(source: Path) -> set[str]:
    """What the first half of `verify` names: the second, which computes, is tested elsewhere."""
    try:
        with unpacked(source) as found:
            manifest = read_manifest(found.path)
            return {
                finding.path for finding in against_manifest(found.path, manifest, found.strays)
            }
    except ReleaseError as problem:
        return {MANIFEST} if MANIFEST in str(problem) else {str(problem)}


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
    yield from (start + n * part // 7 for part in range(7))
    yield start + n - 1


def central() -> Iterator[tuple[str, int]]:
    """Where the entry of each file in the zip's directory begins."""
    with zipfile.ZipFile(OLD) as archive:
        at = archive.start_dir
    while WHOLE[at : at + 4] == b"PK\x01\x02":
        n_name, n_extra, n_comment = struct.unpack("<HHH", WHOLE[at + 28 : at + 34])
        yield WHOLE[at + 46 : at + 46 + n_name].decode().removeprefix(ROOT), at
        at += 46 + n_name + n_extra + n_comment


def test_a_flipped_bit_of_any_file_in_a_zip_is_named(tmp_path: Path) -> None:
    check_data(named, tmp_path)


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


def test_damage_to_what_a_zip_says_of_a_file_is_named_or_harmless(tmp_path: Path) -> None:
    check_entries(named, tmp_path)


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


def test_every_reason_that_a_zip_may_give_is_told_for_the_manifest_too(tmp_path: Path) -> None:
    check_reasons(named, tmp_path)


def check_reasons(check: Check, tmp_path: Path) -> None:
    """Encrypted, packed in an unknown way, of a wrong checksum, for a later version of zip."""
    places = dict(central())
    source = tmp_path / "broken.zip"
    for name in (MANIFEST, "statistics.json"):
        for offset, bit in ((8, 1), (10, 0x40), (10, 4), (16, 1), (6, 0x80)):
            source.write_bytes(flipped(places[name] + offset, bit))
            found = check(source)
            assert name in found or any("zip" in one for one in found), (name, offset, found)


def test_files_beside_the_folder_and_twice_the_same_name_are_named(tmp_path: Path) -> None:
    check_strays(lambda source: {one.path for one in verify(source).findings}, tmp_path)


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


def test_a_file_that_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    source = Path(shutil.copy(OLD, tmp_path / "both.zip"))
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr(f"{ROOT}trec/qrels.txt/more", "x")
    with pytest.raises(ReleaseError, match="a file and a folder of one name"):
        verify(source)


def test_no_table_is_opened_before_its_hash_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = _copy(tmp_path)
    read: list[str] = []

    def rows_of(path: Path, n_lines: int) -> None:
        read.append(path.name)

    monkeypatch.setattr("lookalike.release.verify_files.rows_of", rows_of)
    path = copied / "data/pool.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert "data/pool.parquet" in named(copied)
    assert "pool.parquet" not in read
    assert "labels.parquet" in read


@pytest.mark.parametrize(
    "name", ["data/labels.parquet", "release.json", "results.json", "datasheet.md"]
)
@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe"])
def test_what_cannot_be_read_under_a_fitting_manifest_is_named(
    tmp_path: Path, name: str, content: bytes
) -> None:
    copied = _copy(tmp_path)
    (copied / name).write_bytes(content)
    body = json.loads((copied / MANIFEST).read_text())
    body["files"][name] |= {"n_bytes": len(content), "sha256": sha256(content).hexdigest()}
    body.pop("seal")
    text = json.dumps(body, indent=1, ensure_ascii=False) + "\n"
    body["seal"] = sha256(text.encode()).hexdigest()
    (copied / MANIFEST).write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n")
    assert name in {finding.path for finding in verify(copied).findings}


@pytest.mark.parametrize("name", ["data/labels.parquet", "data/pairs.parquet"])
def test_a_table_with_broken_pages_under_a_fitting_manifest_is_named(
    tmp_path: Path, name: str
) -> None:
    copied = _copy(tmp_path)
    whole = (copied / name).read_bytes()
    for part in range(1, 8):
        broken = bytearray(whole)
        broken[len(whole) * part // 16] ^= 1 << part
        (copied / name).write_bytes(bytes(broken))
        old = read_manifest(copied)
        files = {**old.files, name: replace(old.files[name], sha256=sha256(broken).hexdigest())}
        text = Manifest(old.release, old.version, files, old.schema_version).text()
        (copied / MANIFEST).write_text(text)
        assert not verify(copied).is_right


def _copy(target: Path) -> Path:
    with opened(OLD) as folder:
        return Path(shutil.copytree(folder, target / "copy"))
