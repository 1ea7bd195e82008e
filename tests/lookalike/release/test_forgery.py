"""Changes under a fitting seal are named: facts, findings, documents, lists, the board."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.cli.main import main
from lookalike.release.derive import derive
from lookalike.release.format.folder import write_json
from lookalike.release.format.layout import (
    BOARD,
    FIRST_WITH_BOARD,
    MANIFEST,
    SCHEMA_VERSION,
    SIGNATURE,
)
from lookalike.release.format.manifest import make_manifest
from lookalike.release.signature import read_public_key, read_signing_key
from lookalike.release.verify import NOT_BY_KEY, NOT_CHECKED, SIGNED, UNSIGNED, verify
from tests.lookalike.release.derived import current_release, seal
from tests.paths import ROOT

KEYS = ROOT / "tests/golden/signatures"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of today's schema version whose judges were programs."""
    folder = current_release(tmp_path_factory.mktemp("release") / "small")
    _edit(folder / "release.json", lambda info: [one.update(is_simulated=True) for one in
                                                 info["campaigns"]])  # fmt: skip
    derive(folder)
    seal(folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def named(folder: Path) -> set[str]:
    seal(folder)
    return {finding.path for finding in verify(folder).findings}


def _edit(path: Path, change: Callable[[Any], object]) -> None:
    content = json.loads(path.read_bytes())
    change(content)
    write_json(path, content)


def _swap(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, (path.name, old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="")


def test_the_release_itself_is_right(folder: Path) -> None:
    assert named(folder) == set()


def test_simulated_judges_that_become_people_are_named(folder: Path) -> None:
    _edit(folder / "release.json", lambda info: [one.update(is_simulated=False) for one in
                                                 info["campaigns"]])  # fmt: skip
    assert {"README.md", "CITATION.cff", "datasheet.md", "croissant.json"} <= named(folder)


@pytest.mark.parametrize(
    ("old", "new"), [("lack", "have"), ("built the pool", "left the pool"), ("Only ", "All ")]
)
def test_another_word_of_a_finding_is_named_wherever_it_stands(
    folder: Path, old: str, new: str
) -> None:
    assert old in (folder / "bias.json").read_text(encoding="utf-8")
    for path in ("bias.json", "datasheet.md", "datasheet.html"):
        _swap(folder / path, old, new)
    assert {"bias.json", "datasheet.md", "datasheet.html"} <= named(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("family", "another"), ("badge", "outsider"), ("name", "better"), ("n_proposals", 7)],
)
def test_another_fact_of_a_model_is_named(folder: Path, key: str, value: object) -> None:
    _edit(folder / "models.json", lambda models: models[0].update({key: value}))
    assert named(folder)


@pytest.mark.parametrize("path", ["release.json", "models.json", "guidelines.json"])
def test_another_byte_of_a_fact_that_no_document_shows_is_named(folder: Path, path: str) -> None:
    changes: dict[str, Callable[[Any], object]] = {
        "release.json": lambda info: info["seeds"].update(hidden=7),
        "models.json": lambda models: models[0].update(fingerprint="0" * 64),
        "guidelines.json": lambda texts: texts[0].update(seen_by=9),
    }
    _edit(folder / path, changes[path])
    assert path in named(folder)


@pytest.mark.parametrize(
    ("key", "value"), [("badge", "outsider"), ("family", "another"), ("n_proposals", 7)]
)
def test_a_fact_of_a_model_that_the_pool_contradicts_is_named_in_spite_of_its_documents(
    folder: Path, key: str, value: object
) -> None:
    _edit(folder / "models.json", lambda models: models[0].update({key: value}))
    derive(folder)
    assert "models.json" in named(folder)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("README.md", "unjudged, not different", "different"),
        ("CITATION.cff", "please cite it", "do not cite it"),
        ("CHANGELOG.md", "First version", "Last version"),
        ("LICENSE.txt", "belong to their owners", "belong to nobody"),
        ("datasheet.md", "Ten years of knits", "Ten days of knits"),
        ("datasheet.html", "with consent", "without consent"),
        ("croissant.json", "All read German", "All read English"),
        ("croissant.json", "Lovelace", "Babbage"),
        ("trec/qrels.txt", " 1\n", " 0\n"),
        ("csv/labels.csv", ",1", ",0"),
        ("jsonl/labels.jsonl", '"label": 1', '"label": 0'),
        ("vsd/annotations.json", '"', ' "'),
        ("statistics.json", '"n_rulings"', '"n_rules"'),
    ],
)
def test_another_word_of_a_document_or_list_is_named(
    folder: Path, path: str, old: str, new: str
) -> None:
    _swap(folder / path, old, new)
    assert named(folder) == {path}


@pytest.mark.parametrize("path", ["README.md", "guidelines/another-campaign-v1.md"])
def test_a_line_added_to_a_document_is_named(folder: Path, path: str) -> None:
    with (folder / path).open("a") as file:
        file.write("Experts of five museums judged.\n")
    assert named(folder) == {path}


def test_a_run_of_no_model_and_a_table_of_no_part_are_named(folder: Path) -> None:
    shutil.copy(folder / "runs/descriptor-hog-shape.parquet", folder / "runs/better.parquet")
    shutil.copy(folder / "data/pool.parquet", folder / "data/rounds.parquet")
    assert named(folder) == {"runs/better.parquet", "data/rounds.parquet"}


def test_a_manifest_of_another_schema_version_than_the_release_is_named(folder: Path) -> None:
    _edit(folder / "release.json", lambda info: info.update(schema_version=FIRST_WITH_BOARD - 1))
    text = make_manifest(folder, "small", "1.0.0", SCHEMA_VERSION).text()
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="")
    assert "release.json" in {finding.path for finding in verify(folder).findings}


def test_another_picture_under_the_name_of_an_image_is_named(folder: Path) -> None:
    path = folder / "data/images.parquet"
    images = pq.read_table(path)
    rows = images.to_pylist()
    row = next(row for row in rows if row["file"])
    held = folder / row["file"]
    held.write_bytes(held.read_bytes() + b"\0")
    row["sha256"] = sha256(held.read_bytes()).hexdigest()
    pq.write_table(pa.Table.from_pylist(rows, images.schema), path)
    derive(folder)
    assert path.relative_to(folder).as_posix() in named(folder)


def _change_board(folder: Path, measure: str, column: str, value: object) -> None:
    path = folder / BOARD.path
    rows = pq.read_table(path).to_pylist()
    row = next(row for row in rows if row["measure"] == measure)
    assert row[column] != value
    row[column] = value
    pq.write_table(pa.Table.from_pylist(rows, BOARD.schema), path)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("value", 0.9), ("value", None), ("low", 0.4), ("high", 0.9), ("letters", "z")),
        *(("unit", "pair"), ("n_units", 3), ("n_queries", 99), ("comparable_with", "everybody")),
        *(("reason", "it is best"), ("family", "another"), ("badge", "sibling")),
        ("no_interval", "nobody knows"),
    ],
)
def test_a_board_with_another_value_is_named(folder: Path, column: str, value: object) -> None:
    _change_board(folder, "AP'", column, value)
    assert BOARD.path in named(folder)


def test_a_board_without_one_of_its_models_or_measures_is_named(folder: Path) -> None:
    whole = pq.read_table(folder / BOARD.path)
    for column in ("model_id", "measure"):
        first = whole[column][0].as_py()
        rows = [row for row in whole.to_pylist() if row[column] != first]
        pq.write_table(pa.Table.from_pylist(rows, BOARD.schema), folder / BOARD.path)
        assert BOARD.path in named(folder)


def test_a_release_without_its_board_is_named(folder: Path) -> None:
    (folder / BOARD.path).unlink()
    assert BOARD.path in named(folder)


def test_every_model_and_measure_stands_on_the_board_with_interval_unit_and_letters(
    folder: Path,
) -> None:
    board = pq.read_table(folder / BOARD.path).to_pylist()
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    shown = {(row["measure"], row["model_id"]): row for row in board}
    for model in results["models"]:
        for name, outcome in model["measures"].items():
            row = shown.pop((name, model["id"]))
            assert (row["value"], row["n_queries"]) == (outcome["value"], outcome["n_queries"])
    assert {name for name, _ in shown} == {"equal_outsider_auc"}
    precision = [row for row in board if row["measure"] == "AP'"]
    assert all(row["low"] < row["value"] < row["high"] for row in precision)
    assert {row["unit"] for row in precision} == {"product"}
    assert all(10 <= row["n_units"] < row["n_queries"] for row in precision)
    assert any(row["letters"] for row in board)


def test_a_verdict_says_which_files_follow_from_others_and_which_are_only_hashed(
    folder: Path,
) -> None:
    seal(folder)
    verdict = verify(folder)
    assert verdict.were_words_compared
    assert {"bias.json", "README.md", "results.json"} <= set(verdict.computed)
    assert {"release.json", "models.json", "data/judgements.parquet"} <= set(verdict.only_hashed)
    assert not set(verdict.computed) & set(verdict.only_hashed)
    assert len(verdict.computed) + len(verdict.only_hashed) == verdict.n_files
    assert verdict.signature == UNSIGNED


def test_a_signature_is_reported_whether_or_not_a_key_is_given(folder: Path) -> None:
    seal(folder)
    manifest = (folder / MANIFEST).read_bytes()
    for name, state in (("institution", SIGNED), ("other", NOT_BY_KEY)):
        key = read_signing_key(KEYS / f"{name}.key")
        (folder / SIGNATURE).write_text(key.sign(manifest, "small 1.0.0"), encoding="utf-8")
        assert verify(folder).signature == NOT_CHECKED
        verdict = verify(folder, key=read_public_key(KEYS / "institution.pub"))
        assert verdict.signature == state
        assert verdict.is_right == (state == SIGNED)


def test_the_command_says_loudly_that_nobody_signed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seal(folder)
    assert main(["verify", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "UNSIGNED" in printed
    assert max(map(len, printed.splitlines())) <= 100
