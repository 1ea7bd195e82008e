"""A catalog's attributes as facts, and luma's templates."""

import csv

import pytest

from lookalike.conditional.builders.attribute_table import AttributeTable
from lookalike.conditional.builders.attributes import build_change_attribute, build_focus_attribute
from lookalike.conditional.builders.catalog_rows import (
    CatalogRow,
    Column,
    catalog_instances,
    catalog_scenes,
    split_cell,
)
from lookalike.conditional.builders.objects import (
    SceneRules,
    SceneTable,
    build_change_object,
    build_focus_object,
)
from lookalike.conditional.builders.turns import Limits
from lookalike.conditional.validate import find_defects
from tests.lookalike.conditional.builders.facts import attribute_defects, object_defects

COLOR = Column("color", unknown=frozenset({"bk", "gr", "br", "lb", "sa"}))
CATEGORY = Column("category", path_separator="/")
MATERIAL = Column("material", separator=";")
PATTERN = Column("pattern", separator=";")


@pytest.fixture(scope="module")
def luma(shared_data):
    with (shared_data / "luma_fashion" / "metadata.csv").open(newline="") as file:
        return [
            CatalogRow(row["path"], row["product_id"] or None, row) for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize(
    ("cell", "column", "values", "is_complete"),
    [
        ("blue", COLOR, {"blue"}, True),
        ("", COLOR, set(), False),
        ("bk", COLOR, set(), False),
        ("Men/Tops/Tees", CATEGORY, {"Tees"}, True),
        ("Lycra&reg;;Spandex", MATERIAL, {"Lycra®", "Spandex"}, True),
        ("Wool; ;Wool;", MATERIAL, {"Wool"}, True),
        ("a;x", Column("m", ";", unknown=frozenset("x")), {"a"}, False),
        ("a", Column("m", is_complete=False), {"a"}, False),
    ],
)
def test_cells_are_read_as_their_column_says(cell, column, values, is_complete):
    assert split_cell(cell, column) == (frozenset(values), is_complete)


def rows_of(*attributes):
    return [CatalogRow(f"{n}.jpg", None, found) for n, found in enumerate(attributes)]


def test_other_values_of_a_complete_column_are_absent_and_an_empty_cell_says_nothing():
    rows = rows_of(
        {"kind": "bag", "color": "red", "pattern": "Striped"},
        {"kind": "bag", "color": "blue", "pattern": ""},
        {"kind": "", "color": "green", "pattern": "Solid"},
    )
    columns = [Column("color", text="colour"), Column("pattern", is_complete=False)]
    found = catalog_instances(rows, same=[Column("kind")], columns=columns)
    first, second = found.instances
    assert first.positive == {"colour: red", "pattern: Striped"}
    assert first.negative == {"colour: blue", "colour: green"}
    assert second.negative == {"colour: red", "colour: green"}
    assert found.left_out == {"no kind": 1}
    assert found.types["colour"] == ("colour: blue", "colour: green", "colour: red")
    assert found.texts["colour: red"] == "red"
    assert (first.object_name, first.image) == ("bag", "0.jpg")


def test_values_that_differ_in_case_only_are_one():
    rows = rows_of({"m": "Fleece;Wool"}, {"m": "fleece"}, {"m": "Fleece"})
    found = catalog_instances(rows, same=[], columns=[Column("m", ";")])
    assert found.types["m"] == ("m: Fleece", "m: Wool")
    assert found.instances[1].positive == {"m: Fleece"}
    assert found.instances[1].negative == {"m: Wool"}


def test_columns_must_make_sense():
    rows = rows_of({"a": "1"})
    with pytest.raises(ValueError, match="cannot be kept and asked for"):
        catalog_instances(rows, same=[Column("a")], columns=[Column("a")])
    with pytest.raises(ValueError, match="each with its own text"):
        catalog_instances(rows, same=[], columns=[Column("a"), Column("b", text="a")])
    with pytest.raises(ValueError, match="only complete ones"):
        catalog_scenes(rows, [Column("a", is_complete=False)])


def test_scenes_need_every_cell():
    rows = rows_of({"a": "x", "b": "x"}, {"a": "y", "b": ""})
    found = catalog_scenes(rows, [Column("a"), Column("b")])
    assert found.scenes[0].categories() == {"a: x", "b: x"}
    assert found.left_out == {"no complete b": 1}
    assert found.texts == {"a: x": "x", "b: x": "x"}


def check_attributes(rows, same, columns, build, least):
    facts = catalog_instances(rows, same=same, columns=columns)
    table = AttributeTable.of(facts.instances, facts.types, facts.texts)
    built = build(table, Limits(2000, 200, 5), 1, source="catalog")
    known = {row.image for row in rows}
    assert len(built.templates) >= least
    assert find_defects(built.templates, known_images=known) == []
    found = attribute_defects(built.templates, facts.instances, facts.types, facts.texts)
    assert found == []
    return built


def test_luma_gives_more_than_500_valid_templates(luma):
    main = [row for row in luma if row.attributes["view"] == "main"]
    colours = check_attributes(main, [CATEGORY], [COLOR, PATTERN], build_change_attribute, 1500)
    assert {"blue", "black", "Color-Blocked"} <= {one.condition for one in colours.templates}
    focus = [COLOR, MATERIAL, PATTERN]
    built = check_attributes(main, [CATEGORY], focus, build_focus_attribute, 400)
    assert {one.condition for one in built.templates} == {"color", "material", "pattern"}


def test_same_colour_other_category_is_a_change_of_category(luma):
    built = check_attributes(luma, [COLOR], [CATEGORY], build_change_attribute, 1000)
    colour_of = {row.image: row.attributes["color"] for row in luma}
    category_of = {row.image: row.attributes["category"].rsplit("/")[-1] for row in luma}
    for one in built.templates:
        assert colour_of[one.target.image] == colour_of[one.reference.image]
        assert category_of[one.target.image] == one.condition
        assert category_of[one.reference.image] != one.condition


@pytest.mark.parametrize("build", [build_focus_object, build_change_object])
def test_luma_scenes_give_object_templates(luma, build):
    columns = [COLOR, Column("category"), MATERIAL, PATTERN, Column("gender", ";")]
    found = catalog_scenes(luma, columns)
    rules = SceneRules(min_categories=5, min_shared=4)
    table = SceneTable.of(found.scenes, rules, found.texts)
    built = build(table, Limits(600), 1, source="catalog")
    assert len(built.templates) == 600
    assert find_defects(built.templates) == []
    assert object_defects(built.templates, found.scenes, rules, found.texts) == []
