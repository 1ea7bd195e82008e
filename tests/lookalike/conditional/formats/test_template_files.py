"""GeneCIS and CIRR files come in and go out without loss."""

import json

import pytest

from lookalike.conditional.formats.cirr import cirr_entries, read_cirr, read_cirr_split
from lookalike.conditional.formats.genecis import genecis_entries, read_genecis
from lookalike.conditional.formats.json_files import write_json
from lookalike.conditional.types import Box, DistractorKind, Task, View
from lookalike.conditional.validate import count_defects, find_defects
from lookalike.io.errors import FormatError, InputError
from tests.lookalike.conditional.cases import cirr_entry, object_entry, template


def crop(image, *box, **more):
    return {"image_id": image, "instance_bbox": list(box), **more}


def attribute_entry(n_distractors=9):
    return {
        "condition": "color",
        "gallery": [crop(str(place), 1, 2, 3.5, 4) for place in range(n_distractors)],
        "note": "kept",
        "reference": crop(2412, 0, 0, 10, 10, instance_id="2412001"),
        "target": crop("77", 5, 5, 6, 6),
    }


def written(path, content):
    path.write_text(json.dumps(content))
    return path


def test_the_official_focus_object_file_has_427_duplicates_and_comes_back_byte_for_byte(
    shared_data, tmp_path
):
    path = shared_data / "genecis_templates" / "focus_object.json"
    found = read_genecis(path)
    assert (found.n_entries, len(found.templates), found.malformed) == (1960, 1960, ())
    assert count_defects(find_defects(found.templates)) == {"duplicate": 427}
    assert len({one.condition for one in found.templates}) == 97
    write_json(tmp_path / "again.json", genecis_entries(found.templates))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_an_oracle_finds_the_same_duplicates(shared_data):
    path = shared_data / "genecis_templates" / "focus_object.json"
    seen, repeats = set(), []
    for index, entry in enumerate(json.loads(path.read_text())):
        key = json.dumps([entry["reference"], entry["condition"], entry["target"]])
        if key in seen:
            repeats.append(index)
        seen.add(key)
    assert [one.index for one in find_defects(read_genecis(path).templates)] == repeats


@pytest.mark.parametrize("task", ["focus_object", "change_object"])
def test_object_files_keep_their_order_and_their_slots_say_the_kind(tmp_path, task):
    content = [object_entry(), object_entry(condition="door", split="val")]
    path = written(tmp_path / f"{task}.json", content)
    found = read_genecis(path).templates
    assert [view.view.image for view in found[0].gallery] == [str(100 + n) for n in range(14)]
    kinds = [one.kind for one in found[1].gallery]
    assert kinds == [DistractorKind.LACKS_CONDITION] * 9 + [DistractorKind.LACKS_REFERENCE] * 5
    assert (found[0].answer, found[0].provenance.index) == (None, 0)
    assert genecis_entries(found) == content


@pytest.mark.parametrize(("task", "n"), [("focus_attribute", 9), ("change_attribute", 14)])
def test_attribute_files_keep_ids_boxes_and_further_keys_as_they_stand(tmp_path, task, n):
    content = [attribute_entry(n)]
    found = read_genecis(written(tmp_path / f"{task}.json", content)).templates
    assert found[0].task == Task(task)
    assert found[0].reference == View("2412", Box(0, 0, 10, 10))
    assert {one.kind for one in found[0].gallery} == {DistractorKind.UNKNOWN}
    again = genecis_entries(found)
    assert again == content
    assert json.dumps(again, sort_keys=True) == json.dumps(content, sort_keys=True)
    assert find_defects(found) == []


def test_own_templates_are_written_as_official_ones(tmp_path):
    own = template(
        task=Task.FOCUS_ATTRIBUTE, reference=View("17", Box(1, 2, 3, 4)), target=View("t7")
    )
    write_json(tmp_path / "focus_attribute.json", genecis_entries([own]))
    (entry,) = json.loads((tmp_path / "focus_attribute.json").read_text())
    assert entry["reference"] == {"image_id": 17, "instance_bbox": [1, 2, 3, 4]}
    assert entry["target"] == {"image_id": "t7"}
    with pytest.raises(ValueError, match="one of its four tasks"):
        genecis_entries([own, template()])


def test_entries_without_the_shape_of_a_template_are_listed_and_the_rest_is_read(tmp_path):
    content = [
        object_entry(reference={"image": 3}),
        object_entry(),
        7,
        object_entry(gallery="none"),
        object_entry(target={"val_image_id": True}),
        object_entry(gallery=[{"val_image_id": 1}, None]),
        {key: value for key, value in object_entry().items() if key != "condition"},
    ]
    found = read_genecis(written(tmp_path / "x.json", content), Task.FOCUS_OBJECT)
    assert [one.provenance.index for one in found.templates] == [1]
    assert [(one.index, one.reason) for one in found.malformed] == [
        (0, "reference: val_image_id is missing"),
        (2, "the entry is a number, not an object"),
        (3, "gallery is a string, not a list"),
        (4, "target: val_image_id is a boolean, not an id"),
        (5, "gallery[1]: it is null, not an object"),
        (6, "condition is missing"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[\n{]", "line 2: not JSON"),
        ("{}", "line 1: a JSON list is needed, not an object"),
        ("[]", "the list is empty"),
        ("[1]", "no entry is a template .the first: the entry is a number"),
        ('[{"a": NaN}]', "the number NaN, which is not JSON"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_file_that_is_no_template_file_is_refused_with_its_reason(tmp_path, text, reason):
    path = tmp_path / "focus_object.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=reason):
        read_genecis(path)


def test_bytes_that_are_not_decodable_are_placed(tmp_path):
    path = tmp_path / "focus_object.json"
    path.write_bytes(b'[\n"\xff"]')
    with pytest.raises(FormatError, match="line 2: byte 0xff is not UTF-8"):
        read_genecis(path)


def test_the_task_must_be_known(tmp_path):
    path = written(tmp_path / "mine.json", [object_entry()])
    with pytest.raises(InputError, match="which task"):
        read_genecis(path)
    with pytest.raises(InputError, match="not a task of GeneCIS"):
        read_genecis(path, Task.COMPOSED)


def test_cirr_files_come_back_as_they_were(tmp_path):
    plain = {key: value for key, value in cirr_entry().items() if key != "img_set"}
    content = [cirr_entry(), plain]
    found = read_cirr(written(tmp_path / "cap.json", content)).templates
    assert [one.view.image[-1] for one in found[0].gallery] == ["3", "2", "5", "4"]
    assert found[1].gallery == ()
    assert found[0].condition == "show three bottles of soft drink"
    write_json(tmp_path / "again.json", cirr_entries(found))
    assert json.loads((tmp_path / "again.json").read_text()) == content
    assert find_defects(found[:1]) == []


def test_own_composed_templates_are_written_with_an_image_set():
    (entry,) = cirr_entries([template(4, task=Task.COMPOSED)])
    assert entry["img_set"] == {"id": 4, "members": ["r", "t", "g0", "g1", "g2", "g3", "g4"]}
    with pytest.raises(ValueError, match="composed templates, not focus_object"):
        cirr_entries([template()])


def test_cirr_entries_without_target_or_outside_their_set_are_listed(tmp_path):
    hidden = {key: value for key, value in cirr_entry().items() if key != "target_hard"}
    stray = cirr_entry(reference="elsewhere")
    found = read_cirr(written(tmp_path / "cap.json", [hidden, stray, cirr_entry()]))
    assert [(one.index, one.reason) for one in found.malformed] == [
        (0, "target_hard is missing"),
        (1, "reference 'elsewhere' is not a member of its image set"),
    ]


def test_a_cirr_split_names_the_images_of_a_global_search(tmp_path):
    path = written(tmp_path / "split.json", {"dev-1": "./dev/dev-1.png"})
    assert read_cirr_split(path) == {"dev-1": "./dev/dev-1.png"}
    with pytest.raises(FormatError, match="the path of 'a' is a number"):
        read_cirr_split(written(path, {"a": 1}))
