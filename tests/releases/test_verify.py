"""verify finds one flipped byte in any file, and a number that the data do not give."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.models import Adjudication, Question
from config.settings import BASE_DIR
from lookalike.cli.main import main
from lookalike.release.diff import diff
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import write_json
from lookalike.release.format.layout import FILES, MANIFEST
from lookalike.release.format.manifest import paths_in
from lookalike.release.verify import verify
from releases.models import Release
from releases.storage import archive_path, files_folder
from tests.releases.cases import sealed
from tests.worlds import World, freeze_now, request_for


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_an_untouched_release_is_right_as_a_folder_and_as_a_zip(
    release: Release, folder: Path
) -> None:
    for source in (folder, archive_path(release)):
        verdict = verify(source)
        assert verdict.findings == ()
        assert verdict.were_numbers_checked
        assert (verdict.release, verdict.version) == ("small", "1.0.0")
        assert verdict.seal == release.seal


def test_one_flipped_byte_in_any_file_is_named(copied: Path) -> None:
    for path in sorted(paths_in(copied)):
        whole = (copied / path).read_bytes()
        for place in {0, len(whole) // 2, len(whole) - 1} if whole else set():
            broken = bytearray(whole)
            broken[place] ^= 1
            (copied / path).write_bytes(bytes(broken))
            try:
                named = {finding.path for finding in verify(copied).findings}
            except ReleaseError as problem:
                named = {MANIFEST} if MANIFEST in str(problem) else set()
            assert path in named, (path, place)
        (copied / path).write_bytes(whole)


def test_a_flipped_byte_of_the_archive_is_found(release: Release, tmp_path: Path) -> None:
    whole = archive_path(release).read_bytes()
    with zipfile.ZipFile(archive_path(release)) as archive:
        entry = archive.getinfo("small-1.0.0/data/judgements.parquet")
    broken = bytearray(whole)
    broken[entry.header_offset + 200] ^= 1
    (tmp_path / "broken.zip").write_bytes(bytes(broken))
    verdict = verify(tmp_path / "broken.zip")
    assert [finding.path for finding in verdict.findings] == ["data/judgements.parquet"]


def test_a_missing_and_an_added_file_are_named(copied: Path) -> None:
    (copied / "trec/qrels.txt").unlink()
    (copied / "notes.txt").write_text("mine")
    assert {finding.path for finding in verify(copied).findings} == {"trec/qrels.txt", "notes.txt"}


def test_a_forged_score_under_a_fitting_manifest_is_named(copied: Path) -> None:
    results = json.loads((copied / "results.json").read_text())
    results["models"][0]["measures"]["P@5"]["value"] += 0.001
    write_json(copied / "results.json", results)
    sealed(copied)
    [finding] = [one for one in verify(copied).findings if one.path == "results.json"]
    assert "/models/0/measures/P@5/value" in finding.reason


def test_a_forged_number_of_a_document_under_a_fitting_manifest_is_named(copied: Path) -> None:
    path = copied / "datasheet.md"
    text = path.read_text()
    n_pairs = json.loads((copied / "statistics.json").read_text())["n_pairs"]
    assert str(n_pairs) in text
    path.write_text(text.replace(str(n_pairs), str(n_pairs + 1), 1))
    sealed(copied)
    [finding] = verify(copied).findings
    assert finding.path == "datasheet.md"
    assert str(n_pairs + 1) in finding.reason


def test_other_words_in_a_document_under_a_fitting_manifest_are_named(copied: Path) -> None:
    for name in ("README.md", "datasheet.md", "datasheet.html"):
        path = copied / name
        path.write_text(path.read_text().replace("judge", "assessor"))
    sealed(copied)
    found = {one.path for one in verify(copied).findings}
    assert found == {"README.md", "datasheet.md", "datasheet.html"}


def test_a_forged_label_under_a_fitting_manifest_is_named(copied: Path) -> None:
    path = copied / "data/labels.parquet"
    table = pq.read_table(path)
    flipped = [1 - value if row == 3 else value for row, value in enumerate(
        table["label"].to_pylist())]  # fmt: skip
    at = table.schema.get_field_index("label")
    field = table.schema.field("label")
    pq.write_table(table.set_column(at, field, pa.array(flipped, pa.int8())), path)
    sealed(copied)
    found = {one.path: one.reason for one in verify(copied).findings}
    assert "label in row 4" in found["data/labels.parquet"]


@pytest.mark.parametrize("name", ["csv/labels.csv", "jsonl/labels.jsonl"])
def test_a_probability_may_end_in_another_processors_digits_and_in_no_others(
    copied: Path, name: str
) -> None:
    path = copied / name
    text = path.read_text()
    probability = next(one for one in re.findall(r"\b[01]\.\d+(?![\w.])", text) if float(one) > 0.1)
    for factor, is_right in ((1 + 1e-13, True), (1 + 1e-6, False)):
        path.write_text(text.replace(probability, repr(float(probability) * factor), 1))
        sealed(copied)
        assert verify(copied).is_right == is_right
    path.write_text(text.replace("\n", "\n\n", 1))  # a line more
    sealed(copied)
    [finding] = verify(copied).findings
    assert finding.path == name
    assert "line 2" in finding.reason


def test_a_release_of_another_schema_version_is_refused(copied: Path) -> None:
    content = json.loads((copied / MANIFEST).read_text())
    content["schema_version"] = 99
    (copied / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(ReleaseError, match="schema version 99"):
        verify(copied)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no MANIFEST"):
        verify(tmp_path)
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(ReleaseError, match="neither a folder nor a zip"):
        verify(tmp_path / "a.zip")
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ReleaseError, match=r"a\.zip is a zip that is damaged or cut short; give"):
        verify(tmp_path / "a.zip")
    with pytest.raises(ReleaseError, match="does not exist"):
        verify(tmp_path / "b")


def test_a_zip_that_points_outside_is_refused(release: Release, tmp_path: Path) -> None:
    evil = tmp_path / "evil.zip"
    shutil.copy(archive_path(release), evil)
    with zipfile.ZipFile(evil, "a") as archive:
        archive.writestr("small-1.0.0/../../outside.txt", "x")
    with pytest.raises(ReleaseError, match="outside its folder"):
        verify(evil)
    assert not (tmp_path.parent / "outside.txt").exists()


def test_verify_and_diff_run_without_django_and_without_torch(
    release: Release, tmp_path: Path
) -> None:
    code = (
        "import sys; from lookalike.cli.main import main; status = main(sys.argv[1:]);"
        "raise SystemExit(status or 10 * len({'django', 'torch'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "verify", str(archive_path(release))],
        cwd=BASE_DIR, env={"PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "small 1.0.0 is right" in done.stdout


def test_the_command_line_tells_right_wrong_and_no_release_apart(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(copied)]) == 0
    (copied / "datasheet.md").write_text("x")
    assert main(["verify", str(copied)]) == 1
    assert "datasheet.md: was changed" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "none")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_diff_tells_added_pairs_flipped_labels_and_changed_scores(
    release: Release, world: World
) -> None:
    labels = pq.read_table(files_folder(release) / "data/labels.parquet").to_pylist()
    similar = next(row for row in labels if row["label"] == 1)
    question = Question.objects.get(
        query__sha256__startswith=similar["query_id"],
        candidate__sha256__startswith=similar["image_id"],
    )
    Adjudication.objects.create(question=question, answer="different", reason="not alike")
    second = freeze_now(request_for(world, "1.1.0", changes="One ruling."))
    found = diff(files_folder(release), archive_path(second))
    assert found.flipped == [(question.query.sha256, question.candidate.sha256, 1, 0)]
    assert (found.n_pairs_added, found.n_pairs_removed, found.n_judges) == (0, 0, (3, 3))
    assert any(one.change for one in found.scores if one.measure == "macro_roc_auc")
    assert second.changes["n_flipped"] == 1
    changelog = (files_folder(second) / "CHANGELOG.md").read_text()
    assert changelog.index("1.1.0") < changelog.index("1.0.0")
    assert "One ruling." in changelog
    assert diff(files_folder(release), files_folder(release)).flipped == []


def test_every_file_of_a_release_is_described(folder: Path) -> None:
    def kind_of(path: str) -> str:
        if path.startswith("data/"):
            return "table"
        if path.startswith("runs/"):
            return "runs/MODEL.parquet"
        if path.startswith("trec/runs/"):
            return "trec/runs/MODEL.txt"
        if path.startswith("guidelines/"):
            return "guidelines/CAMPAIGN-vN.md"
        if path.startswith("trec/qrels.") and path not in FILES:
            return "trec/qrels.RULE.txt"
        return path

    assert {kind_of(path) for path in paths_in(folder)} - {"table"} <= FILES.keys()
