"""A release of real shop photos: whoever computes its numbers comes to those of its board."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import ir_measures
import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import Role, User
from catalog.models import Catalog, Image
from lookalike.cli.main import main
from lookalike.metrics.leaderboard import Leaderboard
from lookalike.pooling.query_rule import QueryRule
from lookalike.release.opened import open_release
from pooling.campaign.services import open_pool_campaign
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from releases.models import Release
from releases.storage import archive_path, files_folder, releases_folder
from tests.catalogs import filled
from tests.lookalike.release.scored_by_hand import measures, run_of
from tests.paths import shared
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
    luma: Release, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, source = files_folder(luma), str(archive_path(luma))
    release = open_release(folder)
    assert main(["evaluate", LITE0, "--release", source, "--json"]) == 0
    [evaluated] = json.loads(capsys.readouterr().out)["runs"]
    board = client.get("/releases/small/1.0.0/").context["board"]
    client.force_login(User.objects.create_user("rhea", role=Role.RESEARCHER))
    sent = client.get("/api/v1/releases/small/1.0.0/files/results.json")
    served = {one["id"]: one["measures"] for one in json.loads(sent.getvalue())["models"]}
    assert len(release.qrels()) > 200
    for model in luma.results["models"]:
        name = next(one["name"] for one in luma.entrants if one["id"] == model["id"])
        path = folder / f"runs/{model['id']}.parquet"
        [scored] = release.score(path)
        assert main(["score", "--release", source, "--run", str(path), "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
        [line] = [line for line in board.lines if line.model.name == name]
        page = {c.name: cell.value for c, cell in zip(board.columns, line.cells, strict=True)}
        by_hand = measures(folder, run_of(path))
        assert by_hand.keys() & page.keys() >= {"P@5", "vsd_hr@5", "macro_roc_auc"}
        for measure, entry in model["measures"].items():
            wanted = pytest.approx(entry["value"], abs=1e-9)
            ways = [scored.outcomes[measure].value, printed[measure]["value"]]
            ways += [of[measure] for of in (page, by_hand) if measure in of]
            ways.append(served[model["id"]][measure]["value"])
            if name == LITE0:
                ways.append(evaluated["measures"][measure]["value"])
            assert ways == [wanted] * len(ways), (name, measure)
        products = release.product_of
        lists = {
            query: {c: s for c, s in of.items() if products[c] != products[query]}
            for query, of in release.run(model["id"]).by_query().items()
        }
        qrels = release.labels()
        theirs = {"P@5": ir_measures.P @ 5, "MRR@5": ir_measures.RR @ 5}
        means = ir_measures.calc_aggregate(theirs.values(), qrels.by_query(), lists)
        for measure, at in theirs.items():
            entry = model["measures"][measure]
            mean = float(means[at]) * len(qrels.query_ids) / entry["n_queries"]
            assert entry["value"] == pytest.approx(mean, abs=1e-9)

    slug = luma.info["campaigns"][0]["slug"]
    call_command("evaluate", slug)
    of_campaign = client.get(f"/results/{slug}/?by=vsd_hr@5").context["board"]
    assert shown_of(board)["order"] == shown_of(of_campaign)["order"]
    common = shown_of(board).keys() & shown_of(of_campaign).keys()
    assert common >= {"vsd_hr@5", "Success@5", "P@5", "AP'", "macro_roc_auc"}
    for column in common:
        assert shown_of(board)[column] == shown_of(of_campaign)[column], column


def shown_of(board: Leaderboard) -> dict[str, object]:
    """What a table shows of each model by column: value, interval, n, letters; how order holds."""
    shown: dict[str, object] = {
        column.name: {
            line.model.name: (
                f"{cell.value:.4f} {cell.low:.3f} {cell.high:.3f}" if cell.low else cell.value,
                cell.n_queries,
                cell.letters,
                cell.is_best,
            )
            for line in board.lines
            for cell in [line.cells[at]]
        }
        for at, column in enumerate(board.columns)
    }
    return shown | {"order": [(line.model.name, line.kept) for line in board.lines]}


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
