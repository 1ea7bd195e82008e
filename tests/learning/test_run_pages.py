"""Pages of training runs: the owner, a stranger, bad input; a run from its form to its curve."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest
from django.apps import apps
from django.urls import reverse

from accounts.models import Role, User
from catalog.models import EmbeddingSet, Projection
from jobs.models import Job
from learning.embeddings.recipes import CatalogEmbedding
from learning.models import TrainingRun
from learning.notions.forms import sayable_columns
from learning.tasks import learn_embedding
from lookalike.core.dataclass_json import from_json
from tests.catalogs import embedding_set_of
from tests.clients import signed_in
from tests.learning.spaces import PARENT, learned_space, stored_embedding

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
FORM = {"name": "Own", "columns": "colour", "method": "multisimilarity", "words": "",
        "model": PARENT, "weight": 10, "dim": 8, "hidden": 0, "n_conditions": 0, "epochs": 2,
        "seed": 0}  # fmt: skip


@pytest.fixture
def chief(admin):
    return signed_in(admin)


def page(client, name, *arguments, **query):
    response = client.get(reverse(f"learning:{name}", args=arguments), query)
    assert response.status_code == 200
    return response.content.decode()


def test_an_embedding_is_asked_for_by_its_form_learned_by_a_worker_and_shown(chief, paints):
    form = {**FORM, "catalog": paints.pk}
    asked = chief.post(reverse("learning:new_embedding"), form)
    assert asked["Location"] == reverse("learning:run", args=["own"])
    job = Job.objects.get(task="learning.learn_embedding")
    assert job.title == "Learn the embedding “Own”"
    assert job.title in page(chief, "run", "own")
    assert "Queued" in page(chief, "runs")
    learn_embedding(str(job.uid))
    shown = page(chief, "run", "own")
    assert "learned:own" in shown
    assert 'id="losses-data"' in shown
    before, after = TrainingRun.objects.get().figures["found"]["colour"]
    assert f"{100 * before:.0f}" in shown
    now = rf"{100 * after:.0f}\s%"
    now = f"<strong>{now}</strong>" if after > before else now  # bold only where it gained
    assert re.search(rf"colour {100 * before:.0f}\s% → {now}", page(chief, "runs"))
    address = re.search(r'href="([^"]*pools/new/[^"]*)"', shown)
    assert address is not None
    assert "models=learned%3Aown" in address[1]
    image = paints.images.first()
    near = page(chief, "run_neighbours", "own", image=str(image.uid))
    assert f"as {PARENT} sees" in near
    assert "By learned:own" in near
    assert len(near.split("Nearest after")[1].split("<li")) == 9


def test_the_page_of_a_run_says_what_was_held_out(chief, paints):
    changes = {"columns": "product", "hold_out": "classes", "temperature": ""}
    chief.post(reverse("learning:new_embedding"), {**FORM, "catalog": paints.pk, **changes})
    learn_embedding(str(Job.objects.get(task="learning.learn_embedding").uid))
    figures = TrainingRun.objects.get().figures
    assert figures["held_out"]["unit"] == "classes"
    shown = page(chief, "run", "own")
    for sentence in figures["held_out_words"]:
        assert sentence[1:] in shown
    assert "<dt>Held out</dt><dd>classes</dd>" in shown


def test_old_runs_of_discovernet_say_that_their_branch_was_trained(paints):
    for name, method in (("old", "DiscoverNet-Reg"), ("other", "LSN")):
        TrainingRun.objects.create(family="embedding", catalog=paints, slug=name, name=name,
                                   recipe={"columns": ["colour"], "method": method})  # fmt: skip
    migration = import_module("learning.migrations.0004_discovernet_branches")
    migration.say_that_branches_were_trained(apps, None)
    recipes = {
        run.slug: from_json(CatalogEmbedding, run.recipe) for run in TrainingRun.objects.all()
    }
    assert recipes["old"].is_branch_trained
    assert not recipes["other"].is_branch_trained


@pytest.mark.parametrize("route", ["new", "new_embedding", "new_combiner"])
def test_a_form_names_the_attributes_of_the_catalog_that_is_chosen(chief, paints, route):
    for chosen in ({"catalog": paints.pk}, {}):  # it is the only one
        assert re.search(r'class="mono">colour</span>&nbsp;\d', page(chief, route, **chosen))
    for nothing in ("999999", "9" * 30, "x"):
        assert "Choose a catalog to read the names" in page(chief, route, catalog=nothing)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"columns": "maker"}, "no image of “Paints” has &#x27;maker&#x27;"),
        ({"columns": ","}, "name attributes, or &#x27;product&#x27;"),
        ({"method": "magic"}, "Select a valid choice."),
        ({"method": "CSN", "words": "names"}, "CSN is not guided by words"),
        ({"n_conditions": 2}, "multisimilarity has a number of its own; say 0"),
        ({"dim": 0, "hidden": 4}, "a layer below needs one above"),
        ({"hold_out": "classes"}, "colour has 3 classes of two images or more"),
        ({"is_squared": "on"}, "is an option of DiscoverNet-Set, not of multisimilarity"),
        ({"epochs": 0}, "Ensure this value is greater than or equal to 1."),
        ({"weight": "nan"}, "Enter a number."),
        ({"model": "x"}, "names no backbone"),
        ({"name": "Learned"}, "that word is part of an address here"),
    ],
)
def test_what_cannot_be_learned_stands_beside_its_field(chief, paints, changes, sentence):
    asked = chief.post(reverse("learning:new_embedding"),
                       {**FORM, "catalog": paints.pk, **changes})  # fmt: skip
    assert asked.status_code == 200
    shown = asked.content.decode()
    assert sentence in shown
    assert 'class="errorlist nonfield"' not in shown
    assert not TrainingRun.objects.exists()


def test_runs_of_two_families_stand_side_by_side_and_what_differs_is_marked(chief, paints):
    space = learned_space(paints)
    stored_embedding(paints, EmbeddingSet.objects.get(spec=PARENT))
    listed = page(chief, "runs")
    assert listed.index("learned:own") < listed.index("learned:paints")
    shown = page(chief, "compare", run=["own", "paints"])
    assert re.search(r"Kind\s*<span[^>]*>differs", shown)
    assert "<td>Text space</td>" in shown
    assert not re.search(r"Catalog\s*<span", shown)
    alone = chief.get(reverse("learning:compare"), {"run": ["own", "nothing"]}, follow=True)
    assert "Choose two runs to compare" in alone.content.decode()
    of_space = page(chief, "run", "paints")
    assert reverse("learning:space", args=[space.slug]) in of_space
    assert "by guessing" in of_space


def test_of_many_attributes_the_list_shows_some_and_bold_what_is_better_than_before(chief, paints):
    run = learned_space(paints).run
    rows = [
        {"column": f"c{number}", "n_images": 9, "n_values": 3, "accuracy": accuracy,
         "majority": 0.5, "was_captioned": True}
        for number, accuracy in enumerate((0.8, 0.4, 0.6, 0.7, 0.75, 0.9, 0.95))
    ]  # fmt: skip
    run.figures["attributes"] = rows
    run.save()
    listed = page(chief, "runs")
    assert "c0 50 % → <strong>80 %</strong>" in listed
    assert "c1 50 % → 40 %" in listed
    assert "c5 50 %" not in listed
    assert ">all 7</a>" in listed
    assert sayable_columns(run.space)[:3] == ["c6", "c5", "c0"], "what was learned best is offered"


def test_a_reader_only_looks_and_a_judge_sees_nothing(paints):
    stored_embedding(paints, embedding_set_of(paints, np.ones((72, 2), np.float32)))
    reader = signed_in(User.objects.create_user("rosa", password="x", role=Role.RESEARCHER))
    judge = signed_in(User.objects.create_user("anna", password="x", role=Role.ANNOTATOR))
    delete = reverse("learning:delete", args=["own"])
    for client in (reader, judge):
        assert client.post(delete).status_code == 403
        assert client.get(reverse("learning:new_embedding")).status_code == 403
    assert "Make a pool with it" not in page(reader, "run", "own")
    assert "Learn an embedding" not in page(reader, "runs")
    for name, *arguments in (("runs",), ("run", "own"), ("run_neighbours", "own"), ("compare",)):
        assert judge.get(reverse(f"learning:{name}", args=arguments)).status_code == 403
    assert TrainingRun.objects.exists()


def test_a_run_is_deleted_with_its_model_and_an_unknown_one_is_not_found(chief, paints):
    stored_embedding(paints, embedding_set_of(paints, np.ones((72, 2), np.float32)))
    Projection.objects.update(parent_fingerprint="0" * 64)
    image = paints.images.first()
    near = page(chief, "run_neighbours", "own", image=str(image.uid))
    assert "are gone or were made anew by other weights" in near
    done = chief.post(reverse("learning:delete", args=["own"]), follow=True)
    assert "The embedding “Own” is deleted." in done.content.decode()
    assert not Projection.objects.exists()
    assert chief.get(reverse("learning:run", args=["own"])).status_code == 404


@pytest.mark.parametrize("name", ["new_embedding", "new_combiner"])
def test_a_catalog_that_is_no_number_of_one_is_told_and_no_error(chief, name):
    address = reverse(f"learning:{name}")
    assert chief.get(address, {"catalog": "1" * 4_400}).status_code == 200
    reply = chief.post(address, {**FORM, "catalog": "1" * 5_000})
    assert "Select a valid choice" in reply.content.decode()
