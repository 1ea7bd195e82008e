"""VAW instances, panoptic scenes, matrices and scales."""

import json

import pytest

from lookalike.conditional.formats.panoptic import plain_category, read_panoptic
from lookalike.conditional.formats.tables import read_matrix, read_scale
from lookalike.conditional.formats.vaw import read_attribute_types, read_vaw, write_vaw
from lookalike.conditional.types import Box, Instance
from lookalike.io.errors import FormatError
from tests.lookalike.conditional.cases import vaw_instances


def vaw_entry(**changes):
    entry = {
        "image_id": "2373241",
        "instance_id": "2373241004",
        "instance_bbox": [0.0, 182.5, 500.16666666666663, 148.5],
        "instance_polygon": [[[432.5, 214.16], [425.8, 194.16]]],
        "object_name": "floor",
        "positive_attributes": ["tiled", "gray"],
        "negative_attributes": ["brown"],
    }
    return {**entry, **changes}


def written(path, content):
    path.write_text(json.dumps(content))
    return path


def test_entries_of_several_vaw_files_are_numbered_on_and_named_by_file(tmp_path):
    twice = vaw_entry(instance_id=7)
    first = written(tmp_path / "train_part1.json", [vaw_entry(instance_id=6), twice])
    second = written(tmp_path / "train_part2.json", [{"image_id": 1}, twice])
    found = read_vaw(first, second)
    assert [one.name for one in found.instances] == ["6", "7", "7"]
    (malformed,), (doubtful,) = found.malformed, found.doubtful
    assert (malformed.index, doubtful.index, doubtful.code) == (2, 3, "duplicate")
    assert malformed.reason.startswith("train_part2.json, entry 0: ")
    assert doubtful.reason.startswith("train_part2.json, entry 1: ")
    empty = written(tmp_path / "none.json", [{"image_id": 1}])
    with pytest.raises(FormatError, match=r"none\.json: no entry is an instance"):
        read_vaw(first, empty)


def test_vaw_files_come_back_as_they_were(tmp_path):
    content = [vaw_entry(), vaw_entry(image_id=3, instance_id=4, positive_attributes=["a", "a"])]
    found = read_vaw(written(tmp_path / "val.json", content))
    assert found.instances[0].box == Box(0.0, 182.5, 500.16666666666663, 148.5)
    assert found.instances[0].positive == {"tiled", "gray"}
    assert (found.malformed, found.doubtful) == ((), ())
    write_vaw(tmp_path / "again.json", found.instances)
    assert json.loads((tmp_path / "again.json").read_text()) == content


def test_generated_instances_survive_a_round_trip(tmp_path):
    instances = vaw_instances(3, 50)
    write_vaw(tmp_path / "vaw.json", instances)
    assert list(read_vaw(tmp_path / "vaw.json").instances) == instances
    with pytest.raises(ValueError, match="has no box"):
        write_vaw(tmp_path / "no.json", [Instance("1", "1", "bag", frozenset(), frozenset())])


def test_contradictions_and_repeated_ids_are_listed_and_kept(tmp_path):
    content = [
        vaw_entry(),
        vaw_entry(instance_id="2", negative_attributes=["gray", "tiled", "red"]),
        vaw_entry(),
        vaw_entry(instance_id="5", instance_bbox=[0, 0, 0, 9]),
        vaw_entry(instance_id="6", positive_attributes=["", "x"]),
    ]
    found = read_vaw(written(tmp_path / "val.json", content))
    assert len(found.instances) == 3
    assert found.instances[1].contradictions == {"gray", "tiled"}
    assert [(one.index, one.code, one.reason) for one in found.doubtful] == [
        (1, "contradiction", "instance '2' has and has not: gray, tiled"),
        (2, "duplicate", "instance id '2373241004' is that of entry 0"),
    ]
    assert [(one.index, one.reason[:24]) for one in found.malformed] == [
        (3, "instance_bbox [0, 0, 0, "),
        (4, "positive_attributes[0] i"),
    ]


def test_attribute_types_keep_values_that_sit_in_two(tmp_path):
    path = written(tmp_path / "types.json", {"color": ["red", "blue", "red"], "tone": ["red"]})
    assert read_attribute_types(path) == {"color": ["red", "blue"], "tone": ["red"]}
    with pytest.raises(FormatError, match="type color is a string, not a list"):
        read_attribute_types(written(path, {"color": "red"}))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("wall-brick", "brick wall"),
        ("floor-wood", "wood floor"),
        ("window-blind", "window blind"),
        ("sky-other-merged", "sky"),
        ("door-stuff", "door"),
        ("water-other", "water"),
        ("dining table", "dining table"),
    ],
)
def test_panoptic_categories_are_named_as_people_say_them(name, plain):
    assert plain_category(name) == plain


def test_the_cleaned_categories_are_those_of_the_released_templates(shared_data):
    templates = json.loads((shared_data / "genecis_templates/focus_object.json").read_text())
    folder = shared_data / "coco_panoptic_sample"
    categories = json.loads((folder / "panoptic_coco_categories.json").read_text())
    plain = {plain_category(one["name"]) for one in categories}
    assert len(plain) == len(categories) == 133
    assert {one["condition"] for one in templates} <= plain


def test_the_panoptic_sample_gives_shares_of_the_pixels(shared_data):
    path = shared_data / "coco_panoptic_sample/sample_data/panoptic_examples.json"
    found = read_panoptic(path)
    assert found.sizes == {"142238": (640, 427), "439180": (640, 360)}
    second = found.scenes[1]
    assert second.image == "439180"
    assert second.shares["tree"] == 0.3951605902777778
    assert second.categories() == {
        "person", "truck", "horse", "gravel", "tree", "sky", "grass"
    }  # fmt: skip
    first = found.scenes[0]
    assert first.shares["sports ball"] == 175 / (640 * 427)
    assert "sports ball" not in first.categories()  # at most 1% does not count


def panoptic(segments, **changes):
    content = {
        "images": [{"id": 1, "width": 10, "height": 10}],
        "categories": [{"id": 7, "name": "wall-brick"}, {"id": 8, "name": "cat"}],
        "annotations": [{"image_id": 1, "segments_info": segments}],
    }
    return {**content, **changes}


def test_segments_of_a_category_are_added_up_and_bad_entries_are_listed(tmp_path):
    segments = [{"category_id": 7, "area": 1}, {"category_id": 7, "area": 2}]
    content = panoptic(segments)
    content["annotations"] += [
        {"image_id": 2, "segments_info": []},
        {"image_id": 1, "segments_info": []},
        {"image_id": 1, "segments_info": [{"category_id": 9, "area": 1}]},
        {"image_id": 1, "segments_info": [{"category_id": 7, "area": 101}]},
    ]
    found = read_panoptic(written(tmp_path / "p.json", content))
    assert found.scenes[0].shares == {"brick wall": 0.03}
    assert [(one.index, one.reason) for one in found.malformed] == [
        (1, "image '2' is not in the list images"),
        (2, "image '1' is segmented twice"),
        (3, "segments_info[0] has the unknown category 9"),
        (4, "its segments cover 101 of 100 pixels"),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"images": [{"id": 1, "width": 0, "height": 1}]}, "the size 0 x 1"),
        ({"images": [{"id": 1, "width": "9", "height": 1}]}, "width is a string"),
        ({"categories": [{"id": 1}]}, "name is missing"),
        ({"annotations": []}, "the list annotations is empty"),
    ],
)
def test_a_broken_panoptic_file_is_refused(tmp_path, changes, reason):
    with pytest.raises(FormatError, match=reason):
        read_panoptic(written(tmp_path / "p.json", panoptic([], **changes)))


def test_a_matrix_is_read_with_its_names(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("condition,a,b\nheel,.9,0.6\nclass,0,1\n")
    found = read_matrix(path)
    assert (found.conditions, found.embeddings) == (("heel", "class"), ("a", "b"))
    assert found.values.tolist() == [[0.9, 0.6], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name,a\nx,1\n", "line 1: the columns are"),
        ("condition,a,a\nx,1,1\n", "line 1: each embedding needs its own name"),
        ("condition,a\nx,1\nx,1\n", "line 3: the condition 'x' is empty or repeated"),
        ("condition,a\nx,1.5\n", "line 2: 1.5 is not an accuracy"),
        ("condition,a\nx,nan\n", "line 2: 'nan' is not a finite number"),
        ("condition,a\nx,high\n", "line 2: 'high' is not a number"),
        ("condition,a\nx\n", "line 2: 1 cells where the header names 2"),
        ("condition,a\n", "no conditions"),
    ],
)
def test_a_bad_matrix_is_refused_with_its_line(tmp_path, text, reason):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=reason):
        read_matrix(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("image,worth\na,1\n", "must name the columns image and value"),
        ("image,value\na,1\na,2\n", "line 3: the image 'a' is empty or repeated"),
        ("image,value\na,inf\n", "line 2: 'inf' is not a finite number"),
        ("image,value\n", "the scale has no images"),
    ],
)
def test_a_bad_scale_is_refused_with_its_line(tmp_path, text, reason):
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=reason):
        read_scale(path)
