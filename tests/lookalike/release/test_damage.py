"""Damage anywhere in a folder or a zip: it is named, and nothing worse happens."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from lookalike.cli.verify import verdict_text
from lookalike.client.verify import verify as verify_by_client
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import opened, unpacked
from lookalike.release.format.layout import MANIFEST
from lookalike.release.format.manifest import Manifest, read_manifest
from lookalike.release.verify import verify
from lookalike.release.verify_files import against_manifest
from tests.lookalike.release.damage import (
    OLD,
    ROOT,
    check_data,
    check_entries,
    check_reasons,
    check_strays,
)


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


@pytest.mark.slow
def test_a_flipped_bit_of_any_file_in_a_zip_is_named(tmp_path: Path) -> None:
    check_data(named, tmp_path)


@pytest.mark.slow
def test_damage_to_what_a_zip_says_of_a_file_is_named_or_harmless(tmp_path: Path) -> None:
    check_entries(named, tmp_path)


def test_every_reason_that_a_zip_may_give_is_told_for_the_manifest_too(tmp_path: Path) -> None:
    check_reasons(named, tmp_path)


def test_files_beside_the_folder_and_twice_the_same_name_are_named(tmp_path: Path) -> None:
    check_strays(lambda source: {one.path for one in verify(source).findings}, tmp_path)


@pytest.mark.parametrize("kind", ["zip", "folder"])
def test_a_release_that_a_file_manager_zipped_again_is_right(kind: str, tmp_path: Path) -> None:
    junk = {".DS_Store", "data/Thumbs.db", "data/._pool.parquet", "desktop.ini"}
    source = tmp_path / "again.zip"
    with zipfile.ZipFile(OLD) as held, zipfile.ZipFile(source, "w") as archive:
        archive.mkdir("Copy of it/")
        for name in held.namelist():
            archive.writestr(f"Copy of it/{name.removeprefix(ROOT)}", held.read(name))
        for name in junk:
            archive.writestr(f"Copy of it/{name}", "x")
        archive.mkdir("__MACOSX/")
        archive.writestr("__MACOSX/Copy of it/._data", "x")
    if kind == "folder":
        with zipfile.ZipFile(source) as archive:
            archive.extractall(tmp_path)
        source, outside = tmp_path / "Copy of it", set()
    else:
        outside = {"__MACOSX/Copy of it/._data"}
    verdict = verify(source)
    assert verdict.is_right
    assert verdict.were_numbers_checked
    assert set(verdict.left_by_systems) == junk | outside
    assert "Extra files" in verdict_text(verdict)
    assert verify_by_client(source) == []


def test_extra_files_are_told_from_wrong_ones_and_the_listed_are_checked(tmp_path: Path) -> None:
    source = Path(shutil.copy(OLD, tmp_path / "more.zip"))
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr(f"{ROOT}notes.txt", "x")
        archive.writestr("other/a.txt", "x")
    verdict = verify(source)
    assert {(one.path, one.is_extra) for one in verdict.findings} == {
        ("notes.txt", True),
        ("other/a.txt", True),
    }
    assert verdict.were_numbers_checked
    assert not verdict.is_right
    assert "2 extra files" in verdict_text(verdict)


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

    monkeypatch.setattr("lookalike.release.verify_files.count_rows", rows_of)
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
