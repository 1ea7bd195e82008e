"""A release gives its numbers again: by command, in Python and by hand; bad files are refused."""

from __future__ import annotations

import gzip
import json
import zipfile
from html import unescape
from pathlib import Path

import ir_measures
import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import roc_auc_score

import lookalike as lk
from lookalike.bias.evidence.files import read_votes as read_vote_table
from lookalike.cli.main import main
from tests.lookalike.release.derived import derive_again
from tests.lookalike.release.scored_by_hand import measures, run_of
from tests.paths import GOLDEN_RELEASES

# 5 is graded and 6 judged in rounds, which the numbers made by hand do not cover
ZIPS = [GOLDEN_RELEASES / f"small-{version}.0.0.zip" for version in (1, 2, 3, 4)]
MODEL = "descriptor-hog-shape"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    with zipfile.ZipFile(ZIPS[0]) as archive:
        archive.extractall(root)
    return root / ZIPS[0].stem


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([str(word) for word in words]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize("source", ZIPS, ids=lambda path: path.stem)
def test_command_python_board_and_hand_agree(
    source: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    release = lk.open_release(source)
    board = {one["id"]: one["measures"] for one in release.json("results.json")["models"]}
    for model in release.scored:
        path = release.path / f"runs/{model['id']}.parquet"
        [scored] = release.score(path)
        packed = tmp_path / f"{model['id']}.parquet.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert main(["score", "--release", str(source), "--run", str(packed), "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
        by_hand = measures(release.path, run_of(path))
        for name, entry in board[model["id"]].items():
            found = scored.outcomes[name]
            assert found.value == pytest.approx(entry["value"], abs=1e-9), name
            assert printed[name]["value"] == found.value
            assert found.n_defined == entry["n_queries"]
        assert by_hand.keys() >= board[model["id"]].keys()
        [scored] = release.score(path, list(by_hand))
        for name, value in by_hand.items():
            assert scored.outcomes[name].value == pytest.approx(value, abs=1e-9), name


def test_measures_of_lists_are_those_of_ir_measures() -> None:
    release = lk.open_release(ZIPS[0])
    qrels, run = release.labels(), release.run(MODEL)
    products = release.product_of
    lists = {
        query: {c: s for c, s in of.items() if products[c] != products[query]}
        for query, of in run.by_query().items()
    }
    theirs = {
        "P@5": ir_measures.P @ 5,
        "Success@1": ir_measures.Success @ 1,
        "Success@5": ir_measures.Success @ 5,
        "MRR@5": ir_measures.RR @ 5,
        "AP'": ir_measures.AP(judged_only=True),
    }
    wanted = ir_measures.calc_aggregate(theirs.values(), qrels.by_query(), lists)
    [scored] = release.score(run, list(theirs))
    for name, measure in theirs.items():
        outcome = scored.outcomes[name]
        assert outcome.n_defined
        mean = float(wanted[measure]) * len(qrels.query_ids) / outcome.n_defined  # of those with 1
        assert outcome.value == pytest.approx(mean, abs=1e-9), name


def test_the_votes_of_a_release_aggregate_to_its_labels(capsys: pytest.CaptureFixture[str]) -> None:
    release = lk.open_release(ZIPS[1])
    rows = release.rows("labels", "query_id", "image_id", "majority", "is_ruled")
    wanted = {
        f"{q} {c}": ("different", "similar")[label] for q, c, label, ruled in rows if not ruled
    }
    found = release.aggregate()
    assert {item: found["labels"][item] for item in wanted} == wanted
    assert main(["aggregate", "--release", str(ZIPS[1]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == found["labels"]


def test_the_bias_report_is_made_again_by_command_and_in_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    options = ("--bootstraps", "20", "--permutations", "20", "--json", "--out", str(page))
    assert main(["bias", "--release", str(ZIPS[0]), *options]) == 0
    printed = json.loads(capsys.readouterr().out)
    release = lk.open_release(ZIPS[0])
    report = release.bias_report(settings=lk.BiasSettings(n_bootstraps=20, n_permutations=20))
    assert printed["findings"] == list(report.findings)
    written = unescape(page.read_text())
    for words in (*report.findings, "<td>pooled</td>", "Without one model: labels that others"):
        assert words in written
    [scored] = release.score(release.run(MODEL), ["macro_roc_auc"])
    [row] = [row for row in report.model_rows if row.name == MODEL]
    assert row.macro_auc.value == pytest.approx(scored.outcomes["macro_roc_auc"].value, abs=1e-9)


def test_commands_and_documents_say_that_the_judgements_of_a_release_are_simulated(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaigns = lk.open_release(ZIPS[-1]).info["campaigns"]
    marked = [campaign | {"is_simulated": True} for campaign in campaigns]
    simulated = str(derive_again(tmp_path / "small", ZIPS[-1], campaigns=marked))
    page = tmp_path / "report.html"
    for words in (
        ["score", "--release", simulated, "--run", f"{simulated}/runs/{MODEL}.parquet"],
        ["aggregate", "--release", simulated],
        ["bias", "--release", simulated, "--bootstraps", "2", "--permutations", "2", "--out", page],
    ):
        assert main([str(word) for word in words]) == 0
        assert "its judgements are simulated" in capsys.readouterr().err
    assert "its judgements are simulated" in page.read_text()
    for document in ("README.md", "CITATION.cff", "croissant.json", "datasheet.md"):
        assert "judgements are simulated" in Path(simulated, document).read_text(), document
    assert main(["aggregate", "--release", str(folder)]) == 0
    assert "simulated" not in capsys.readouterr().err


def test_the_shipped_files_never_give_a_vsd_number_without_products(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder / f"runs/{MODEL}.parquet"
    by_path = ("--metadata", folder / "vsd/metadata.json")
    files = ("score", "--qrels", folder / "data/labels.parquet", "--run", run)
    assert "knows none of the images" in refused(capsys, *files, *by_path)
    [scored] = lk.open_release(folder).score(run, ["vsd_hr@5"])
    for metadata in ("csv/images.csv", "data/images.parquet"):
        for labels in ("csv/labels.csv", "data/labels.parquet", "trec/qrels.txt"):
            words: list[object] = ["score", "--qrels", folder / labels, "--run", run, "--json"]
            words += ["--metadata", folder / metadata, "--measures", "vsd_hr@5"]
            assert main([str(word) for word in words]) == 0
            printed = json.loads(capsys.readouterr().out)["runs"][0]["measures"]["vsd_hr@5"]
            assert printed["value"] == pytest.approx(scored.outcomes["vsd_hr@5"].value, abs=1e-9)
    wanted = "no product is known: give"
    assert wanted in refused(capsys, *files, "--measures", "P@5,vsd_hr@5")
    assert main([str(word) for word in (*files, "--json")]) == 0
    printed = capsys.readouterr()
    assert "no vsd_ measures" in printed.err
    assert not [name for name in json.loads(printed.out)["runs"][0]["measures"] if "vsd" in name]
    qrels, scores = lk.read_qrels(folder / "data/labels.parquet"), lk.read_run(run)
    nameless = dict.fromkeys((*qrels.query_ids, *scores.candidate_ids), "")
    for products in (None, nameless):
        with pytest.raises(lk.InputError, match=wanted):
            lk.score(qrels, scores, ["vsd_hr@5"], products=products)
        assert "vsd_hr@5" not in lk.score(qrels, scores, products=products)[0].outcomes


def test_a_release_that_knows_no_product_refuses_vsd_measures(folder: Path) -> None:
    release = lk.open_release(folder)
    vars(release)["info"] = release.info | {"exclude_same_product": False, "measures": ["P@5"]}
    for measure in ("vsd_hr@5", "vsd_mrr@9", "vsd_pair_mrr"):
        with pytest.raises(lk.InputError, match="compares images of one product, too"):
            release.score(release.run(MODEL), [measure])


def test_labels_that_the_board_does_not_count_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(ZIPS[-1]) as archive:
        archive.extractall(tmp_path)
        [unpacked] = tmp_path.iterdir()
    run = ["--run", f"{unpacked}/runs/{MODEL}.parquet", "--measures", "P@5", "--missing", "worst"]
    n_drawn = len(lk.open_release(unpacked).below_pool)
    assert n_drawn
    assert main(["score", "--qrels", f"{unpacked}/data/labels.parquet", *run]) == 0
    note = f"note: {n_drawn} pairs of this release were drawn below its pool"
    assert note in capsys.readouterr().err
    assert main(["score", "--qrels", f"{unpacked}/data/qrels.parquet", *run]) == 0
    assert note not in capsys.readouterr().err


def test_a_shipped_pool_is_read_as_proposals(folder: Path) -> None:
    assert lk.read_proposals(folder / "data/pool.parquet").generators


@pytest.mark.parametrize("table", ["data/judgements.parquet", "csv/judgements.csv"])
def test_shipped_judgements_are_read_as_the_votes_that_count(
    folder: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    release = lk.open_release(folder)
    assert main(["aggregate", str(folder / table), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == release.aggregate()
    assert main(["agreement", str(folder / table), "--json"]) == 0
    frozen = release.json("statistics.json")["agreement"]
    printed = json.loads(capsys.readouterr().out)
    assert printed["ac1"] == pytest.approx(frozen["gwet_ac1"], abs=1e-9)
    votes = read_vote_table(folder / table)
    assert sorted((q, c, votes.annotators[a], v) for q, c, a, v in votes.rows) == sorted(
        (q, c, a, int(word == "similar"))
        for q, c, a, word in release.rows(
            "judgements", "query_id", "image_id", "annotator", "answer"
        )
    )


def test_answers_that_do_not_count_are_no_votes(folder: Path, tmp_path: Path) -> None:
    whole = folder / "csv/judgements.csv"
    path = tmp_path / "judgements.csv"
    path.write_text(whole.read_text().replace(",True,", ",False,", 3))
    assert len(lk.read_votes(path).item_of) == len(lk.read_votes(whole).item_of) - 3
    assert len(read_vote_table(path).rows) == len(read_vote_table(whole).rows) - 3


def test_votes_that_cannot_be_read_are_refused_with_file_and_reason(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "judgements.parquet"
    cut.write_bytes((folder / "data/judgements.parquet").read_bytes()[:-50])
    empty = tmp_path / "judgements.csv"
    empty.write_text((folder / "csv/judgements.csv").read_text().splitlines()[0] + "\n")
    for path, reason in (
        (cut, "not readable as parquet"),
        (empty, "there are no votes"),
        (folder / "data/labels.parquet", "needed once each: item,worker,label"),
        (tmp_path / "absent.parquet", "No such file"),
    ):
        for command in ("aggregate", "agreement"):
            said = refused(capsys, command, path)
            assert said.startswith(f"error: {path}")
            assert reason in said


def test_shipped_negatives_are_read_as_random_negatives(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--qrels", f"{folder}/data/labels.parquet", "--json",
             "--run", f"{folder}/runs/{MODEL}.parquet", "--missing", "worst",
             "--negatives", f"{folder}/data/negatives.parquet",
             "--measures", "macro_roc_auc_random"]  # fmt: skip
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    release = lk.open_release(folder)
    of, labels = release.run(MODEL).by_query(), release.labels().by_query()
    drawn = list(release.rows("negatives", "query_id", "image_id"))
    areas = []
    for query in labels:
        similar = [c for c, label in labels[query].items() if label]
        others = [c for q, c in drawn if q == query]
        if similar and others:
            truth = [1] * len(similar) + [0] * len(others)
            scores = [of[query].get(c, -9.0) for c in (*similar, *others)]
            areas.append(roc_auc_score(truth, scores))
    assert printed["macro_roc_auc_random"]["value"] == pytest.approx(np.mean(areas), abs=1e-9)


def test_a_run_of_the_judged_pairs_alone_has_no_ranks(tmp_path: Path) -> None:
    release = lk.open_release(ZIPS[0])
    of = release.run(MODEL).by_query()
    path = tmp_path / "bare.csv"
    lines = [f"{q},{c},{of[q][c]!r}\n" for q, c in release.rows("pairs", "query_id", "image_id")]
    path.write_text("query,candidate,score\n" + "".join(lines))
    [scored] = release.score(path)
    [whole] = release.score(release.run(MODEL))
    assert not scored.has_list
    assert np.isnan(scored.outcomes["P@5"].value)
    assert scored.outcomes["macro_roc_auc"].value == whole.outcomes["macro_roc_auc"].value
    last = {line.split(",", maxsplit=1)[0]: line for line in lines}.values()
    path.write_text("query,candidate,score\n" + "".join(x for x in lines if x not in last))
    [cut] = release.score(path, missing="worst")
    assert cut.coverage.n_scored < cut.coverage.n_pairs
    assert not cut.has_list
    assert np.isnan(cut.outcomes["P@5"].value)


def test_a_cut_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(ZIPS[0]) as archive:
        archive.extractall(tmp_path)
    cut = tmp_path / ZIPS[0].stem
    run = cut / f"runs/{MODEL}.parquet"
    table = pq.read_table(cut / "data/labels.parquet")
    pq.write_table(table.slice(0, 60), cut / "data/labels.parquet")
    said = refused(capsys, "score", "--release", cut, "--run", run)
    assert "data/labels.parquet is not what was frozen (60 rows where 61 were frozen)" in said
    (cut / "data/labels.parquet").write_bytes(b"PAR1")
    assert "data/labels.parquet is damaged" in refused(
        capsys, "score", "--release", cut, "--run", run
    )
    (cut / "data/labels.parquet").unlink()
    said = refused(capsys, "score", "--release", cut, "--run", run)
    assert f"{cut}: data/labels.parquet is missing; take a fresh copy" in said


def test_a_table_missing_from_a_zip_is_named_by_the_zip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "given.zip"
    with zipfile.ZipFile(ZIPS[0]) as whole, zipfile.ZipFile(given, "w") as cut:
        for name in whole.namelist():
            if not name.endswith("data/labels.parquet"):
                cut.writestr(name, whole.read(name))
    said = refused(capsys, "bias", "--release", given)
    assert f"{given}: data/labels.parquet is missing" in said


def test_what_was_unpacked_goes_with_the_release() -> None:
    release = lk.open_release(ZIPS[0])
    path = release.path
    assert path.is_dir()
    del release
    assert not path.exists()
