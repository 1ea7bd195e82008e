"""Damage anywhere in a downloaded zip: the client names it, too, and nothing worse happens."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from lookalike.client import verify
from lookalike.client.errors import DamagedError
from tests.lookalike.release.damage import (
    OLD,
    check_data,
    check_entries,
    check_reasons,
    check_strays,
)

MANIFEST = "MANIFEST.json"


def named(source: Path) -> set[str]:
    try:
        return {finding.path for finding in verify(source)}
    except DamagedError as problem:
        return {MANIFEST} if MANIFEST in str(problem) else {str(problem)}


@pytest.mark.slow
def test_a_flipped_bit_of_any_file_in_a_zip_is_named(tmp_path: Path) -> None:
    assert verify(OLD) == []
    check_data(named, tmp_path)


@pytest.mark.slow
def test_damage_to_what_a_zip_says_of_a_file_is_named_or_harmless(tmp_path: Path) -> None:
    check_entries(named, tmp_path)


def test_every_reason_that_a_zip_may_give_is_told(tmp_path: Path) -> None:
    check_reasons(named, tmp_path)


def test_files_beside_the_folder_and_twice_the_same_name_are_named(tmp_path: Path) -> None:
    check_strays(named, tmp_path)


def test_a_manifest_that_says_the_same_in_other_bytes_was_changed(tmp_path: Path) -> None:
    with zipfile.ZipFile(OLD) as archive:
        archive.extractall(tmp_path)
    path = tmp_path / "small-1.0.0" / MANIFEST
    assert verify(path.parent) == []
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(DamagedError, match="was changed"):
        verify(path.parent)
