"""Every defect of a set is listed with its place and reason."""

from dataclasses import replace

import pytest

from lookalike.conditional.types import Box, Distractor, Task, View
from lookalike.conditional.validate import count_defects, find_defects
from tests.lookalike.conditional.cases import gallery, template

NAMES = [f"g{place}" for place in range(14)]


def codes(*templates, **options):
    return [(one.index, one.code) for one in find_defects(templates, **options)]


def test_a_sound_template_has_no_defect():
    assert find_defects([template()], known_images={"r", "t", *NAMES}) == []


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"condition": " \t"}, "empty_condition", "the condition is empty"),
        (
            {"gallery": gallery(*NAMES[:13])},
            "gallery_size",
            "the gallery of focus_object has 13 images beside the target, not 14",
        ),
        ({"answer": 15}, "answer_place", "the target's place 15 is not in [0, 14]"),
        ({"target": View("r")}, "target_is_reference", "target and reference are 'r'"),
        (
            {"gallery": gallery("t", *NAMES[1:])},
            "target_in_gallery",
            "gallery[0] is the target 't'",
        ),
        (
            {"gallery": gallery(*NAMES[:13], "r")},
            "reference_in_gallery",
            "gallery[13] is the reference 'r'",
        ),
        (
            {"gallery": gallery(*NAMES[:13], "g2")},
            "gallery_repeats",
            "gallery[13] is gallery[2], 'g2'",
        ),
    ],
)
def test_each_broken_rule_is_named_with_its_place(changes, code, reason):
    sound, broken = template(0, target=View("other")), template(7, **changes)
    (found,) = find_defects([sound, broken])
    assert (found.index, found.code, found.reason) == (7, code, reason)


def test_an_unknown_image_is_listed_once_for_each_template():
    twice = replace(template(3), target=View("x"), gallery=gallery("x", *NAMES[1:]))
    found = find_defects([twice], known_images={"r", *NAMES})
    assert [(d.code, d.reason) for d in found] == [
        ("target_in_gallery", "gallery[0] is the target 'x'"),
        ("unknown_image", "target: no image 'x'"),
    ]


def test_a_duplicate_is_reference_condition_and_target_of_an_earlier_template():
    first = template(0)
    shuffled = replace(template(2), gallery=first.gallery[::-1])
    other = replace(template(1), condition="table")
    third = template(5)
    found = find_defects([first, other, shuffled, third])
    assert [(one.index, one.code) for one in found] == [(2, "duplicate"), (5, "duplicate")]
    assert found[1].reason.endswith("of template 0")
    assert count_defects(found) == {"duplicate": 2}


def test_the_same_picture_in_two_tasks_is_no_duplicate():
    assert codes(template(0), template(1, task=Task.CHANGE_OBJECT)) == []


@pytest.mark.parametrize(
    ("box", "size", "code"),
    [
        (Box(0, 0, 640, 480), (640, 480), None),
        (Box(600, 450, 40.5, 30), (640, 480), "box_outside"),
        (Box(-1, 0, 10, 10), None, "box_outside"),
        (Box(5, 5, 0, 10), (640, 480), "box_empty"),
        (Box(5, 5, 900, 10), None, None),  # nothing is known of the size
    ],
)
def test_boxes_are_compared_with_the_image(box, size, code):
    boxed = replace(template(4), reference=View("r", box))
    sizes = {} if size is None else {"r": size}
    assert codes(boxed, sizes=sizes) == ([] if code is None else [(4, code)])


def test_two_crops_of_one_image_are_one_image_but_different_pictures():
    crops = [View("a", Box(0, 0, 5, 5)), View("a", Box(9, 9, 5, 5))]
    both = replace(template(0), gallery=(*map(Distractor, crops), *gallery(*NAMES[2:])))
    assert codes(both) == [(0, "same_image")]


def test_a_template_can_have_several_defects():
    bad = replace(template(9), condition="", gallery=gallery("t", "t"))
    assert codes(bad) == [
        (9, "empty_condition"),
        (9, "gallery_size"),
        (9, "target_in_gallery"),
        (9, "target_in_gallery"),
        (9, "gallery_repeats"),
    ]


def test_candidates_hold_the_target_at_its_place():
    placed = replace(template(), gallery=gallery("a", "b"), answer=1)
    assert [view.image for view in placed.candidates()] == ["a", "t", "b"]
    assert [view.image for view in placed.candidates(2)] == ["a", "b", "t"]
    with pytest.raises(ValueError, match="no place among the candidates"):
        template().candidates()
    with pytest.raises(ValueError, match="answer is 3"):
        placed.candidates(3)
