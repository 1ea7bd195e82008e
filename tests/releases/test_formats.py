"""What other people's tools make of a release: their readers, their numbers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pyarrow.parquet as pq
import pytest
import pytrec_eval

from annotation.models import Guideline
from catalog.models import SourceFile
from lookalike.cli.main import main
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.runs import read_run
from lookalike.release.format.folder import Folder
from releases.storage import files_folder
from tests.worlds import World, freeze_now, request_for


def results_of(folder: Path) -> dict[str, dict[str, Any]]:
    found = json.loads((folder / "results.json").read_text())
    return {model["id"]: model["measures"] for model in found["models"]}


def with_similar(folder: Path) -> dict[str, dict[str, int]]:
    """The labels of the queries that have a similar one: the others have no precision."""
    by_query = read_qrels(folder / "trec/qrels.txt").by_query()
    return {query: labels for query, labels in by_query.items() if 1 in labels.values()}


def test_trec_tools_read_labels_and_runs_and_give_our_numbers(folder: Path) -> None:
    asked = with_similar(folder)
    qrels = [
        row
        for row in ir_measures.read_trec_qrels(str(folder / "trec/qrels.txt"))
        if row.query_id in asked
    ]
    for model, measures in results_of(folder).items():
        run = list(ir_measures.read_trec_run(str(folder / f"trec/runs/{model}.txt")))
        wanted = {"P@5": ir_measures.P @ 5, "Success@5": ir_measures.Success @ 5}
        theirs = ir_measures.calc_aggregate(wanted.values(), qrels, run)
        for name, measure in wanted.items():
            assert measures[name]["n_queries"] == len(asked)
            assert measures[name]["value"] == pytest.approx(theirs[measure], abs=1e-9)


def test_pytrec_eval_orders_as_we_do(folder: Path) -> None:
    judged = with_similar(folder)
    for model, measures in results_of(folder).items():
        run = read_run(folder / f"trec/runs/{model}.txt").by_query()
        found = pytrec_eval.RelevanceEvaluator(judged, {"P.5"}).evaluate(run)
        mean = np.mean([row["P_5"] for row in found.values()])
        assert measures["P@5"]["value"] == pytest.approx(mean, abs=1e-9)


def test_vsd_files_say_what_the_tables_say(folder: Path) -> None:
    release = Folder(folder)
    path = release.path_of
    from_tables = {(path[q], path[c]): label for q, c, label in release.qrels()}
    from_vsd = {(q, c): label for q, c, label in read_qrels(folder / "vsd/annotations.json")}
    assert from_vsd == from_tables
    products = read_products(folder / "vsd/metadata.json")
    assert products == {path[name]: product for name, product in release.product_of.items()}


def test_csv_cannot_run_as_a_formula_and_comes_back(world: World) -> None:
    evil = "=cmd|' /C calc'!A0.png"
    SourceFile.objects.filter(image=world.images[0]).update(path=evil)
    release = freeze_now(request_for(world))
    folder = files_folder(release)
    with (folder / "csv/images.csv").open(newline="") as file:
        paths = [row["path"] for row in csv.DictReader(file)]
    assert f"'{evil}" in paths
    assert not [path for path in paths if path[0] in "=+-@\t"]
    assert evil in Folder(folder).path_of.values()


def test_jsonl_and_csv_hold_the_rows_of_the_tables(folder: Path) -> None:
    for name in ("labels", "judgements"):
        expected = pq.read_table(folder / f"data/{name}.parquet").to_pylist()
        lines = (folder / f"jsonl/{name}.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == expected
        with (folder / f"csv/{name}.csv").open(newline="") as file:
            assert sum(1 for _ in csv.DictReader(file)) == len(expected)


def test_xinfap_names_topics_by_number_and_marks_what_is_not_labelled(folder: Path) -> None:
    lines = [line.split() for line in (folder / "trec/qrels.xinfap.txt").read_text().splitlines()]
    assert len(lines) == pq.read_metadata(folder / "data/pairs.parquet").num_rows
    assert {line[4] for line in lines} <= {"-1", "0", "1"}
    assert {int(line[0]) for line in lines} == set(range(1, 9))


def test_the_datasheet_says_who_judged_how_well_and_shows_text_as_text(world: World) -> None:
    Guideline.objects.filter(campaign=world.campaign).update(text="<script>alert(1)</script>")
    release = freeze_now(
        request_for(world, description="<script>alert(2)</script>", expertise="Ten years of knits")
    )
    page = (files_folder(release) / "datasheet.html").read_text()
    sheet = (files_folder(release) / "datasheet.md").read_text()
    assert "<script>" not in page
    for words in ("3 judges", "Ten years of knits", "Krippendorff", "Gwet", "Pairs with a tied",
                  "Known biases", "the union of the 4 nearest", "version 1, of"):  # fmt: skip
        assert words in sheet, words
    assert json.loads((files_folder(release) / "bias.json").read_text())["findings"]


def test_random_negatives_were_never_judged_and_are_of_other_products(folder: Path) -> None:
    release = Folder(folder)
    asked = {(r["query_id"], r["image_id"]) for r in release.table("pairs").to_pylist()}
    drawn = [(r["query_id"], r["image_id"]) for r in release.table("negatives").to_pylist()]
    assert drawn
    assert asked.isdisjoint(drawn)
    assert all(release.product_of[query] != release.product_of[image] for query, image in drawn)


def test_a_release_verifies_by_its_own_command(folder: Path) -> None:
    assert main(["verify", str(folder)]) == 0
