"""Sets are drawn from a catalog's attributes, checked, and stored without loss."""

import pytest
from django.core.management import CommandError, call_command

from catalog.models import Catalog
from conditional.models import RetrievalTemplate, TemplateSet
from conditional.stored_sets import delete_set
from conditional.tasks import build
from conditional.template_sets.queries import catalog_rows, list_conditions, shown_templates
from conditional.template_sets.rows import read_template
from conditional.template_sets.services import make_preview, request_build
from jobs.services import JobError
from lookalike.conditional.recipes import Recipe, cook
from lookalike.conditional.types import Task
from lookalike.conditional.validate import find_defects
from lookalike.core.errors import Refused
from tests.conditional.cases import built_set, make_catalog, recipe_of
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db
COMMAND = ("--task", "change_attribute", "--same", "kind", "--ask", "colour")


def pure_templates(template_set):
    task = Task(template_set.task)
    rows = template_set.templates.order_by("position")
    return [read_template(row, task, template_set.source) for row in rows]


def test_what_was_drawn_comes_back_from_the_database(catalog, template_set):
    drawn = cook(recipe_of(), catalog_rows(catalog)).built.templates
    stored = pure_templates(template_set)
    assert len(stored) == 30
    for before, after in zip(drawn, stored, strict=True):
        assert after.candidates() == before.candidates()
        assert after.gallery == before.gallery
        assert (after.reference, after.condition) == (before.reference, before.condition)
        assert dict(after.provenance.facts) == dict(before.provenance.facts)


def test_a_stored_set_has_no_defects_and_asks_what_it_says(catalog, template_set):
    images = {str(image.pk): image for image in catalog.images.all()}
    stored = pure_templates(template_set)
    assert find_defects(stored, known_images=images) == []
    for one in stored:
        reference, target = images[one.reference.image], images[one.target.image]
        assert target.attributes["colour"] == one.condition != reference.attributes["colour"]
        assert target.attributes["kind"] == reference.attributes["kind"]


def test_a_recipe_survives_its_storage(template_set):
    recipe = recipe_of(filters={"view": ("main", "back")}, per_condition=None)
    assert Recipe.of_json(recipe.as_json()) == recipe
    assert Recipe.of_json(template_set.recipe).seed == 3


def test_the_preview_shows_the_first_templates_and_stores_nothing(catalog):
    rows = make_preview(catalog, recipe_of(), 4).rows
    assert not TemplateSet.objects.exists()
    stored = built_set(catalog).templates.order_by("position")[:4]
    assert [(row.target_id, row.gallery) for row in rows] == [
        (row.target_id, row.gallery) for row in stored
    ]


def test_filters_keep_other_images_out(catalog):
    main = set(catalog.images.filter(attributes__view="main").values_list("pk", flat=True))
    for row in built_set(catalog, filters={"view": ("main",)}).templates.all():
        assert {row.reference_id, *row.candidates} <= main


def test_shown_pictures_stand_in_the_stored_order(template_set):
    [shown] = shown_templates(template_set.templates.all()[:1])
    row = shown.template
    assert [image.is_target for image in shown.candidates].index(True) == row.answer
    assert len(shown.candidates) == 15
    kinds = [image.kind for image in shown.candidates if not image.is_target]
    assert kinds.count("lacks the condition") == 9
    assert sum(n for _, n in list_conditions(template_set)) == 30


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"ask": ("size",)}, "ask", "no image has an attribute 'size'; there are: colour, kind"),
        ({"same": ("colour",)}, "ask", "cannot be kept and asked for"),
        ({"filters": {"view": ("side",)}}, "catalog", "no image of “Shop” fits the filters"),
        ({"same": ("kind", "view"), "filters": {"colour": ("red",)}}, "ask", "no template came"),
        ({"ask": ("colour x=1",)}, "ask", "is no column"),
        ({"n_templates": 0}, "ask", "n_templates is 0"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_reason(catalog, changes, field, reason):
    with pytest.raises(Refused, match=reason) as caught:
        make_preview(catalog, recipe_of(**changes), 3)
    assert caught.value.field == field


def test_a_name_is_taken_once(catalog, template_set, people):
    with pytest.raises(JobError, match="there is a set “other-colours” already"):
        built_set(catalog)
    with pytest.raises(Refused, match="at least one letter or digit"):
        request_build(catalog=catalog, name="…", recipe=recipe_of(), owner=people(1)[0])


def test_the_task_builds_what_was_asked_for_and_only_once(catalog, people):
    [owner] = people(1)
    job = request_build(catalog=catalog, name="Asked", recipe=recipe_of(), owner=owner)
    for _ in range(2):
        build(str(job.uid))
    found = TemplateSet.objects.get(slug="asked")
    assert (found.owner, found.templates.count()) == (owner, 30)
    job.refresh_from_db()
    assert job.result["templates"] == 30


def test_the_command_prints_one_object(catalog):
    result = printed("build_templates", "By command", "--catalog", "shop", *COMMAND, "--n", 12)
    assert (result["set"], result["templates"]) == ("by-command", 12)
    assert TemplateSet.objects.get(slug="by-command").templates.count() == 12


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("X", "--catalog", "none", *COMMAND), "there is no catalog “none”"),
        (("X", "--catalog", "shop", *COMMAND, "--filter", "view"), "is not a filter"),
        (("X", "--catalog", "shop", *COMMAND, "--ask", "size"), "no image has an attribute 'size'"),
    ],
)
def test_the_command_says_what_is_wrong(catalog, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        call_command("build_templates", *arguments)
    assert not TemplateSet.objects.exists()


def test_a_set_can_be_deleted_and_its_images_stay(template_set):
    delete_set(row=template_set)
    assert not RetrievalTemplate.objects.exists()
    assert Catalog.objects.get().images.count() == 120


def test_object_templates_come_from_attributes_too(db):
    catalog = make_catalog("scenes", 240)
    found = built_set(
        catalog, task=Task.FOCUS_OBJECT, same=(), ask=("kind", "colour", "view"),
        min_categories=3, min_shared=2, n_templates=10,
    )  # fmt: skip
    assert found.templates.count() == 10
