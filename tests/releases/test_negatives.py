"""Negatives of releases: stored, scored, verified, and those of the campaign's board."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from evaluation.results.assessment import assess
from lookalike.cli.main import main
from lookalike.metrics.measures import NEGATIVE_AREAS
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import BAND_NEGATIVES, NEGATIVES
from lookalike.release.format.manifest import make_manifest
from lookalike.release.format.tables import write_table
from lookalike.release.verify import verify
from tests.worlds import World, build_now, build_wild_world, judge_world, request_for

N_IMAGES = 400


@pytest.fixture
def world(transactional_db: None) -> World:
    return judge_world(build_wild_world(n_images=N_IMAGES))


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Folder:
    return Folder(build_now(request_for(world), tmp_path))


def test_a_release_has_the_areas_of_its_campaigns_board_and_verifies(world, folder):
    found = assess(world.campaign, n_bootstraps=20).summary
    assert {one.kind: one.sha256 for one in found.negatives} != {}
    values = {model["id"]: model["measures"] for model in folder.json("results.json")["models"]}
    names = {model["id"]: model["name"] for model in folder.models}
    of_site = {model.name: model for model in found.models}
    for model, measures in values.items():
        for name in NEGATIVE_AREAS:
            value = of_site[names[model]].value(name)
            assert value is not None
            assert measures[name]["value"] == pytest.approx(value, abs=1e-9)
    assert {*folder.info[NEGATIVES]} == {"uniform", "band"}
    assert verify(folder.path).findings == ()


def test_every_model_scores_every_drawn_pair_and_none_was_asked(folder):
    asked = {(q, c) for q, c, _ in folder.questions}
    for drawn in folder.drawn_negatives().values():
        assert drawn.pairs
        assert asked.isdisjoint(drawn.pairs)
        for model in folder.scored:
            scored = folder.run(model["id"]).by_query()
            assert all(image in scored[query] for query, image in drawn.pairs)


def test_a_band_with_a_judged_pair_is_named_by_verify(folder):
    query, image, _ = next(iter(folder.questions))
    table = folder.table("band_negatives").slice(1)
    row = pa.table({"query_id": [query], "image_id": [image]}).cast(table.schema)
    whole = pa.concat_tables([row, table])
    write_table(
        folder.path, BAND_NEGATIVES.name, {n: whole[n].to_pylist() for n in whole.column_names}
    )
    info = folder.info
    (folder.path / "MANIFEST.json").write_text(
        make_manifest(folder.path, info["name"], info["version"], info["schema_version"]).text()
    )
    assert any("band_negatives" in one.reason for one in verify(folder.path).findings)


def test_a_command_scores_vectors_by_the_release_s_own_negatives_or_by_others(
    world, folder, tmp_path, capsys
):
    names = [image.sha256 for image in world.images]
    vectors = np.random.default_rng(1).normal(size=(len(names), 8)).astype(np.float32)
    np.savez(tmp_path / "mine.npz", ids=np.array(names), vectors=vectors)
    arguments = ["score", "--release", str(folder.path), "--run", str(tmp_path / "mine.npz"),
                 "--measures", "macro_roc_auc_random,macro_pr_auc_band", "--json"]  # fmt: skip
    assert main(arguments) == 0
    own = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    assert all(own[name]["n_defined"] for name in ("macro_roc_auc_random", "macro_pr_auc_band"))
    shipped = str(folder.path / "data/negatives.parquet")
    assert main([*arguments, "--negatives", shipped, "--contamination", "0.1"]) == 0
    same = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    value = own["macro_roc_auc_random"]["value"]
    assert same["macro_roc_auc_random"]["value"] == pytest.approx(value)
    assert same["macro_roc_auc_random"]["corrected"] == pytest.approx(0.5 + (value - 0.5) / 0.9)
    band = str(folder.path / BAND_NEGATIVES.path)
    assert main([*arguments, "--negatives", band]) == 0
    other = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    assert other["macro_roc_auc_random"]["value"] != pytest.approx(value)
