"""From the pictures of a release to the numbers of its board, in one command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role, User
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.cli.main import main
from lookalike.pooling.query_rule import QueryRule
from lookalike.release.opened import open_release
from pooling.campaign.services import open_pool_campaign
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from releases.site.leaderboard import of_pool
from releases.storage import archive_path, files_folder, releases_folder
from tests.catalogs import catalog_of_photos, filled
from tests.worlds import World, close_world, freeze_now, judge_world, request_for

LITE0 = "timm:tf_efficientnet_lite0"
SPECS = ("descriptor:hog-shape", LITE0)


@pytest.fixture
def photo_world(transactional_db: None) -> World:
    """Twenty photos, a pool by a network and a descriptor, three judges' answers."""
    shutil.rmtree(releases_folder(), ignore_errors=True)
    catalog = catalog_of_photos(20)
    request = PoolRequest(name="Photos", catalog=catalog, specs=SPECS, k=4, rule=QueryRule(n=6))
    pool = filled(create_pool(request=request, created_by=None))
    judges = [User.objects.create_user(f"judge-{n}", role=Role.ANNOTATOR) for n in range(3)]
    campaign = open_pool_campaign(pool=pool, name="Photos", panel=judges)
    return close_world(judge_world(World(catalog, [], {}, pool, campaign, judges)))


def evaluated(
    capsys: pytest.CaptureFixture[str], *words: object
) -> tuple[list[dict[str, Any]], str]:
    """What the command says of each model, and its remarks."""
    assert main(["evaluate", *map(str, words), "--json"]) == 0
    printed = capsys.readouterr()
    return json.loads(printed.out)["runs"], printed.err


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["evaluate", *map(str, words)]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.count("\n") == 1
    return printed.err


def test_the_command_prints_the_numbers_of_the_board(
    photo_world: World,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    whole = freeze_now(request_for(photo_world, with_images=True))
    bare = freeze_now(request_for(photo_world, version="1.1.0"))
    source = ("--release", archive_path(whole))
    board = {
        model["name"]: results["measures"]
        for model, results in zip(
            open_release(files_folder(whole)).scored,
            open_release(files_folder(whole)).json("results.json")["models"],
            strict=True,
        )
    }
    outsiders = of_pool(whole)
    assert outsiders is not None
    as_outsiders = {one["name"]: outsiders.outcome(one["id"]) for one in whole.entrants}
    runs, said = evaluated(capsys, *SPECS, *source)
    for run in runs:
        for name, entry in board[run["name"]].items():
            assert run["measures"][name]["value"] == pytest.approx(entry["value"], abs=1e-9), name
            assert run["measures"][name]["n_defined"] == entry["n_queries"]
        found = run["measures"][EQUAL_OUTSIDER]
        assert found["value"] == pytest.approx(as_outsiders[run["name"]]["value"], abs=1e-9)
        assert found["n_defined"] == as_outsiders[run["name"]]["n_queries"]
    assert f"{LITE0}: 20 of 20 images embedded now" in said
    assert f"{LITE0} is timm-tf-efficientnet-lite0 of the release's board" in said

    photos = tmp_path / "other names"
    photos.mkdir()
    for number, path in enumerate((files_folder(whole) / "images").iterdir()):
        shutil.copy(path, photos / f"{number}{path.suffix}")
    pictureless = ("--release", archive_path(bare))
    again, said = evaluated(capsys, *SPECS, *pictureless, "--images", photos)
    assert f"{LITE0}: 0 of 20 images embedded now, 20 kept from before" in said
    assert again == runs

    kept = next((tmp_path / "cache/lookalike/vectors").rglob("*.npz"))
    kept.write_bytes(kept.read_bytes()[:-40])
    again, said = evaluated(capsys, *SPECS, *source)
    assert "20 of 20 images embedded now" in said
    assert again == runs

    assert "1.1.0 is without 20 of 20 pictures" in refused(capsys, SPECS[0], *pictureless)
    (photos / "0.jpg").unlink()
    lacking = refused(capsys, SPECS[0], *pictureless, "--images", photos)
    assert "other names lacks 1 of 20 pictures (first: 'photos/" in lacking
    absent = ("--images", tmp_path / "absent")
    assert "no folder or zip" in refused(capsys, SPECS[0], *pictureless, *absent)
    assert "names no backbone" in refused(capsys, "lite0", *source)
    assert "unknown measure 'P5'" in refused(capsys, LITE0, *source, "--measures", "P5")
    assert "given twice" in refused(capsys, LITE0, LITE0, *source)

    copy = tmp_path / "changed"
    shutil.copytree(files_folder(whole), copy)
    first, second = sorted((copy / "images").iterdir())[:2]
    shutil.copy(first, second)
    changed = refused(capsys, SPECS[0], "--release", copy, "--cache", tmp_path / "no")
    assert f"images/{second.name} is not the image that was frozen" in changed
    second.unlink()
    gone = refused(capsys, SPECS[0], "--release", copy, "--cache", tmp_path / "no")
    assert f"images/{second.name}" in gone
