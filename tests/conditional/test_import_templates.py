"""Files of others go in over a catalog's images, with every defect named, and come back."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image as PillowImage

from catalog.images.blobs import blob_path
from catalog.images.crops import crop_file
from catalog.models import Catalog, Image, SourceFile
from conditional.campaigns.services import ask_panel
from conditional.image_names import ImagesByName
from conditional.models import TemplateSet
from conditional.template_sets.recall_services import store_scores
from conditional.template_sets.rows import exported_entries
from lookalike.conditional.formats.genecis import read_genecis
from lookalike.conditional.validate import find_defects
from lookalike.core.errors import Refused
from tests.conditional.cases import entry
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db


def test_images_are_found_by_every_name_that_stands_for_one(catalog):
    image = catalog.images.get(source_files__path="photos/000000000007.jpg")
    names = ImagesByName(catalog)
    said = (str(image.uid), image.sha256, "photos/000000000007.jpg", "000000000007", "7")
    assert {names[name] for name in said} == {image.pk}
    catalog.source_files.create(image=catalog.images.first(), path="more/7.jpg")
    assert "7" not in ImagesByName(catalog)


def test_what_was_imported_comes_back_as_it_was(catalog, write):
    given = [entry(0, note="kept"), entry(30), entry(60, condition="zebra crossing")]
    result = printed("import_templates", "Objects", write(given), "--catalog", "shop")
    assert (result["templates"], result["defects"]) == (3, [])
    stored = TemplateSet.objects.get(slug="objects")
    assert exported_entries(stored) == given
    kinds = stored.templates.all()[0].kinds
    assert kinds == ["lacks_condition"] * 9 + ["lacks_reference"] * 5
    assert {row.answer for row in stored.templates.all()} == {None}
    assert len(stored.file_sha256) == 64


def test_a_name_that_is_the_number_of_some_row_comes_back_too(catalog, write):
    image = catalog.images.order_by("pk")[3]
    image.source_files.create(catalog=catalog, path=f"coco/{image.pk:012d}.jpg")
    given = entry(20, reference={"val_image_id": image.pk})
    printed("import_templates", "Objects", write([given]), "--catalog", "shop")
    stored = TemplateSet.objects.get()
    assert exported_entries(stored) == [given]
    row = stored.templates.get()
    del row.details["names"]["reference"]  # as earlier versions stored it
    row.save()
    assert exported_entries(stored) == [given]


def test_defects_are_listed_and_stop_the_import_unless_the_good_are_kept(catalog, write):
    bad = [
        entry(0),
        entry(0),
        entry(200),
        entry(10, condition=" "),
        entry(20, gallery=entry(20)["gallery"][:13]),
        {"condition": "x"},
        entry(40, target={"val_image_id": 42}),
    ]
    path = write(bad)
    with pytest.raises(CommandError, match="6 of 7 entries cannot go in") as caught:
        call_command("import_templates", "Bad", path, "--catalog", "shop")
    for reason in ("1: it has reference, condition and target of template 0", "2: reference: no"):
        assert reason in str(caught.value)
    assert not TemplateSet.objects.exists()
    result = printed("import_templates", "Bad", path, "--catalog", "shop", "--keep-good")
    assert (result["templates"], result["n_left_out"]) == (1, 6)
    assert {one["index"] for one in result["defects"]} == {1, 2, 3, 4, 5, 6}
    assert TemplateSet.objects.get().defects == result["defects"]


def test_one_image_under_two_names_is_found_out(catalog, write):
    given = entry(0, target={"val_image_id": "000000000003"})
    with pytest.raises(CommandError, match=r"gallery\[1\] '3' and target .* are one image here"):
        call_command("import_templates", "T", write([given]), "--catalog", "shop")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--catalog", "none"), "there is no catalog"),
        (("--catalog", "shop", "--format", "cirr"), "no entry is a template"),
    ],
)
def test_what_cannot_be_imported_is_refused(catalog, write, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        call_command("import_templates", "X", write([entry(0)]), *arguments)
    with pytest.raises(CommandError, match="which task"):
        call_command("import_templates", "X", write([entry(0)], "x.json"), "--catalog", "shop")
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_templates", "X", "focus_object.json", "--catalog", "shop")


def test_a_cirr_file_comes_back_as_it_was(catalog, write):
    members = [f"{number:012d}" for number in range(6)]
    given = [
        {
            "pairid": 12,
            "reference": members[0],
            "target_hard": members[3],
            "caption": "is blue",
            "img_set": {"id": 4, "members": members},
        }
    ]
    path = write(given, "cap.rc2.val.json")
    result = printed("import_templates", "C", path, "--catalog", "shop", "--format", "cirr")
    assert (result["task"], result["templates"]) == ("composed", 1)
    assert exported_entries(TemplateSet.objects.get()) == given


def composed(number, reference, target):
    return {
        "pairid": number,
        "reference": f"{reference:012d}",
        "target_hard": f"{target:012d}",
        "caption": "is blue",
    }


def import_composed(write, given, *more):
    path = write(given, "cap.rc2.val.json")
    return printed("import_templates", "C", path, "--catalog", "shop", "--format", "cirr", *more)


def test_composed_templates_without_anything_to_choose_from_are_refused(catalog, write):
    given = [composed(0, 0, 1), composed(1, 1, 2)]
    with pytest.raises(CommandError, match="2 of 2 entries cannot go in") as caught:
        import_composed(write, given)
    assert "entry 1: there is nothing to choose from: no image set" in str(caught.value)
    assert not TemplateSet.objects.exists()


def test_composed_templates_without_image_set_look_among_their_split(catalog, write):
    given = [composed(number, number, number + 1) for number in range(4)]
    names = {f"{number:012d}": f"./dev/{number}.png" for number in range(20)}
    result = import_composed(write, given, "--split", write(names, "split.rc2.val.json"))
    assert result["templates"] == 4
    stored = TemplateSet.objects.get()
    assert exported_entries(stored) == given
    first = stored.templates.order_by("position")[0]
    assert (first.n_candidates, first.candidates[-1]) == (19, first.target_id)
    assert first.reference_id not in first.candidates
    views = np.tile([1.0, 2, 3, 4], (20, 1))
    row_of = {pk: row for row, pk in enumerate(stored.split)}
    rows = [
        [row_of[pk] for pk in (one.reference_id, *one.candidates)]
        for one in stored.templates.order_by("position")
    ]
    (score,) = store_scores(
        template_set=stored, model="constant", views=views, rows=rows, texts=None
    )
    assert score.figures["recall"]["expected"]["1"] == pytest.approx(1 / 19)
    assert score.figures["chance"]["1"] == pytest.approx(1 / 19)


def test_a_split_that_the_catalog_lacks_stops_the_import_unless_the_good_are_kept(catalog, write):
    given = [composed(0, 0, 1), composed(1, 7, 8)]
    names = {f"{number:012d}": "x.png" for number in (0, 1, 2, 9000)}
    split = write(names, "split.json")
    with pytest.raises(CommandError, match="lacks 1 of the split's 4 images"):
        import_composed(write, given, "--split", split)
    result = import_composed(write, given, "--split", split, "--keep-good")
    assert (result["templates"], result["counts"]) == (1, {"not_in_split": 2})
    assert TemplateSet.objects.get().report["n_split_unknown"] == 1


def test_an_image_set_of_two_is_no_gallery(catalog, write):
    members = [f"{number:012d}" for number in range(2)]
    given = composed(0, 0, 1) | {"img_set": {"id": 4, "members": members}}
    with pytest.raises(CommandError, match="holds nothing beside reference and target"):
        import_composed(write, [given])


def test_templates_that_look_among_a_split_are_not_put_to_judges(catalog, write, people):
    names = {f"{number:012d}": "x.png" for number in range(20)}
    import_composed(write, [composed(0, 0, 1)], "--split", write(names, "split.json"))
    with pytest.raises(Refused, match="too many for a person to judge"):
        ask_panel(asked_set=TemplateSet.objects.get(), name="Panel", panel=people(2))


def test_boxes_are_checked_and_cut_out_once(catalog, write, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    for image in catalog.images.all()[:12]:
        path = blob_path(image.sha256, "original")
        path.parent.mkdir(parents=True, exist_ok=True)
        PillowImage.new("RGB", (300, 200), (200, 30, 30)).save(path, "JPEG")
    crops = [
        {"image_id": number, "instance_bbox": [100.0, 50.0, 100.0, 40.0]} for number in range(12)
    ]
    good: dict[str, object] = {
        "condition": "color", "reference": crops[0], "target": crops[1], "gallery": crops[2:11]
    }  # fmt: skip
    target = {"image_id": 1, "instance_bbox": [250, 0, 60, 9]}
    outside = {**good, "condition": "size", "target": target}
    path = write([good, outside], "focus_attribute.json")
    result = printed("import_templates", "Crops", path, "--catalog", "shop", "--keep-good")
    assert (result["templates"], result["crops"]) == (1, 11)
    assert result["counts"] == {"box_outside": 1}
    row = TemplateSet.objects.get().templates.get()
    image = catalog.images.get(pk=row.target_id)
    box = row.box_of(len(row.gallery))
    assert box == [100.0, 50.0, 100.0, 40.0]
    with PillowImage.open(crop_file(image, box, "view")) as shown:
        assert shown.size == (170, 170)
    assert exported_entries(TemplateSet.objects.get()) == [good]


def test_the_official_file_comes_back_as_it_was(shared_data, db):
    path = shared_data / "genecis_templates" / "focus_object.json"
    given = json.loads(path.read_text())
    ids = {view["val_image_id"] for one in given for view in one["gallery"]}
    ids |= {one[role]["val_image_id"] for one in given for role in ("reference", "target")}
    coco = Catalog.objects.create(slug="coco", name="COCO")
    images = Image.objects.bulk_create(
        Image(
            catalog=coco, sha256=f"{number:064x}", width=9, height=9, image_format="JPEG",
            n_bytes=1, perceptual_hash="0" * 16,
        )
        for number in sorted(ids)
    )  # fmt: skip
    SourceFile.objects.bulk_create(
        SourceFile(catalog=coco, image=image, path=f"val2017/{number:012d}.jpg")
        for number, image in zip(sorted(ids), images, strict=True)
    )
    result = printed("import_templates", "G", path, "--catalog", "coco", "--keep-good")
    assert result["n_entries"] == 1960
    left_out = {one["index"] for one in result["defects"]}
    assert left_out == {one.index for one in find_defects(read_genecis(path).templates)}
    sound = [one for index, one in enumerate(given) if index not in left_out]
    assert exported_entries(TemplateSet.objects.get()) == sound
