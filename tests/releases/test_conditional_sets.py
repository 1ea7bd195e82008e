"""Templates and triplets in a release: what people verified, its figures, and its lists."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq
import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign
from catalog.models import Catalog, SourceFile
from conditional.campaigns.queries import compute_statistics, list_results, template_intervals
from conditional.models import TripletSet
from jobs.models import Job
from jobs.services import JobError
from lookalike.conditional.formats.genecis import read_genecis
from lookalike.conditional.formats.triplet_files import read_triplets
from lookalike.conditional.types import Task
from lookalike.release.conditional.layout import TEMPLATE_TABLES, TRIPLET_TABLES
from lookalike.release.documents.datasheet import datasheet
from lookalike.release.documents.facts import Facts
from lookalike.release.format.archive import opened
from lookalike.release.format.folder import Folder
from lookalike.release.format.manifest import paths_in, read_manifest
from lookalike.release.verify import verify
from releases.freeze.requests import FreezeRequest
from releases.models import Release
from releases.site.queries import FREEZE_TASK
from releases.storage import archive_path, files_folder, releases_folder
from tests.kept import kept
from tests.paths import GOLDEN_RELEASES
from tests.releases.cases import sealed
from tests.releases.conditional_world import N_DISTRACTORS, add_templates, add_triplets
from tests.worlds import World, build_now, freeze_now, request_for

OLD = GOLDEN_RELEASES / "small-1.0.0.zip"


def asked(world: World, **changes: object) -> FreezeRequest:
    sets: dict[str, object] = {"template_sets": ("focus",), "triplet_sets": ("triplets",)}
    return request_for(world, "1.0.0", **{**sets, **changes})


@kept
def kept_verification(world: World) -> Campaign:
    add_triplets(world)
    return add_templates(world)


kept_release = kept(lambda world: freeze_now(asked(world, is_public=True)), releases_folder)


@pytest.fixture
def verification(world: World) -> Campaign:
    return kept_verification(world)


@pytest.fixture
def release(world: World, verification: Campaign) -> Release:
    return kept_release(world)


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / f"data/{name}.parquet").to_pylist()
    return found


def test_verdicts_are_those_of_the_verification_s_page(
    release: Release, verification: Campaign
) -> None:
    expected = list_results(verification)
    found = rows(files_folder(release), "template_verdicts")
    assert [row["outcome"] for row in found] == [one.verdict.outcome.value for one in expected]
    assert [row["is_verified"] for row in found] == [True, True, False, False, True, None]
    assert [row["is_verified"] for row in found] == [one.passes for one in expected]
    assert [row["is_unique"] for row in found] == [True, True, True, False, False, False]
    shown = compute_statistics(expected)
    figures = json.loads((files_folder(release) / "conditional.json").read_text())
    [one] = figures["template_sets"]
    assert (one["n_templates"], one["n_verified"], one["n_unique"]) == (6, shown.n_verified, 3)
    assert one["unique_share"] == pytest.approx(shown.total.unique_share) == 0.5
    assert one["pass_share"] == pytest.approx(2 / 6)
    assert one["agreement"]["percent"] == pytest.approx(shown.agreement.percent)
    of_page = template_intervals(verification, expected)
    for name, key in (("percent", "percent"), ("alpha", "krippendorff_alpha"), ("ac1", "gwet_ac1")):
        for side, ends in (
            ("items", of_page[name].items),
            ("items_and_judges", of_page[name].judges),
        ):
            said = one["agreement"]["intervals"][key][side]
            assert said.get("reason", "") == ends.reason
            assert said["low"] == (pytest.approx(ends.low) if ends.is_defined else None)
    by_condition = {of["condition"]: of for of in one["by_condition"]}
    assert by_condition["color"]["unique_share"] == 1.0
    assert by_condition["kind"]["n_verified"] == 1
    assert figures["tasks"]["focus_attribute"]["n_templates"] == 6


def test_the_genecis_file_holds_what_was_verified(release: Release) -> None:
    folder = files_folder(release)
    path = folder / "genecis/focus.json"
    assert len(read_genecis(path, Task.FOCUS_ATTRIBUTE).templates) == 3
    found = json.loads(path.read_text())
    assert [entry["condition"] for entry in found] == ["color", "color", "kind"]
    assert all(len(entry["gallery"]) == N_DISTRACTORS for entry in found)
    # photos are called 0.png, 1.png …, so that they are named by number as GeneCIS names them
    assert found[0]["reference"] == {"image_id": 0, "instance_bbox": [0, 0, 8, 8]}
    assert found[0]["target"] == {"image_id": 6, "instance_bbox": [1.0, 2.5, 3.0, 4.0]}


def test_the_list_of_triplets_has_the_majorities_and_reads_back(release: Release) -> None:
    folder = files_folder(release)
    found = read_triplets(folder / "triplets/triplets.csv").triplets
    assert [(one.anchor, one.closer, one.farther, one.condition) for one in found] == [
        ("views of/0.png", "views of/1.png", "views of/2.png", "colour")
    ]
    labels = rows(folder, "triplet_labels")
    assert sorted((row["n_votes"], row["n_closer"], row["is_decided"]) for row in labels) == [
        (2, 1, False), (3, 2, True)
    ]  # fmt: skip
    assert {row["annotator"] for row in rows(folder, "triplets")} == {"w01", "w02", "w03", ""}
    [one] = json.loads((folder / "conditional.json").read_text())["triplet_sets"]
    assert (one["n_triplets"], one["n_decided"], one["n_votes"]) == (2, 1, 5)
    assert one["human_ceiling"] == pytest.approx(3 / 5)


def test_no_worker_and_no_verifier_is_named(release: Release, verification: Campaign) -> None:
    words = [b"Worker-7", *(seat.annotator.username.encode() for seat in verification.panel.all())]
    with opened(archive_path(release)) as folder:
        for path in paths_in(folder):
            content = (folder / path).read_bytes()
            if path.endswith(".parquet"):
                content += str(pq.read_table(folder / path).to_pydict()).encode()
            assert not [word for word in words if word in content], path
    both = {row["annotator"] for row in rows(files_folder(release), "template_votes")}
    judges = {row["annotator"] for row in rows(files_folder(release), "judgements")}
    assert len(both) == len(judges) == 3
    assert len(both & judges) == 1  # who judges pairs and templates has one name


def test_it_is_right_and_every_forged_number_is_named(release: Release, tmp_path: Path) -> None:
    assert verify(archive_path(release)).findings == ()
    copied = Path(shutil.copytree(files_folder(release), tmp_path / "copy"))
    for path, change in (
        ("conditional.json", lambda text: text.replace('"n_unique": 3', '"n_unique": 4')),
        ("genecis/focus.json", lambda text: text.replace("color", "colour")),
        ("triplets/triplets.csv", lambda text: text.replace(",3,2", ",3,3")),
    ):
        whole = (copied / path).read_text()
        assert change(whole) != whole, path
        (copied / path).write_text(change(whole))
        sealed(copied)
        assert path in {finding.path for finding in verify(copied).findings}
        (copied / path).write_text(whole)
    table = pq.read_table(copied / "data/template_votes.parquet").slice(0, 17)
    pq.write_table(table, copied / "data/template_votes.parquet")
    sealed(copied)
    assert "data/template_verdicts.parquet" in {one.path for one in verify(copied).findings}
    (copied / "data/template_rulings.parquet").unlink()
    sealed(copied)
    assert "data/template_rulings.parquet" in {one.path for one in verify(copied).findings}


def test_two_freezes_with_sets_are_byte_identical(
    world: World, verification: Campaign, tmp_path: Path
) -> None:
    first = build_now(asked(world), tmp_path / "first")
    second = build_now(asked(world), tmp_path / "second")
    name = "small-1.0.0.zip"
    assert (first.parent / name).read_bytes() == (second.parent / name).read_bytes()


def test_tables_are_described_and_loadable(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files_folder(release)
    for table in (*TEMPLATE_TABLES.values(), *TRIPLET_TABLES.values()):
        held = pq.read_table(folder / table.path)
        assert held.schema.equals(table.schema), table.name
        keys = list(zip(*(held[name].to_pylist() for name in table.key), strict=True))
        assert keys
        assert len(set(keys)) == len(keys), table.name


@pytest.mark.filterwarnings("ignore")  # of libraries of theirs
def test_datasets_and_mlcroissant_read_them(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    folder = files_folder(release)
    loaded = datasets.load_dataset(
        str(folder), "template_candidates", split="test", cache_dir=str(tmp_path)
    )
    assert loaded.num_rows == 6 * (N_DISTRACTORS + 1)
    found = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert len(list(found.records("triplets"))) == 5


def test_the_datasheet_says_how_many_answers_are_unique(release: Release) -> None:
    text = datasheet(Facts.of(Folder(files_folder(release)), {}))
    assert "## Conditional similarity" in text
    assert "| Focus, verified | focus_attribute | 3 | 6 | 3 | 50.0 % |" in text
    assert "| Triplets | 2 | 1 | 5 | 60.0 % |" in text


def test_a_release_without_sets_has_none_of_their_files(world: World) -> None:
    folder = files_folder(freeze_now(request_for(world)))
    tables = {table.path for table in (*TEMPLATE_TABLES.values(), *TRIPLET_TABLES.values())}
    held = set(paths_in(folder))
    assert held.isdisjoint(tables | {"conditional.json"})
    assert "Conditional similarity" not in (folder / "datasheet.md").read_text()


def test_a_release_of_the_first_schema_version_still_verifies() -> None:
    with opened(OLD) as folder:
        assert read_manifest(folder).schema_version == 1
        assert "template_sets" not in json.loads((folder / "release.json").read_text())
    assert verify(OLD).findings == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"template_sets": ("none",)}, "no verification of templates “none”"),
        ({"triplet_sets": ("none",)}, "no set of triplets “none”"),
    ],
)
def test_unknown_sets_are_named(
    world: World, verification: Campaign, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(JobError, match=message):
        freeze_now(asked(world, **changes))


def test_sets_that_do_not_fit_are_refused(world: World, verification: Campaign) -> None:
    Campaign.objects.filter(pk=verification.pk).update(state="open")
    with pytest.raises(JobError, match="Judges still verify “Focus, verified”"):
        freeze_now(asked(world))
    Campaign.objects.filter(pk=verification.pk).update(state="closed")
    TripletSet.objects.create(slug="bare", name="Bare", catalog=world.catalog)
    with pytest.raises(JobError, match="has no answers"):
        freeze_now(asked(world, triplet_sets=("bare",)))
    other = Catalog.objects.create(slug="other", name="Other")
    TripletSet.objects.filter(slug="triplets").update(catalog=other)
    with pytest.raises(JobError, match="another catalog"):
        freeze_now(asked(world))


def test_the_page_of_the_release_shows_the_figures(client: Client, release: Release) -> None:
    page = client.get("/releases/small/1.0.0/").content.decode()
    for words in ("Conditional similarity", "focus_attribute", "50.0", "60.0", "GeneCIS JSON"):
        assert words in page, words


def test_the_form_offers_closed_verifications_and_answered_triplets(
    client: Client, world: World, verification: Campaign
) -> None:
    client.force_login(User.objects.create_user("chief", role=Role.ADMIN))
    page = client.get("/releases/freeze/").content.decode()
    assert "Focus, verified" in page
    assert "Triplets" in page
    sent = {
        "campaigns": [world.campaign.slug], "title": "T", "slug": "t", "version": "1.0.0",
        "authors": "A", "label_licence": "CC-BY-4.0", "image_terms": "x", "hidden_percent": 0,
        "template_sets": ["focus"], "triplet_sets": ["triplets"],
    }  # fmt: skip
    assert client.post("/releases/freeze/", sent).status_code == 302
    arguments = Job.objects.get(task=FREEZE_TASK).arguments
    assert (arguments["template_sets"], arguments["triplet_sets"]) == (["focus"], ["triplets"])
    assert FreezeRequest.from_json(arguments).template_sets == ("focus",)


def test_images_without_a_number_are_named_by_path(world: World, verification: Campaign) -> None:
    SourceFile.objects.filter(image=world.images[0]).update(path="views of/front.png")
    folder = files_folder(freeze_now(asked(world)))
    first = json.loads((folder / "genecis/focus.json").read_text())[0]
    assert first["reference"]["image_id"] == "views of/front.png"
