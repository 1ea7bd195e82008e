"""A release of real shop photos: whoever computes its numbers comes to those of its board."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import Role, User
from catalog.models import Catalog, Image
from lookalike.cli.main import main
from lookalike.pooling.query_rule import QueryRule
from lookalike.release.opened import open_release
from pooling.campaign.services import open_pool_campaign
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from releases.models import Release
from releases.storage import files_folder, releases_folder
from tests.catalogs import filled
from tests.paths import shared
from tests.releases.every_way import check_every_way
from tests.worlds import World, answer_all, close_world, freeze_now, request_for

LITE0 = "timm:tf_efficientnet_lite0"
SPECS = ("descriptor:hog-shape", "descriptor:colour-histogram", LITE0)
N_PHOTOS = 150


@pytest.fixture
def luma(transactional_db: None, tmp_path: Path) -> Release:
    """Luma's photos by the import command, three models' pool, and three judges' answers."""
    source = shared("luma_fashion")
    shutil.rmtree(releases_folder(), ignore_errors=True)
    lines = (source / "metadata.csv").read_text(encoding="utf-8-sig").splitlines()
    photos = tmp_path / "luma"
    (photos / "images256").mkdir(parents=True)
    step = (len(lines) - 1) // N_PHOTOS
    chosen = lines[1 + 10 :: step][:N_PHOTOS]  # the first ten have no product
    (photos / "metadata.csv").write_text("\n".join([lines[0], *chosen]), encoding="utf-8")
    for line in chosen:
        path = line.split(",", 1)[0]
        shutil.copy(source / path, photos / path)
    call_command("import_catalog", "luma", photos, metadata=photos / "metadata.csv")
    catalog = Catalog.objects.get(slug="luma")
    request = PoolRequest(name="Luma", catalog=catalog, specs=SPECS, k=6, rule=QueryRule(n=24))
    pool = filled(create_pool(request=request, created_by=None))
    judges = [User.objects.create_user(f"judge-{n}", role=Role.ANNOTATOR) for n in range(3)]
    campaign = open_pool_campaign(pool=pool, name="Luma", panel=judges)

    def agree_on(*names: str) -> None:
        def truth(query: Image, candidate: Image) -> bool:
            return all(query.attributes.get(n) == candidate.attributes.get(n) for n in names)

        answer_all(campaign, judges[len(names) - 1], truth)

    agree_on("category")
    agree_on("category", "gender")
    agree_on("category", "gender", "color")
    world = close_world(World(catalog, [], {}, pool, campaign, judges))
    return freeze_now(request_for(world, with_images=True, is_public=True))


@pytest.mark.daily
def test_command_python_page_api_hand_and_ir_measures_agree_on_luma(
    luma: Release, client: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert len(open_release(files_folder(luma)).qrels()) > 200
    call_command("evaluate", luma.info["campaigns"][0]["slug"])
    capsys.readouterr()
    check_every_way(luma, [LITE0], client=client, capsys=capsys, cache=tmp_path / "cache")


@pytest.mark.daily
def test_vsd_measures_of_shipped_files_are_never_other_numbers_under_their_name(
    luma: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = files_folder(luma)
    [model] = [one for one in luma.results["models"] if "lite0" in one["id"]]
    words = ["score", "--qrels", f"{folder}/trec/qrels.txt", "--measures", "vsd_hr@5",
             "--run", f"{folder}/trec/runs/{model['id']}.txt"]  # fmt: skip
    assert main(words) == 2
    assert "no product is known: give --metadata" in capsys.readouterr().err
    assert main([*words, "--metadata", f"{folder}/data/images.parquet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["runs"][0]["measures"]["vsd_hr@5"]["value"]
    assert found == pytest.approx(model["measures"]["vsd_hr@5"]["value"], abs=1e-9)
    [unlike] = open_release(folder).score(f"{folder}/runs/{model['id']}.parquet", ["vsd_hr@5"])
    assert unlike.outcomes["vsd_hr@5"].value == pytest.approx(found, abs=1e-9)
