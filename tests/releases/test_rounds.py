"""A release of a campaign judged in rounds: its numbers follow from what it holds."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import close_campaign
from evaluation.models import RoundPair, RoundPlan
from evaluation.results.services import request_evaluation
from evaluation.rounds.services import stop_rounds
from jobs.services import JobError
from lookalike.cli.main import main
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import SCHEMA_VERSION
from lookalike.release.format.manifest import read_manifest
from lookalike.release.opened import open_release
from lookalike.release.verify import verify
from releases.importing.release import import_any
from releases.models import Release
from releases.storage import files_folder, releases_folder
from tests.clients import signed_in
from tests.evaluation.rounds.cases import (
    RULES,
    evaluated,
    judged,
    lift_a_stranger,
    newest,
    next_round,
    opened,
    world_of_rounds,
)
from tests.kept import kept
from tests.releases.cases import sealed
from tests.worlds import World, answer_all, freeze_now, request_for, same_colour


def stopped() -> tuple[World, Campaign]:
    """Judge two rounds of a pool, stop, and close."""
    world = world_of_rounds()
    campaign = judged(world, opened(world))
    next_round(campaign)
    judged(world, campaign)
    evaluated(request_evaluation(campaign=campaign, owner=None))
    stop_rounds(campaign=campaign, by=User.objects.create_user("chief", role=Role.ADMIN))
    for asked in (campaign, world.campaign):
        close_campaign(campaign=asked, by=None, reason="Enough is known.")
    return world, campaign


kept_stop = kept(stopped)


@pytest.fixture
def part(transactional_db: None) -> tuple[World, Campaign]:
    shutil.rmtree(releases_folder(), ignore_errors=True)
    return kept_stop()


@pytest.fixture
def release(part: tuple[World, Campaign]) -> Release:
    world, campaign = part
    return freeze_now(request_for(world, campaigns=(campaign.slug,), is_public=True))


def test_a_model_whose_vectors_were_rounded_since_it_proposed_is_frozen_with_the_others(
    part: tuple[World, Campaign],
) -> None:
    world, campaign = part
    whole = freeze_now(request_for(world, campaigns=(campaign.slug,))).results
    lift_a_stranger(world)
    release = freeze_now(request_for(world, campaigns=(campaign.slug,), version="1.1.0"))
    assert [one["id"] for one in release.results["models"]] == [
        one["id"] for one in whole["models"]
    ]
    assert release.results["measures"] == whole["measures"]
    assert verify(files_folder(release)).findings == ()


@pytest.fixture
def folder(release: Release) -> Path:
    return files_folder(release)


def test_it_verifies_and_its_estimates_are_those_of_the_board(part, folder):
    _, campaign = part
    verdict = verify(folder)
    assert verdict.findings == ()
    assert read_manifest(folder).schema_version == SCHEMA_VERSION
    results = json.loads((folder / "results.json").read_text())
    board = newest(campaign).summary
    assert board.rounds is not None
    assert results["judged"] == pytest.approx(board.rounds.judged)
    names = {one["id"]: one["name"] for one in json.loads((folder / "models.json").read_text())}
    shown = {model.name: model.measures for model in board.models}
    assert {names[model["id"]] for model in results["models"]} == shown.keys()
    for model in results["models"]:
        for name, value in model["measures"].items():
            on_board = shown[names[model["id"]]][name]
            assert value["value"] == pytest.approx(on_board.value, abs=1e-9), name
            assert value["low"] == pytest.approx(on_board.ends[0], abs=1e-9), name
    assert pq.read_metadata(folder / "data/results.parquet").num_rows == 0
    assert not (folder / "trec/qrels.xinfap.txt").exists()


def test_it_holds_every_probability_and_what_was_claimed(part, folder):
    _, campaign = part
    table = pq.read_table(folder / "data/rounds.parquet").to_pylist()
    pairs = RoundPair.objects.filter(round__plan__campaign=campaign)
    held = {
        (pair.query.sha256[:16], pair.candidate.sha256[:16], pair.round.number): (
            pair.probability,
            pair.is_drawn,
        )
        for pair in pairs.select_related("query", "candidate", "round")
    }
    assert {
        (row["query_id"], row["image_id"], row["round"]): (row["probability"], row["is_drawn"])
        for row in table
    } == held
    [entry] = json.loads((folder / "release.json").read_text())["campaigns"]
    plan = RoundPlan.objects.get(campaign=campaign)
    assert entry["rounds"]["claim"] == plan.claim
    assert [one["n_drawn"] for one in entry["rounds"]["drawn"]] == [
        row.n_drawn for row in plan.rounds.all()
    ]
    assert "Judged" in (folder / "README.md").read_text()
    assert "a plain mean over the labels says nothing" in (folder / "datasheet.md").read_text()
    [pool, _] = json.loads((folder / "strata.json").read_text())
    assert pool["N"] > pool["n"]
    assert pool["inclusion_probability"] is None


def test_a_changed_probability_is_found_although_the_manifest_fits(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    path = copy / "data/rounds.parquet"
    table = pq.read_table(path)
    chances = np.minimum(table["probability"].to_numpy() * 1.5, 1.0)
    at = table.schema.get_field_index("probability")
    pq.write_table(table.set_column(at, "probability", pa.array(chances)), path)
    sealed(copy)
    found = {finding.path for finding in verify(copy).findings}
    assert "results.json" in found


def test_what_needs_plain_labels_is_refused(part, release, folder, tmp_path, capsys):
    world, _ = part
    with open_release(folder) as held:
        run = held.run(held.scored[0]["id"])
        with pytest.raises(ReleaseError, match="rounds have judged a part of its pool"):
            held.score(run)
        with pytest.raises(ReleaseError, match="rounds have judged a part of its pool"):
            held.bias_report()
    assert main(["plan", "--release", str(folder)]) == 2
    assert "was judged in part, by rounds" in capsys.readouterr().err
    assert main(["health", str(folder)]) == 0
    assert "in rounds: nothing is tested, no hole is known" in capsys.readouterr().out
    with pytest.raises(ReleaseError, match="cannot be continued elsewhere"):
        import_any(source=folder, slug="again", catalog=world.catalog)
    page = Client().get(f"/releases/{release.slug}/{release.version}/").content.decode()
    assert "All measures are estimates" in page
    reader = signed_in(User.objects.create_user("reader", role=Role.RESEARCHER))
    address = f"/releases/{release.slug}/{release.version}/submit/"
    file = tmp_path / "run.csv"
    file.write_text("query,candidate,score\na,b,1\n")
    with file.open("rb") as upload:
        reply = reader.post(address, {"name": "mine", "file": upload, "missing": "worst"})
    assert "No run can be submitted" in reply.content.decode()


def test_a_round_that_is_not_done_or_hidden_labels_or_other_campaigns_are_refused(
    transactional_db,
):
    shutil.rmtree(releases_folder(), ignore_errors=True)
    world = world_of_rounds()
    campaign = opened(world)
    asked = (campaign.slug,)
    answer_all(campaign, world.judges[0], same_colour)
    with pytest.raises(JobError, match="Round 1 is not done"):
        freeze_now(request_for(world, campaigns=asked))
    judged(world, campaign)
    with pytest.raises(JobError, match="no labels of it can be kept back"):
        freeze_now(request_for(world, campaigns=asked, hidden_percent=50))
    both = (campaign.slug, world.campaign.slug)
    with pytest.raises(JobError, match="release it by itself"):
        freeze_now(request_for(world, campaigns=both))
    assert not Release.objects.exists()


def test_a_pool_that_rounds_have_judged_whole_has_plain_measures_and_keeps_its_rounds(
    transactional_db, capsys
):
    shutil.rmtree(releases_folder(), ignore_errors=True)
    world = world_of_rounds()
    rules = replace(RULES, share=1.0)
    campaign = judged(world, opened(world, rules))
    release = freeze_now(request_for(world, campaigns=(campaign.slug,)))
    folder = Folder(files_folder(release))
    assert verify(folder.path).findings == ()
    results = folder.json("results.json")
    assert "judged" not in results
    assert "P_all@5" in results["measures"]
    assert folder.table("rounds").num_rows == RoundPair.objects.count()
    plan = ["plan", "--release", str(folder.path), "--queries", "50,200", "--depth", "3"]
    assert main([*plan, "--judges", "1,3", "--measure", "P@3", "--all", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["forecasts"]
    n_queries = sum(1 for _ in folder.rows("queries", "query_id"))
    assert len(found) == 12
    assert main([*plan, "--measure", "P@3"]) == 0
    assert f"from a pilot of {n_queries} queries of" in capsys.readouterr().err
    assert main([*plan, "--votes", str(folder.path / "data/judgements.parquet")]) == 2
    assert "--votes not beside --release" in capsys.readouterr().err


def test_the_command_reads_its_rounds_and_says_what_it_says(folder, tmp_path, capsys):
    release = ["rounds", "estimate", "--release", str(folder)]
    assert main([*release, "--measure", "AP'", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    results = json.loads((folder / "results.json").read_text())
    assert said["judged"] == pytest.approx(results["judged"], abs=1e-6)
    held = {
        (name, model["id"]): value["value"]
        for model in results["models"]
        for name, value in model["measures"].items()
    }
    rows = {(row["measure"], row["model"]): row["value"] for row in said["measures"]}
    both = rows.keys() & held.keys()
    assert {name for name, _ in both} >= {"AP'", "macro_roc_auc", "micro_roc_auc"}
    assert [rows[key] for key in both] == pytest.approx([held[key] for key in both], abs=1e-6)
    third = tmp_path / "round-3.csv"
    draw = ["rounds", "draw", "--release", str(folder), "--share", "0.2", "--seed", "1"]
    assert main([*draw, "--to", str(third)]) == 0
    table = pq.read_table(folder / "data/rounds.parquet").to_pylist()
    asked = {(row["query_id"], row["image_id"]) for row in table if row["is_drawn"]}
    with third.open() as file:
        open_pairs = {(row["query"], row["candidate"]) for row in csv.DictReader(file)}
    assert open_pairs
    assert not open_pairs & asked
    assert main([*release, "--qrels", str(third)]) == 2
    assert "--qrels does not go with --release" in capsys.readouterr().err
