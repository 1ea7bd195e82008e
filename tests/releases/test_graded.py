"""Grades from the judging scale to nDCG: labels, boards, releases and all that reads them."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from pathlib import Path

import ir_measures
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

import lookalike as lk
from accounts.models import Role, User
from annotation.models import Adjudication, Campaign, Judgement
from annotation.queries.labels import grade_agreement, labels
from annotation.services import adjudicate
from evaluation.exports import export_pieces
from evaluation.models import Result
from evaluation.results.leaderboard import leaderboard
from evaluation.results.stored import StoredResult
from lookalike.agreement.grades import Scale, grade_of
from lookalike.cli.main import main
from lookalike.release.diff import diff, difference_text
from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import SCHEMA_VERSION
from lookalike.release.opened import open_release
from lookalike.release.verify import verify
from releases.importing.release import import_any
from releases.storage import archive_path, files_folder
from tests.releases.cases import sealed
from tests.worlds import (
    World,
    build_now,
    build_world,
    close_world,
    freeze_now,
    grade_world,
    judge_world,
    request_for,
)

SCALE = Scale(("Different", "Somewhat similar", "Similar", "Nearly identical"), 2)
NDCG = ir_measures.nDCG @ 5


@pytest.fixture
def world(transactional_db: None) -> World:
    """Judged by three on four grades; one pair is ruled on."""
    made = grade_world(build_world(SCALE))
    question = made.campaign.questions.filter(kind="pair").order_by("pk")[0]
    adjudicate(
        campaign=made.campaign,
        question_uid=question.uid,
        answer="similar:3",
        reason="Plain to see",
        by=User.objects.create_user("chief", role=Role.ADMIN),
    )
    return close_world(made)


def own_medians(campaign: Campaign) -> dict[tuple[int, int], int]:
    """The lower median of each pair's votes, told another way; a ruling goes before."""
    votes: dict[tuple[int, int], list[int]] = {}
    for judgement in Judgement.objects.filter(is_counted=True, question__campaign=campaign):
        pair = judgement.question.query_id, judgement.question.candidate_id
        votes.setdefault(pair, []).append(grade_of(judgement.answer))
    found = {pair: sorted(given)[(len(given) - 1) // 2] for pair, given in votes.items()}
    for ruling in Adjudication.objects.filter(question__campaign=campaign):
        found[ruling.question.query_id, ruling.question.candidate_id] = grade_of(ruling.answer)
    return found


def independent_ndcg(folder: Path, model: str) -> float:
    """nDCG@5 by ir_measures on the files that the release ships."""
    return float(
        ir_measures.calc_aggregate(
            [NDCG],
            list(ir_measures.read_trec_qrels(str(folder / "trec/qrels.txt"))),
            list(ir_measures.read_trec_run(str(folder / f"trec/runs/{model}.txt"))),
        )[NDCG]
    )


def test_the_label_is_the_median_and_similar_from_the_threshold_on(world: World) -> None:
    table = labels(world.campaign)
    assert table.grades is not None
    found = dict(
        zip(zip(table.query_ids.tolist(), table.candidate_ids.tolist(), strict=True),
            table.grades.tolist(), strict=True)
    )  # fmt: skip
    assert found == own_medians(world.campaign)
    assert set(found.values()) == {0, 1, 2, 3}
    assert (table.is_similar == (table.grades >= SCALE.similar_from)).all()
    agreement = grade_agreement(world.campaign)
    assert agreement is not None
    assert agreement.percent < agreement.within_one < 1
    assert 0.5 < agreement.alpha < 1


def test_board_release_command_and_ir_measures_say_the_same_ndcg(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = freeze_now(request_for(world, is_public=True))
    folder = files_folder(release)
    assert verify(archive_path(release)).findings == ()
    stored = StoredResult(Result.objects.get(campaign=world.campaign))
    board = leaderboard(stored, "nDCG@5")
    assert [column.title for column in board.columns if column.name == "nDCG@5"]
    shown = {
        model["id"]: model for model in json.loads((folder / "results.json").read_text())["models"]
    }
    of_board = {line.name: line for line in stored.summary.models}
    with open_release(archive_path(release)) as opened:
        models = {model["id"]: model["name"] for model in opened.scored}
        assert len(models) == 3
        for model, name in models.items():
            theirs = independent_ndcg(folder, model)
            [ours] = opened.score(opened.run(model), ["nDCG@5"])
            n = ours.outcomes["nDCG@5"].n_defined
            assert n == len(opened.qrels().query_ids)  # each has a gain, so none counts as 0
            assert shown[model]["measures"]["nDCG@5"]["value"] == pytest.approx(theirs, abs=1e-9)
            assert ours.outcomes["nDCG@5"].value == pytest.approx(theirs, abs=1e-9)
            assert of_board[name].value("nDCG@5") == pytest.approx(theirs, abs=1e-9)
            of_labels = lk.score(
                lk.Qrels.of(opened.qrels()), opened.run(model), ["nDCG@5"], missing="worst",
                products=opened.products,
            )[0]  # fmt: skip
            assert of_labels.outcomes["nDCG@5"].value != pytest.approx(theirs, abs=1e-3)

    run = folder / "runs" / f"{model}.parquet"
    common = ["--run", str(run), "--measures", "nDCG@5,P@5", "--json"]
    assert main(["score", "--release", str(archive_path(release)), *common]) == 0
    by_release = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    assert by_release["nDCG@5"]["value"] == pytest.approx(theirs, abs=1e-9)
    products = ["--metadata", str(folder / "csv/images.csv")]
    files = ["--qrels", str(folder / "trec/qrels.txt"), "--min-rel", "2", *products]
    assert main(["score", *files, *common]) == 0
    by_files = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    assert by_files["nDCG@5"]["value"] == pytest.approx(theirs, abs=1e-9)
    assert by_files["P@5"]["value"] == pytest.approx(by_release["P@5"]["value"], abs=1e-9)


def test_a_release_holds_the_grades_everywhere_and_the_scale_with_its_words(world: World) -> None:
    folder = files_folder(freeze_now(request_for(world)))
    info = json.loads((folder / "release.json").read_text())
    assert info["grades"] == {"words": list(SCALE.words), "similar_from": 2}
    assert info["schema_version"] == SCHEMA_VERSION
    table = pq.read_table(folder / "data/labels.parquet").to_pylist()
    assert {row["grade"] >= 2 for row in table if row["label"]} == {True}
    assert {row["grade"] < 2 for row in table if not row["label"]} == {True}
    wanted = Counter(own_medians(world.campaign).values())
    assert Counter(row["grade"] for row in table) == wanted
    with (folder / "csv/labels.csv").open(newline="", encoding="utf-8-sig") as file:
        assert Counter(int(row["grade"]) for row in csv.DictReader(file)) == wanted
    lines = (folder / "jsonl/labels.jsonl").read_text().splitlines()
    assert Counter(json.loads(line)["grade"] for line in lines) == wanted
    qrels = (folder / "trec/qrels.txt").read_text().splitlines()
    assert Counter(int(line.split()[3]) for line in qrels) == wanted
    assert Counter(pq.read_table(folder / "data/qrels.parquet")["score"].to_pylist()) == wanted
    by_rule = (folder / "trec/qrels.majority.txt").read_text().splitlines()
    assert {line.split()[3] for line in by_rule} == {"0", "1"}
    judgements = pq.read_table(folder / "data/judgements.parquet").to_pylist()
    assert {(row["answer"], row["grade"]) for row in judgements} == {
        ("different", 0), ("different", 1), ("similar", 2), ("similar", 3)
    }  # fmt: skip
    assert pq.read_table(folder / "data/rulings.parquet")["grade"].to_pylist() == [3]
    statistics = json.loads((folder / "statistics.json").read_text())["grades"]
    assert statistics["n_labels"] == [wanted[grade] for grade in range(4)]
    for name in ("datasheet.md", "README.md"):
        text = (folder / name).read_text()
        assert "Nearly identical" in text
        assert "grade 2 on" in text
    croissant = (folder / "croissant.json").read_text()
    assert '"labels/grade"' in croissant


def test_aggregate_gives_the_medians_of_a_release(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    release = freeze_now(request_for(world))
    assert main(["aggregate", "--release", str(archive_path(release)), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rule"] == "median"
    with open_release(archive_path(release)) as opened:
        table = opened.table("labels").to_pylist()
        binary = opened.aggregate(rule="majority")
    for row in table:
        item = f"{row['query_id']} {row['image_id']}"
        if not row["is_ruled"]:
            assert said["labels"][item] == str(row["grade"])
            assert binary["labels"][item] == ("similar" if row["label"] else "different")
    assert said["agreement"]["ordinal_alpha"] == pytest.approx(
        grade_agreement(world.campaign).alpha  # type: ignore[union-attr]
    )


def test_a_release_comes_back_as_the_same_campaign(world: World) -> None:
    release = freeze_now(request_for(world))
    made = import_any(source=archive_path(release), slug="again", catalog=world.catalog)
    [campaign] = made.campaigns
    assert campaign.kind.scale == SCALE
    assert own_medians(campaign) == own_medians(world.campaign)
    again = freeze_now(request_for(World(**{**vars(world), "campaign": campaign}), slug="again"))
    change = diff(archive_path(release), archive_path(again))
    assert (change.flipped, change.n_regraded) == ([], 0)


def test_diff_counts_pairs_with_another_grade(world: World) -> None:
    first = freeze_now(request_for(world))
    ruling = Adjudication.objects.get()
    ruling.answer = "similar:2"
    ruling.save()
    second = freeze_now(request_for(world, "1.1.0"))
    change = diff(archive_path(first), archive_path(second))
    assert (change.flipped, change.n_regraded) == ([], 1)
    assert "grades: 1 changed" in difference_text(change)


@pytest.mark.parametrize("row", [0, -1])
def test_a_grade_on_the_other_side_of_its_answer_is_refused(
    world: World, tmp_path: Path, row: int
) -> None:
    folder = Path(shutil.copytree(files_folder(freeze_now(request_for(world))), tmp_path / "cut"))
    path = folder / "data/judgements.parquet"
    table = pq.read_table(path)
    grades = table["grade"].to_pylist()
    grades[row] = 3 - grades[row]
    at = table.schema.get_field_index("grade")
    pq.write_table(table.set_column(at, "grade", pa.array(grades, pa.int8())), path)
    sealed(folder)
    [finding] = verify(folder).findings
    assert "which does not go with the answer" in finding.reason


def test_campaigns_of_different_grades_are_not_released_together(
    world: World, tmp_path: Path
) -> None:
    other = judge_world(build_world())
    both = request_for(world, campaigns=(world.campaign.slug, other.campaign.slug))
    with pytest.raises(ReleaseError, match="different"):
        build_now(both, tmp_path)


def test_the_pages_the_api_and_the_exports_show_grades(world: World) -> None:
    client = Client()
    client.force_login(User.objects.get(username="chief"))
    slug = world.campaign.slug
    page = client.get(f"/results/{slug}/").content.decode()
    assert "nDCG@5, linear gains" in page
    assert "similar from grade 2 on" in page
    assert (
        "Krippendorff’s α, ordinal" in client.get(f"/campaigns/{slug}/agreement/").content.decode()
    )
    assert "nearly identical" in client.get(f"/campaigns/{slug}/quality/").content.decode()
    assert "Nearly identical" in client.get(f"/campaigns/{slug}/answers/").content.decode()
    found = client.get(f"/api/v1/campaigns/{slug}").json()
    assert (found["grades"], found["similar_from"]) == (list(SCALE.words), 2)
    agreement = client.get(f"/api/v1/campaigns/{slug}/agreement").json()
    assert agreement["ordinal_alpha"] == pytest.approx(grade_agreement(world.campaign).alpha)  # type: ignore[union-attr]
    rows = client.get(f"/api/v1/campaigns/{slug}/judgements?answer=similar").json()["items"]
    assert {(row["answer"], row["grade"]) for row in rows} == {("similar", 2), ("similar", 3)}

    text = b"".join(export_pieces(world.campaign, "csv")).decode("utf-8-sig")
    exported = Counter(int(row["grade"]) for row in csv.DictReader(io.StringIO(text)))
    assert exported == Counter(own_medians(world.campaign).values())
    qrels = b"".join(export_pieces(world.campaign, "qrels")).decode().split()
    assert Counter(map(int, qrels[3::4])) == exported
