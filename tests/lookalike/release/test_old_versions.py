"""Releases of earlier schema versions: they verify as they did when they were frozen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lookalike.release.format.archive import opened
from lookalike.release.format.layout import SCHEMA_VERSION
from lookalike.release.format.manifest import read_manifest
from lookalike.release.verify import verify
from tests.lookalike.release.derived import seal
from tests.paths import GOLDEN_RELEASES


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, SCHEMA_VERSION])
def test_a_release_of_an_earlier_schema_version_verifies(version: int) -> None:
    source = GOLDEN_RELEASES / f"small-{version}.0.0.zip"
    with opened(source) as folder:
        assert read_manifest(folder).schema_version == version
    assert verify(source).findings == ()


def test_the_golden_release_of_this_version_is_compared_word_by_word() -> None:
    """If it is not right any more: see tests/lookalike/release/make_golden.py."""
    verdict = verify(GOLDEN_RELEASES / f"small-{SCHEMA_VERSION}.0.0.zip")
    assert verdict.findings == ()
    assert verdict.were_words_compared
    assert {"bias.json", "data/board.parquet", "datasheet.md"} <= set(verdict.computed)


def test_the_words_of_an_earlier_version_are_not_compared_and_the_verdict_says_so(
    tmp_path: Path,
) -> None:
    with opened(GOLDEN_RELEASES / "small-4.0.0.zip") as folder:
        copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    readme = copy / "README.md"
    readme.write_text(readme.read_text().replace("judge", "assessor"))
    seal(copy)
    verdict = verify(copy)
    assert verdict.is_right
    assert not verdict.were_words_compared
    assert "bias.json" in verdict.only_hashed


def test_the_one_of_version_2_has_what_version_3_tells_otherwise() -> None:
    """Two campaigns with a stratum of one name each, pairs drawn below the pool, and sets."""
    with opened(GOLDEN_RELEASES / "small-2.0.0.zip") as folder:
        info = json.loads((folder / "release.json").read_text())
        strata = json.loads((folder / "strata.json").read_text())
        lines = (folder / "trec/qrels.xinfap.txt").read_text().splitlines()
    assert len(info["campaigns"]) == len(info["pools"]) == len(info["samples"]) == 2
    assert "pool" not in info["campaigns"][0]
    assert info["template_sets"]
    assert info["triplet_sets"]
    assert [(one["stratum"], one["N"], one["n"]) for one in strata[1:]] == [
        ("ranks 5-20", 40, 2)
    ] * 2
    assert {line.split()[3] for line in lines} == {"0", "1"}
