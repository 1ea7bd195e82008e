"""Templates of all four tasks: sizes, kinds, one right answer, caps, seeds."""

from collections import Counter
from dataclasses import replace

import pytest

from lookalike.conditional.builders.attribute_table import AttributeTable
from lookalike.conditional.builders.attributes import (
    AttributeTypeError,
    build_change_attribute,
    build_focus_attribute,
)
from lookalike.conditional.builders.objects import (
    SceneRuleError,
    SceneRules,
    SceneTable,
    build_change_object,
    build_focus_object,
)
from lookalike.conditional.builders.turns import (
    FEW_HAVING,
    FEW_LACKING,
    NO_TARGET,
    REFERENCE_USED,
    Limits,
)
from lookalike.conditional.types import DistractorKind, Instance, Scene, Task
from lookalike.conditional.validate import find_defects
from tests.lookalike.conditional.builders.facts import attribute_defects, object_defects
from tests.lookalike.conditional.cases import TYPES, random_scenes, vaw_instances

LIMITS = Limits(150, per_condition=40, per_reference=3)
ATTRIBUTE_TASKS = [
    (build_focus_attribute, Task.FOCUS_ATTRIBUTE, (9, 0), 120),  # 3 types, at most 40 of each
    (build_change_attribute, Task.CHANGE_ATTRIBUTE, (9, 5), 150),
]
OBJECT_TASKS = [(build_focus_object, True), (build_change_object, False)]
INSTANCES = vaw_instances(0)
SCENES = random_scenes(0)


def attribute_table(instances=INSTANCES):
    return AttributeTable.of(instances, TYPES)


@pytest.mark.parametrize(("build", "task", "kinds", "n"), ATTRIBUTE_TASKS)
def test_attribute_templates_have_one_right_answer_and_no_defect(build, task, kinds, n):
    built = build(attribute_table(), LIMITS, 1, source="vaw")
    assert len(built.templates) == built.report.n_built == n
    assert find_defects(built.templates, known_images={one.image for one in INSTANCES}) == []
    assert attribute_defects(built.templates, INSTANCES, TYPES) == []
    for place, one in enumerate(built.templates):
        assert (one.task, one.provenance.index, one.provenance.seed) == (task, place, 1)
        counted = Counter(distractor.kind for distractor in one.gallery)
        assert counted[DistractorKind.LACKS_CONDITION] == kinds[0]
        assert counted[DistractorKind.LACKS_REFERENCE] == kinds[1]
        images = [view.image for _, view in one.views()]
        assert len(set(images)) == len(images)


@pytest.mark.parametrize("build", [build_focus_attribute, build_change_attribute])
def test_the_catch_all_type_is_asked_for_only_by_name(build):
    name, *others = TYPES
    types = {("other" if one == name else one): values for one, values in TYPES.items()}
    table = AttributeTable.of(INSTANCES, types)

    def asked(chosen=None):
        drawn = build(table, Limits(150), 1, source="vaw", types=chosen).templates
        conditions = {one.condition for one in drawn}
        return {
            kind for kind, values in types.items()
            if conditions & ({kind, *values} - {"red"})  # which is of two types
        }  # fmt: skip

    assert asked() == set(others)
    assert asked(["other"]) == {"other"}
    assert asked([*types]) == set(types)
    with pytest.raises(AttributeTypeError, match="no attribute type 'hue'; known: other"):
        asked(["hue"])
    alone = AttributeTable.of(INSTANCES, {"other": TYPES[name]})
    with pytest.raises(AttributeTypeError, match="only attribute type is the catch-all 'other'"):
        build(alone, LIMITS, 1, source="vaw")


def test_a_scene_rule_that_no_image_meets_is_refused_with_what_there_is():
    scenes = [Scene(f"i{n}", {f"c{one}": 0.1 for one in range(4)}) for n in range(30)]
    with pytest.raises(SceneRuleError, match="no image has 8 categories, the most is 4") as caught:
        SceneTable.of(scenes).check()
    assert caught.value.rule == "min_categories"
    with pytest.raises(SceneRuleError, match="min_shared is 0"):
        SceneRules(min_shared=0)


def test_an_oracle_says_that_only_the_target_satisfies_both_conditions():
    known = {(one.image, one.box): one for one in INSTANCES}
    built = build_change_attribute(attribute_table(), LIMITS, 3, source="vaw")
    for one in built.templates:
        reference = known[one.reference.image, one.reference.box]
        assert one.condition in reference.negative
        may_be_right = [
            place
            for place, view in enumerate(one.candidates())
            if known[view.image, view.box].object_name == reference.object_name
            and one.condition not in known[view.image, view.box].negative
        ]
        assert may_be_right == [one.answer]


def test_focus_conditions_are_types_and_change_conditions_are_values():
    focus = build_focus_attribute(attribute_table(), LIMITS, 1, source="vaw")
    change = build_change_attribute(attribute_table(), LIMITS, 1, source="vaw")
    assert {one.condition for one in focus.templates} == set(TYPES)
    assert {one.condition for one in change.templates} <= {v for vs in TYPES.values() for v in vs}
    only = build_focus_attribute(attribute_table(), LIMITS, 1, source="vaw", types=["material"])
    assert {one.condition for one in only.templates} == {"material"}
    with pytest.raises(ValueError, match="no attribute type 'shape'"):
        build_change_attribute(attribute_table(), LIMITS, 1, source="vaw", types=["shape"])


def test_an_unlabelled_value_is_never_taken_for_absent():
    silent = [replace(one, negative=frozenset()) for one in INSTANCES]
    for build, *_ in ATTRIBUTE_TASKS:
        built = build(attribute_table(silent), LIMITS, 1, source="vaw")
        assert built.templates == ()
    focus = build_focus_attribute(attribute_table(silent), LIMITS, 1, source="vaw")
    assert set(focus.report.rejected) == {FEW_LACKING}


def test_contradictory_values_count_as_unlabelled():
    torn = [replace(one, negative=one.negative | one.positive) for one in INSTANCES]
    built = build_change_attribute(attribute_table(torn), LIMITS, 1, source="vaw")
    assert built.templates == ()
    assert (attribute_table(torn).labels < 1).all()


def test_images_of_one_product_never_meet():
    shop = [replace(one, product=f"P{number // 5}") for number, one in enumerate(INSTANCES)]
    product_of = {(one.image, one.box): one.product for one in shop}
    built = build_change_attribute(attribute_table(shop), LIMITS, 1, source="catalog")
    assert built.templates
    for one in built.templates:
        products = [product_of[view.image, view.box] for _, view in one.views()]
        assert len(set(products)) == len(products) == 16  # reference, target, 14 distractors


@pytest.mark.parametrize(("build", "shows"), OBJECT_TASKS)
def test_object_templates_have_one_right_answer_and_no_defect(build, shows):
    built = build(SceneTable.of(SCENES), LIMITS, 1, source="coco_panoptic")
    assert len(built.templates) == built.report.n_built > 40  # as many as these scenes give
    assert find_defects(built.templates) == []
    assert object_defects(built.templates, SCENES) == []
    known = {scene.image: scene.categories() for scene in SCENES}
    for one in built.templates:
        scene = known[one.reference.image]
        assert len(scene) >= 8
        assert (one.condition in scene) is shows
        right = [
            place
            for place, view in enumerate(one.candidates())
            if one.condition in known[view.image] and len(known[view.image] & scene) >= 6
        ]
        assert right == [one.answer]
        kinds = [distractor.kind for distractor in one.gallery]
        assert Counter(kinds) == {
            DistractorKind.LACKS_CONDITION: 9,
            DistractorKind.LACKS_REFERENCE: 5,
        }


def test_the_nine_are_the_most_alike_that_lack_the_condition_by_an_oracle():
    built = build_focus_object(SceneTable.of(SCENES), LIMITS, 4, source="coco_panoptic")
    known = {scene.image: scene.categories() for scene in SCENES}
    for one in built.templates[:40]:
        scene = known[one.reference.image]
        lacking = [
            image
            for image, found in known.items()
            if one.condition not in found and image not in (one.reference.image, one.target.image)
        ]
        lacking.sort(
            key=lambda image: (
                -len(known[image] & scene),
                -len(known[image] & scene) / len(known[image] | scene),
                image,
            )
        )
        nine = {d.view.image for d in one.gallery if d.kind is DistractorKind.LACKS_CONDITION}
        assert nine == set(lacking[:9])
        shared = [
            len((found & scene) - {one.condition})
            for image, found in known.items()
            if one.condition in found and image not in (one.reference.image, one.target.image)
        ]
        five = [
            len((known[d.view.image] & scene) - {one.condition})
            for d in one.gallery
            if d.kind is DistractorKind.LACKS_REFERENCE
        ]
        assert sorted(five) == sorted(shared)[:5]


def test_categories_of_one_percent_do_not_count():
    scene = Scene("a", {"cat": 0.01, "dog": 0.0101})
    table = SceneTable.of([scene], SceneRules())
    assert table.categories == ("dog",)


@pytest.mark.parametrize("build", [one[0] for one in ATTRIBUTE_TASKS])
def test_the_same_seed_gives_the_same_set_and_another_one_another(build):
    first = build(attribute_table(), LIMITS, 5, source="vaw")
    assert build(attribute_table(), LIMITS, 5, source="vaw") == first
    assert build(attribute_table(), LIMITS, 6, source="vaw").templates != first.templates


def test_the_same_seed_gives_the_same_scenes():
    first = build_change_object(SceneTable.of(SCENES), LIMITS, 5, source="x")
    assert build_change_object(SceneTable.of(SCENES), LIMITS, 5, source="x") == first


def test_caps_hold_for_conditions_and_references():
    limits = Limits(10_000, per_condition=7, per_reference=2)
    for built in (
        build_change_attribute(attribute_table(), limits, 1, source="vaw"),
        build_focus_object(SceneTable.of(SCENES), limits, 1, source="coco_panoptic"),
    ):
        conditions = Counter(one.condition for one in built.templates)
        references = Counter(one.reference.image for one in built.templates)
        assert max(conditions.values()) <= 7
        assert max(references.values()) <= 2
        assert dict(conditions) == {c: n for c, n in built.report.by_condition.items() if n}
        report = built.report
        assert report.n_tried == report.n_built + sum(report.rejected.values())
        assert report.n_capped == sum(n == 7 for n in conditions.values())


def test_references_that_were_used_often_enough_are_reported():
    limits = Limits(10_000, per_condition=None, per_reference=1)
    built = build_focus_attribute(attribute_table(), limits, 1, source="vaw")
    images = [one.reference.image for one in built.templates]
    assert len(set(images)) == len(images)
    assert built.report.rejected[REFERENCE_USED] > 0


def test_a_draw_gives_up_after_so_many_tries_and_begins_like_one_that_does_not():
    whole = build_change_attribute(attribute_table(), LIMITS, 1, source="vaw")
    some = replace(LIMITS, n_tries=50)
    built = build_change_attribute(attribute_table(), some, 1, source="vaw")
    assert built.report.n_tried == 50
    assert 0 < len(built.templates) <= 50
    assert built.templates == whole.templates[: len(built.templates)]
    ample = replace(LIMITS, n_tries=10**6)
    assert build_change_attribute(attribute_table(), ample, 1, source="vaw") == whole
    with pytest.raises(ValueError, match="n_tries is 0"):
        Limits(5, n_tries=0)


def test_conditions_take_turns():
    built = build_focus_attribute(attribute_table(), Limits(6), 1, source="vaw")
    assert Counter(one.condition for one in built.templates) == dict.fromkeys(TYPES, 2)


def test_answers_are_spread_over_the_places_and_kinds_over_the_gallery():
    built = build_change_attribute(attribute_table(), Limits(400), 1, source="vaw")
    answers = Counter(one.answer for one in built.templates)
    assert set(answers) == set(range(15))
    first = Counter(one.gallery[0].kind for one in built.templates)
    assert 0.25 < first[DistractorKind.LACKS_REFERENCE] / len(built.templates) < 0.47


def one_object(n_with, n_without, n_strangers):
    """Return a reference without "red" and so many chairs with and without it, and red tables."""

    def instance(name, object_name, has):
        red, green = frozenset({"red"}), frozenset({"green"})
        sets = (red, green) if has else (green, red)
        return Instance(name, name, object_name, *sets)

    return [
        *[instance(f"with{n}", "chair", True) for n in range(n_with)],
        *[instance(f"without{n}", "chair", False) for n in range(n_without)],
        *[instance(f"table{n}", "table", True) for n in range(n_strangers)],
    ]


@pytest.mark.parametrize(
    ("numbers", "rejected"),
    [
        ((1, 10, 5), {}),
        ((0, 11, 5), {NO_TARGET: 11}),
        ((1, 9, 5), {FEW_LACKING: 9}),
        ((1, 10, 4), {FEW_HAVING: 10}),
    ],
)
def test_a_template_is_rejected_where_a_kind_of_image_is_short(numbers, rejected):
    table = AttributeTable.of(one_object(*numbers), {"color": ["red", "green"]})
    built = build_change_attribute(table, Limits(20), 1, source="vaw", types=["color"])
    of_red = [one for one in built.templates if one.condition == "red"]
    assert len(of_red) == (0 if rejected else min(numbers[1], 20))
    for reason, n in rejected.items():
        assert built.report.rejected[reason] >= n


def test_the_checks_of_facts_find_what_is_wrong():
    built = build_change_attribute(attribute_table(), Limits(3), 1, source="vaw")
    first, second, third = built.templates
    swapped = replace(
        first,
        target=first.gallery[0].view,
        gallery=(replace(first.gallery[0], view=first.target), *first.gallery[1:]),
    )
    lost = replace(third, reference=replace(third.reference, image="nowhere"))
    codes = {
        (one.index, one.code)
        for one in attribute_defects([swapped, second, lost], INSTANCES, TYPES)
    }
    assert (0, "target_unfit") in codes
    assert (2, "unknown_view") in codes
    assert not any(index == 1 for index, _ in codes)
    scenes = build_focus_object(SceneTable.of(SCENES), Limits(1), 1, source="x").templates[0]
    doubled = replace(scenes, gallery=(replace(scenes.gallery[0], view=scenes.target),))
    assert [one.code for one in object_defects([doubled], SCENES)] == ["distractor_fits"]


@pytest.mark.parametrize("name", ["n_templates", "per_condition", "per_reference"])
def test_limits_are_at_least_one(name):
    with pytest.raises(ValueError, match=f"{name} is 0"):
        Limits(**{"n_templates": 1, name: 0})


def test_nothing_to_build_from_is_refused():
    with pytest.raises(ValueError, match="no instances"):
        AttributeTable.of([], TYPES)
    with pytest.raises(ValueError, match="no scenes"):
        SceneTable.of([SCENES[0], SCENES[0]])
