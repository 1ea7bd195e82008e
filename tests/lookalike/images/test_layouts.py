"""Published data sets: what each folder says of its images, and what is wrong with one."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from pathlib import Path

import pytest

from lookalike.images.layouts import (
    cars,
    cirr,
    cub,
    deepfashion,
    mit_states,
    movie_posters,
    online_products,
)
from lookalike.images.layouts.read import LAYOUTS, read_layout
from lookalike.images.sources import SourceError
from lookalike.io.errors import InputError
from tests.paths import ROOT
from tests.pictures import jpeg, write_folder
from tests.published_sets import write_published_set

# Layout: the images' path, product and attributes, as its lists say.
ONE_OF = {
    "in-shop": (
        "Img/img/MEN/Denim/id_00000080/01_1_front.jpg", "id_00000080",
        {"split": "query", "gender": "MEN", "category": "Denim", "clothes": "full",
         "pose": "front", "box": "[10, 20, 100, 200]"}),
    "consumer-to-shop": (
        "img/DRESSES/Lace/id_00000010/comsumer_01.jpg", "id_00000010",
        {"split": "test", "source": "consumer", "category": "DRESSES/Lace", "clothes": "upper",
         "box": "[1, 2, 30, 40]"}),
    "deepfashion-attributes": (
        "img/Sheer_Blouse/img_00000000.jpg", "",
        {"class": "Blouse", "split": "train", "shape": "a-line", "texture": "striped",
         "box": "[0, 5, 20, 20]"}),
    "deepfashion-fine": (
        "img/Sheer_Blouse/img_0.jpg", "",
        {"class": "Blouse", "split": "test", "texture": "floral|striped", "sleeve": "none",
         "fabric": "denim", "fit": "none"}),
    "synthetic-cars": (
        "cars/2.png", "", {"class": "Van", "colour": "red", "background_colour": "black"}),
    "movie-posters": (
        "Movie_Poster_Dataset/1980/tt0080684.jpg", "", {"class": "Action", "country": "USA"}),
    "sop": ("sofa_final/222_0.JPG", "11319", {"split": "test", "category": "sofa"}),
    "cub": (
        "CUB_200_2011/images/001.Black_footed_Albatross/a_0001.jpg", "",
        {"class": "Black_footed_Albatross", "split": "test", "metric_split": "train",
         "box": "[60, 27, 325, 304]", "has_bill_shape": "dagger", "has_wing_color": "blue|grey"}),
    "cars": (
        "car_ims/000002.jpg", "",
        {"class": "Acura RL Sedan 2012", "year": "2012", "split": "test", "metric_split": "train",
         "box": "[1, 2, 8, 7]"}),
    "mit-states": (
        "release_dataset/images/ancient building/a.jpg", "",
        {"class": "building", "state": "ancient"}),
    "cirr": (
        "img_raw/train/34/train-10108-0-img1.png", "",
        {"split": "train", "name": "train-10108-0-img1", "set": "train-10108-0"}),
    "fiftyone": (
        "data/a.jpg", "P1",
        {"split": "val", "tags": "odd", "price": "12.5", "ground_truth": "dress"}),
}  # fmt: skip
COUNTS = {
    "in-shop": {"images": 4, "products": 2, "gallery": 1, "query": 1, "train": 2},
    "consumer-to-shop": {"images": 6, "products": 2, "test": 2, "train": 3},
    "deepfashion-attributes": {"images": 3, "classes": 2, "test": 1, "train": 1, "val": 1},
    "deepfashion-fine": {"images": 3, "classes": 2, "test": 3},
    "synthetic-cars": {"images": 2, "classes": 2},
    "movie-posters": {"images": 2, "classes": 2},
    "sop": {"images": 3, "products": 2, "test": 1, "train": 2},
    "cub": {"images": 3, "classes": 2, "test": 1, "train": 2},
    "cars": {"images": 2, "classes": 2, "test": 1, "train": 1},
    "mit-states": {"images": 3, "classes": 2},
    "cirr": {"images": 3, "train": 2, "val": 1},
    "fiftyone": {"images": 2, "products": 2, "train": 1, "val": 1},
}


@pytest.mark.parametrize("name", ONE_OF)
def test_each_layout_says_of_its_images_what_its_authors_say(name: str, tmp_path: Path) -> None:
    folder = write_published_set(name, tmp_path / "set")
    layout = read_layout(name, folder)
    path, product, attributes = ONE_OF[name]
    image = layout.images[path]
    assert (image.product_id, dict(image.attributes)) == (product, attributes)
    assert layout.counts == COUNTS[name]
    assert len(layout.problems) == (name not in {"fiftyone", "synthetic-cars"})
    for problem in layout.problems:  # nobody published a data set as small as this
        start = f"A subset or another version of {layout.title}: images "
        assert problem.reason.startswith(start)
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "set")
    again = read_layout(name, packed)
    assert {
        path.removeprefix("set/"): image.attributes for path, image in again.images.items()
    } == {path: image.attributes for path, image in layout.images.items()}


def test_a_classification_dataset_of_fiftyone_names_its_classes(tmp_path: Path) -> None:
    labels = {"a": 1, "b": {"label": "hat"}, "c": [0, 1]}
    files = {f"data/{name}.jpg": jpeg(seed) for seed, name in enumerate(labels)}
    folder = write_folder(tmp_path / "set", files)
    text = json.dumps({"classes": ["hat", "dress"], "labels": labels})
    (folder / "labels.json").write_text(text)
    images = read_layout("fiftyone", folder).images
    classes = {path: image.attributes["class"] for path, image in images.items()}
    assert classes == {"data/a.jpg": "dress", "data/b.jpg": "hat", "data/c.jpg": "hat|dress"}
    (folder / "labels.json").write_text(text.replace('"a": 1', '"a": 7'))
    with pytest.raises(InputError, match=r"labels\.json, entry 1: class 7 is none of 0 to 1"):
        read_layout("fiftyone", folder)


def test_counts_that_are_those_published_raise_no_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"images": 4, "products": 2, "train": 2, "query": 1, "gallery": 1}
    monkeypatch.setattr("lookalike.images.layouts.deepfashion.IN_SHOP", small)
    assert read_layout("in-shop", write_published_set("in-shop", tmp_path / "set")).problems == []


def test_attributes_of_cub_are_read_from_the_file_next_to_its_folder(tmp_path: Path) -> None:
    folder = write_published_set("cub", tmp_path / "set") / "CUB_200_2011"
    image = "images/001.Black_footed_Albatross/a_0001.jpg"
    assert read_layout("cub", folder).images[image].attributes["has_bill_shape"] == "dagger"
    (tmp_path / "set" / "attributes.txt").unlink()
    layout = read_layout("cub", folder)
    assert "has_bill_shape" not in layout.images[image].attributes
    assert layout.images[image].attributes["class"] == "Black_footed_Albatross"
    (problem,) = [one for one in layout.problems if one.file.endswith("attribute_labels.txt")]
    assert "attributes.txt" in problem.reason
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "attributes.txt").write_text("2 has_bill_shape::hooked\n")
    (tmp_path / "set" / "attributes.txt").symlink_to(tmp_path / "other" / "attributes.txt")
    assert "has_bill_shape" not in read_layout("cub", folder).images[image].attributes


@pytest.mark.parametrize(
    ("number", "pose"),
    [("1", "front"), ("4", "zoom-out"), ("5", "zoom-in"), ("6", "stand-alone")],
)
def test_poses_of_in_shop_are_those_of_its_readme(number: str, pose: str, tmp_path: Path) -> None:
    folder = write_published_set("in-shop", tmp_path / "set")
    boxes = folder / "Anno/list_bbox_inshop.txt"
    boxes.write_text(boxes.read_text().replace("jpg 3 1 10", f"jpg 3 {number} 10"))
    images = read_layout("in-shop", folder).images.values()
    assert {image.attributes["pose"] for image in images} == {pose}


PARTS = ("train", "val", "test", "test1", "query", "gallery")


@pytest.mark.parametrize(
    ("published", "is_split"),
    [
        (deepfashion.IN_SHOP, True),
        (deepfashion.ATTRIBUTES, True),
        (deepfashion.FINE, True),
        (deepfashion.CONSUMER_TO_SHOP, False),
        (online_products.PUBLISHED, True),
        (cub.PUBLISHED, True),
        (cars.PUBLISHED, True),
        (cirr.PUBLISHED, True),
        (mit_states.PUBLISHED, False),
        (movie_posters.PUBLISHED, False),
    ],
)
def test_published_splits_add_up_to_the_published_images(
    published: dict[str, int], is_split: bool
) -> None:
    parts = [published[part] for part in PARTS if part in published]
    assert bool(parts) is is_split
    assert not parts or sum(parts) == published["images"]


def test_published_counts_that_no_split_adds_up_to_are_sums_of_their_source() -> None:
    # Song et al. (2016): 11,318 and 11,316 products; DeepFashion: 3,997 and 3,985
    assert online_products.PUBLISHED["products"] == 11_318 + 11_316
    assert deepfashion.IN_SHOP["products"] == 3_997 + 3_985
    # images of the classes that metric learning trains on and tests with
    assert cub.PUBLISHED["images"] == 5_864 + 5_924
    assert cars.PUBLISHED["images"] == 8_054 + 8_131
    assert (cub.PUBLISHED["classes"], cars.PUBLISHED["classes"]) == (2 * 100, 2 * 98)
    # Purushwalkam et al. (2019): train, val and test
    assert mit_states.PUBLISHED["images in a state"] == 30_338 + 10_420 + 12_995


def test_pictures_that_are_not_there_are_counted_and_one_is_named(tmp_path: Path) -> None:
    folder = write_published_set("sop", tmp_path / "set")
    (folder / "bicycle_final/111_1.JPG").unlink()
    layout = read_layout("sop", folder)
    assert set(layout.images) == {"bicycle_final/111_0.JPG", "sofa_final/222_0.JPG"}
    reasons = [problem.reason for problem in layout.problems]
    assert (
        "1 of 3 listed images are not there, such as bicycle_final/111_1.JPG (line 3)." in reasons
    )


PARTITION = "Eval/list_eval_partition.txt"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (("in-shop", PARTITION, b"4\n", b"5\n"),
         "list_eval_partition.txt: it holds 4 rows where its first line states 5; it was cut"),
        (("in-shop", PARTITION, b"4\n", b"four\n"), "line 1: the first line is not the"),
        (("in-shop", PARTITION, b"query", b"querry"),
         "line 5: 'querry' is none of train, query, gallery"),
        (("in-shop", PARTITION, b"id_00000002   train", b"id_00000002"),
         "line 3: 2 columns where 3 belong"),
        (("in-shop", PARTITION, b"img/MEN", b"../MEN"), "leads out of the folder"),
        (("in-shop", "Anno/list_bbox_inshop.txt", b" 10 ", b" ten "),
         "line 3: 'ten' is no number"),
        (("in-shop", "Anno/list_bbox_inshop.txt", b"img/MEN", b"img/BOYS"),
         "is not in Eval/list_eval_partition.txt"),
        (("consumer-to-shop", PARTITION,
                 b"comsumer_02.jpg img/CLOTHING/Blouse/id_00000009/shop_01.jpg id_00000009",
                 b"comsumer_02.jpg img/CLOTHING/Blouse/id_00000009/shop_01.jpg id_00000077"),
         "line 4: 'img/CLOTHING/Blouse/id_00000009/shop_01.jpg' shows item id_00000077 here"),
        (("sop", "Ebay_train.txt", b"class_id", b"klass_id"), "line 1: the header is not"),
        (("sop", "Ebay_test.txt", b"sofa_final/222_0.JPG", b"bicycle_final/111_0.JPG"),
         "stands in line 2, too"),
        (("cub", "CUB_200_2011/image_class_labels.txt", b"3 150", b"3 151"),
         "images.txt, line 3: image 3 has no class"),
        (("cub", "CUB_200_2011/images.txt", b"Sage", b"\xff"), "the line is not UTF-8"),
        (("deepfashion-attributes", "Anno/list_category_img.txt", b" 2", b" 9"),
         "category '9' is none of 1 to 2"),
        (("deepfashion-fine", "Anno_fine/test_attr.txt", b"0 0 0 0 1\n", b""),
         "Anno_fine/test_attr.txt: it has fewer lines than the others of test"),
        (("deepfashion-fine", "Anno_fine/test_attr.txt", b"0 0 0 0 1", b"0 0 0"),
         "Anno_fine/test_attr.txt, line 2: it has 3 marks where there are 5 attributes"),
        (("deepfashion-fine", "Anno_fine/test_cate.txt", b"2\n", b"3\n"),
         "Anno_fine/test_cate.txt, line 2: category '3' is none of 1 to 2"),
        (("synthetic-cars", "cars.csv", b",bg_color_val", b""), "line 1: no column bg_color_val"),
        (("synthetic-cars", "cars.csv", b"0.5,2,2,0.5", b"0.5,9,2,0.5"),
         "cars.csv, line 2: 0.5, 9, 2 is no colour: saturation: 9.0 is not from 0 to 2"),
        (("movie-posters", "all.json", b'"imdbID"', b'"id"'), "entry 1: a movie without imdbID"),
        (("cirr", "cirr/image_splits/split.rc2.val.json", b"}", b""), "line 1: not JSON"),
    ],
)  # fmt: skip
def test_a_broken_list_is_refused_by_file_and_line(
    edit: tuple[str, str, bytes, bytes], reason: str, tmp_path: Path
) -> None:
    name, path, old, new = edit
    folder = write_published_set(name, tmp_path / "set")
    content = (folder / path).read_bytes()
    assert old in content
    (folder / path).write_bytes(content.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_layout(name, folder)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("in-shop", PARTITION),
        ("sop", "Ebay_test.txt"),
        ("cub", "CUB_200_2011/classes.txt"),
        ("deepfashion-attributes", "Anno/list_attr_img.txt"),
    ],
)
def test_a_list_that_is_absent_is_named(name: str, gone: str, tmp_path: Path) -> None:
    folder = write_published_set(name, tmp_path / "set")
    (folder / gone).unlink()
    with pytest.raises(InputError, match=rf"has a file {Path(gone).name}, which is not there"):
        read_layout(name, folder)


def test_a_folder_of_another_kind_is_refused_by_each_layout(tmp_path: Path) -> None:
    for name in LAYOUTS:
        with pytest.raises((InputError, SourceError)):
            read_layout(name, ROOT / "docs" / "images")


def test_every_layout_has_an_example() -> None:
    assert {*ONE_OF, "hugging-face"} == set(LAYOUTS)


def test_a_matlab_file_that_swells_or_is_cut_is_refused(tmp_path: Path) -> None:
    folder = write_published_set("cars", tmp_path / "set")
    packed = zlib.compress(bytes(40 * 2**20))
    part = struct.pack("<II", 15, len(packed)) + packed
    for content, reason in (
        (b"MATLAB 5.0".ljust(128) + 2 * part, "would unpack to more than 67,108,864 bytes"),
        (b"MATLAB 5.0".ljust(128) + part[:90], "not readable as a MATLAB file"),
        (b"MATLAB 5.0" + bytes(400), "not readable as a MATLAB file"),
    ):
        (folder / "cars_annos.mat").write_bytes(content)
        with pytest.raises(InputError, match=rf"cars_annos\.mat: .*{reason}"):
            read_layout("cars", folder)
