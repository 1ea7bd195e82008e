"""Templates from files of VAW and COCO panoptic over a catalog's images."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Role
from catalog.images.crops import crop_file
from conditional.campaigns.services import ask_panel
from conditional.models import TemplateSet
from conditional.template_sets.rows import exported_entries
from lookalike.conditional.crops import DILATIONS
from lookalike.conditional.formats.vaw import read_attribute_types, read_vaw
from tests.conditional.cases import (
    COLOURS,
    built_set,
    catalog_of_files,
    judges_of,
    key_of,
    question_of,
)
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db


def test_instances_of_vaw_become_templates_with_crops(vaw):
    path, types = vaw
    given = (
        "V", "--catalog", "files", "--task", "change_attribute", "--vaw", path, "--types", types,
        "--n", 8, "--seed", 2,
    )  # fmt: skip
    with pytest.raises(CommandError, match="'2099' is no image"):
        call_command("build_templates", *map(str, given))
    result = printed("build_templates", *given, "--keep-good")
    assert (result["templates"], result["counts"]) == (8, {"unknown_image": 6})
    assert result["crops"] == 8 * 16
    stored = TemplateSet.objects.get()
    assert (stored.source, stored.seed, len(stored.file_sha256)) == ("vaw", 2, 64)
    entries: list[Any] = list(exported_entries(stored))
    assert set(entries[0]["target"]) == {"image_id", "instance_bbox"}
    assert all(2000 <= one["reference"]["image_id"] < 2098 for one in entries)


def test_contradictions_and_repeated_ids_are_listed_with_what_became_of_them(vaw):
    path, types = vaw
    entries = json.loads(path.read_text())
    word = entries[7]["positive_attributes"][0]
    entries[7]["negative_attributes"].append(word)
    entries[12]["instance_id"] = entries[11]["instance_id"]
    path.write_text(json.dumps(entries))
    given = (
        "V", "--catalog", "files", "--task", "change_attribute", "--vaw", path, "--types", types,
        "--n", 4,
    )  # fmt: skip
    with pytest.raises(CommandError, match=f"entry 7: instance '7' has and has not: {word}"):
        call_command("build_templates", *map(str, given))
    result = printed("build_templates", *given, "--keep-good")
    assert (result["n_left_out"], result["n_doubtful"]) == (6, 2)
    assert result["counts"] == {"unknown_image": 6, "contradiction": 1, "duplicate": 1}
    said = {one["index"]: one["reason"] for one in result["defects"]}
    assert said[7] == f"instance '7' has and has not: {word} (taken as unlabelled)"
    assert said[12] == "instance id '11' is that of entry 11 (both are used)"
    assert TemplateSet.objects.get().defects == result["defects"]


def test_instances_in_several_files_are_one_set_of_chosen_types(vaw, tmp_path):
    path, types = vaw
    entries = json.loads(path.read_text())
    parts = [tmp_path / "train_part1.json", tmp_path / "train_part2.json"]
    for part, some in zip(parts, (entries[:150], entries[150:]), strict=True):
        part.write_text(json.dumps(some))
    words = json.loads(types.read_text())
    first, *_ = words
    words["other"] = words.pop(first)
    types.write_text(json.dumps(words))
    given = ("--catalog", "files", "--task", "focus_attribute", "--keep-good", "--vaw")
    whole = printed("build_templates", "Whole", *given, path, "--types", types)
    halves = printed("build_templates", "Halves", *given, *parts, "--types", types)
    assert halves["n_entries"] == whole["n_entries"] == len(entries)
    assert halves["templates"] == whole["templates"]
    assert all(one["reason"].startswith("train_part2.json, entry") or one["code"] != "malformed"
               for one in halves["defects"])  # fmt: skip
    stored = TemplateSet.objects.get(slug="halves")
    assert stored.file_name == "train_part1.json, train_part2.json"
    assert "other" not in set(stored.templates.values_list("condition", flat=True))
    printed("build_templates", "Rest", *given, *parts, "--types", types, "other")
    rest = TemplateSet.objects.get(slug="rest")
    assert set(rest.templates.values_list("condition", flat=True)) == {"other"}
    assert rest.recipe["types"] == ["other"]
    with pytest.raises(CommandError, match="no attribute type 'hue'; known: "):
        call_command("build_templates", "Hue", *map(str, (*given, *parts, "--types", types, "hue")))


def test_boxes_are_cut_out_as_the_recipe_says(vaw, client, people):
    path, types = vaw
    given = ("--catalog", "files", "--task", "change_attribute", "--vaw", path, "--types", types,
             "--n", 1, "--keep-good")  # fmt: skip
    printed("build_templates", "Paper", *given)
    printed("build_templates", "Even", *given, "--crops", "symmetric")
    client.force_login(people(1, Role.ADMIN)[0])
    pictures = {}
    for slug, how in zip(("paper", "even"), DILATIONS, strict=True):
        stored = TemplateSet.objects.get(slug=slug)
        row = stored.templates.get()
        assert (stored.recipe["crops"], row.crops) == (how, how)
        response = client.get(f"/templates/crops/{row.uid}/reference/view")
        pictures[how] = b"".join(response.streaming_content)
        assert client.get(f"/templates/crops/{row.uid}/{'9' * 5000}/view").status_code == 404
        expected = crop_file(row.reference, row.boxes["reference"], "view", how)
        assert pictures[how] == expected.read_bytes()
        judge = people(1)
        [judge] = judges_of(ask_panel(asked_set=stored, name=slug, panel=judge))
        key = key_of(judge.campaign, row, None)
        address = f"{judge.url('judge')}choices/{question_of(judge.campaign, row).uid}/{key}/view"
        assert b"".join(judge.client.get(address)) == pictures[how]
    page = client.get("/templates/sets/even/").content.decode()
    assert "as much context on every side" in page


def test_what_a_set_was_drawn_from_comes_out_as_vaw(catalog, tmp_path):
    built_set(catalog)
    folder = tmp_path / "out"
    assert printed("export_vaw", "other-colours", folder)["instances"] == 120
    found = read_vaw(folder / "instances.json")
    assert (found.malformed, found.doubtful) == ((), ())
    images = {str(image.uid): image for image in catalog.images.all()}
    for one in found.instances:
        said = images[one.image].attributes
        assert one.positive == {f"colour: {said['colour']}"}
        others = {f"colour: {name}" for name in COLOURS} - one.positive
        assert (one.object_name, one.negative) == (said["kind"], frozenset(others))
    types = read_attribute_types(folder / "attribute_types.json")
    assert types == {"colour": [f"colour: {name}" for name in sorted(COLOURS)]}
    panoptic_set = TemplateSet.objects.create(
        slug="p",
        name="P",
        catalog=catalog,
        task="focus_attribute",
        source="vaw",
        file_name="v.json",
    )
    with pytest.raises(CommandError, match=r"comes from v\.json"):
        call_command("export_vaw", panoptic_set.slug, str(folder))


@pytest.fixture
def panoptic(tmp_path, db):
    """A panoptic file of 160 scenes out of twelve categories, and a catalog of its images."""
    categories = [{"id": n, "name": f"thing-{n}"} for n in range(1, 13)]
    images, annotations = [], []
    for number in range(160):
        shown = [one for one in range(1, 13) if (number * 7 + one * one * (1 + number % 5)) % 3]
        images.append({"id": number, "file_name": f"{number:012d}.jpg", "width": 20, "height": 10})
        segments = [{"id": one, "category_id": one, "area": 10, "bbox": [0, 0, 1, 1], "iscrowd": 0}
                    for one in shown]  # fmt: skip
        annotations.append(
            {"image_id": number, "file_name": f"{number:012d}.png", "segments_info": segments}
        )
    path = tmp_path / "panoptic.json"
    content = {"images": images, "categories": categories, "annotations": annotations}
    path.write_text(json.dumps(content))
    catalog_of_files([f"{number:012d}" for number in range(160)], (20, 10))
    return path


def test_panoptic_scenes_become_templates(panoptic):
    given = ("P", "--catalog", "files", "--task", "change_object", "--panoptic", panoptic)
    result = printed("build_templates", *given, "--n", 5)
    assert TemplateSet.objects.get().recipe["min_categories"] == 8
    assert TemplateSet.objects.get().recipe["min_shared"] == 6
    assert (result["templates"], result["defects"], result["crops"]) == (5, [], 0)
    assert TemplateSet.objects.get().source == "coco_panoptic"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--task", "focus_attribute", "--panoptic", "panoptic.json"), "from such a file"),
        (("--task", "focus_object", "--panoptic", "none.json"), "No such file"),
        (("--task", "focus_attribute", "--vaw", "x.json"), "--vaw with --types"),
        (("--task", "focus_attribute"), "Give --ask with a column"),
    ],
)
def test_what_does_not_go_together_is_said(panoptic, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=reason):
        call_command("build_templates", "X", "--catalog", "files", *arguments)
