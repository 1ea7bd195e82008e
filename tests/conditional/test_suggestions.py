"""Triplets suggested from pools and embedding sets: what is asked, stored, shown and refused."""

from __future__ import annotations

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role
from catalog.models import Image
from catalog.vectors.embeddings import load_vectors
from conditional.campaigns.services import ask_panel
from conditional.models import TripletQuestion, TripletSet
from conditional.tasks import suggest
from conditional.triplets.suggest import SUGGEST_TASK, find_triplets, request_suggestion
from jobs.models import Job, JobState
from lookalike.conditional.suggestions import SuggestRecipe
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT
from tests.catalogs import SPLIT, catalog_of, embedding_set_of, pool_over
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db


def test_a_pool_gives_the_triplets_that_its_models_disagree_about(made):
    pool_over(made, SPLIT)
    result = printed("suggest_triplets", "Split", "--pool", "mine", "--seed", "2")
    assert (result["n_triplets"], result["n_questions"], result["n_anchors"]) == (2, 2, 2)
    stored = TripletSet.objects.get(slug="split")
    assert (stored.source, stored.seed, stored.catalog) == ("suggested", 2, made)
    assert stored.recipe["pool"] == "mine"
    assert stored.recipe["models"] == ["timm:a", "timm:b"]
    assert stored.report["n_disagreed"] == 2
    assert stored.n_questions == 2
    images = list(made.images.order_by("pk").values_list("pk", flat=True))
    asked = {(one.anchor_id, one.first_id, one.second_id) for one in stored.questions.all()}
    assert asked == {(images[0], images[1], images[2]), (images[3], images[4], images[5])}
    one = stored.questions.all()[0]
    assert one.facts["disagreement"] == pytest.approx(1.0)
    assert one.facts["margins"] == {"timm:a": pytest.approx(2), "timm:b": pytest.approx(-2)}


def test_each_triplet_is_asked_once_under_each_condition(made, people):
    pool_over(made, SPLIT)
    printed(
        "suggest_triplets", "Split", "--pool", "mine", "--condition", "colour", "--condition",
        "shape ",
    )  # fmt: skip
    stored = TripletSet.objects.get()
    assert stored.n_questions == stored.questions.count() == 4
    conditions = stored.questions.values_list("condition", flat=True)
    assert sorted(conditions) == ["colour", "colour", "shape", "shape"]
    campaign = ask_panel(asked_set=stored, name="Judge", panel=people(1))
    assert campaign.n_questions == 4


def test_a_source_that_proposed_one_of_two_has_a_say_up_to_its_last_score(made):
    scores = [{0: {1: 0.9, 2: 0.5}}, {0: {3: 0.9, 2: 0.5}}]
    pool_over(made, scores)
    printed("suggest_triplets", "Floors", "--pool", "mine", "--n", "1")
    images = list(made.images.order_by("pk").values_list("pk", flat=True))
    one = TripletSet.objects.get().questions.get()
    assert (one.first_id, one.second_id) == (images[1], images[3])


def test_random_pairs_have_no_opinion_and_no_query_is_its_own_candidate(made):
    specs = ("timm:a", "timm:b", "random:7")
    pool_over(made, [*SPLIT, {0: {0: 0.5, 6: 0.9}}], specs=specs)
    result = printed("suggest_triplets", "Split", "--pool", "mine")
    assert result["models"] == ["timm:a", "timm:b"]
    assert result["n_compared"] == 2


def test_products_are_shown_once(made):
    images = list(made.images.order_by("pk"))
    for place, product in ((1, "x"), (2, "x"), (3, "y"), (4, "y")):
        Image.objects.filter(pk=images[place].pk).update(product_id=product)
    pool_over(made, SPLIT)
    with pytest.raises(CommandError, match="disagree about none of 0 pairs"):
        call_command("suggest_triplets", "Split", "--pool", "mine")
    assert not TripletSet.objects.exists()


def test_embedding_sets_give_neighbours_that_they_rank_differently(made):
    rng = np.random.default_rng(5)
    for spec in ("timm:a", "timm:b", "timm:c"):
        embedding_set_of(made, rng.standard_normal((8, 6)).astype(np.float32), spec)
    result = printed("suggest_triplets", "Spaces", "--catalog", "eggs", "--k", "3", "--n", "20")
    assert result["models"] == ["timm:a", "timm:b", "timm:c"]
    stored = TripletSet.objects.get()
    assert 5 < stored.questions.count() <= 20
    vectors = {}
    for space in stored.catalog.embedding_sets.all():
        ids, found = _vectors(space)
        units = found / np.linalg.norm(found, axis=1, keepdims=True)
        vectors[space.spec] = dict(zip(ids, units, strict=True))
    for one in stored.questions.all():
        signs = set()
        for spec, units in vectors.items():
            anchor, first, second = (units[pk] for pk in (one.anchor_id, *one.candidates))
            gap = float(anchor @ first - anchor @ second)
            assert np.sign(gap) == np.sign(one.facts["margins"][spec])
            signs.add(np.sign(gap))
        assert signs == {-1.0, 1.0}
    again = find_triplets(made, SuggestRecipe(k=3, n_triplets=20), SILENT)[1].triplets
    assert [(t.anchor, t.first, t.second) for t in again] == list(
        stored.questions.order_by("position").values_list("anchor_id", "first_id", "second_id")
    )


def _vectors(embedding_set):
    ids, found = load_vectors(embedding_set)
    return ids.tolist(), np.asarray(found, np.float64)


def test_chosen_embedding_sets_are_compared_and_others_not(made):
    rng = np.random.default_rng(5)
    for spec in ("timm:a", "timm:b", "timm:c"):
        embedding_set_of(made, rng.standard_normal((8, 6)).astype(np.float32), spec)
    result = printed(
        "suggest_triplets", "Two", "--catalog", "eggs", "--embeddings", "timm:a", "--embeddings",
        "timm:c",
    )  # fmt: skip
    assert result["models"] == ["timm:a", "timm:c"]
    with pytest.raises(CommandError, match="no complete vectors of 'timm:x'"):
        call_command("suggest_triplets", "X", "--catalog", "eggs", "--embeddings", "timm:x")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pool", "other"], "there is no pool"),
        (["--catalog", "other"], "there is no catalog"),
        (["--catalog", "eggs"], "fewer than two models"),
        (["--pool", "filling"], "not filled yet"),
        (["--pool", "alone"], "fewer than two models"),
        (["--pool", "mine", "--embeddings", "timm:a"], "all have their say"),
        (["--pool", "mine", "--n", "0"], "n_triplets is 0"),
        (["--pool", "mine", "--anchors", "0"], "n_anchors is 0"),
        (["--pool", "mine", "--seed", "-1"], "whole number from 0"),
        (["--pool", "mine", "--condition", " "], "1 to 200 letters"),
        (["--pool", "mine", "--condition", "a", "--condition", "a "], "different conditions"),
        (["--pool", "mine", "--min-disagreement", "50"], "disagree about none"),
    ],
)
def test_what_cannot_be_suggested_is_said_and_nothing_is_stored(made, arguments, words):
    pool_over(made, SPLIT)
    pool_over(made, SPLIT[:1], slug="alone", specs=("timm:a",))
    pool_over(made, SPLIT, slug="filling", is_done=False)
    with pytest.raises(CommandError, match=words):
        call_command("suggest_triplets", "Bad", *arguments)
    assert not TripletSet.objects.exists()


def test_a_pool_with_queries_of_another_catalog_is_refused(made):
    pool = pool_over(made, SPLIT)
    pool.query_catalog = catalog_of("xy", "wild")
    pool.save()
    with pytest.raises(CommandError, match="of another catalog"):
        call_command("suggest_triplets", "Wild", "--pool", "mine")


def test_a_job_that_runs_twice_stores_one_set(made, people):
    pool_over(made, SPLIT)
    [admin] = people(1, Role.ADMIN)
    recipe = SuggestRecipe(pool="mine", conditions=("colour",))
    job = request_suggestion(catalog=made, name="Split", recipe=recipe, owner=admin)
    for _ in range(2):
        suggest(str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert TripletSet.objects.get().owner == admin
    assert TripletQuestion.objects.count() == 2
    with pytest.raises(Refused, match="already"):
        request_suggestion(catalog=made, name="Split", recipe=recipe, owner=admin)


def test_a_recipe_comes_back_as_it_was_stored():
    recipe = SuggestRecipe("p", ("timm:a",), ("colour",), 5, 2, 0.5, 9, 4, 1)
    assert SuggestRecipe.of_json(recipe.as_json()) == recipe


# ---- pages ----
FORM = {
    "name": "Split", "source": "pool:mine", "conditions": "", "n_triplets": "50",
    "per_anchor": "3", "n_anchors": "100", "k": "10", "min_disagreement": "0", "seed": "0",
}  # fmt: skip


@pytest.fixture
def client_of(people):
    def make(role):
        client = Client()
        [person] = people(1, role)
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


def test_an_admin_sees_a_preview_with_pictures_and_saves(made, client_of):
    pool_over(made, SPLIT)
    admin = client_of(Role.ADMIN)
    page = admin.get(reverse("conditional:suggest")).content.decode()
    assert "Mine (over Eggs)" in page
    preview = admin.post(reverse("conditional:suggest_preview"), FORM).content.decode()
    assert preview.count("<article") == 2
    assert preview.count("<img") == 6
    assert 'A is closer according to</dt><dd class="mono">timm:a</dd>' in preview
    assert not TripletSet.objects.exists()
    assert admin.post(reverse("conditional:suggest"), FORM).status_code == 302
    job = Job.objects.get(task=SUGGEST_TASK)
    assert "Suggest “Split”" in admin.get(reverse("conditional:sets")).content.decode()
    suggest(str(job.uid))
    assert "the pool mine" in admin.get(reverse("conditional:sets")).content.decode()
    shown = admin.get(reverse("conditional:triplets", args=["split"])).content.decode()
    assert shown.count("<article") == 2
    assert "Models disagree about each of them" in shown
    assert "Start a campaign" in shown


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source": ""}, "Choose where models are compared"),
        ({"source": "pool:other"}, "Choose where models are compared"),
        ({"n_triplets": "x"}, "Choose where models are compared"),
        ({"conditions": "a\na"}, "Choose where models are compared"),
        ({"min_disagreement": "90"}, "Models disagree about none"),
    ],
)
def test_the_preview_waits_or_says_what_is_wrong(made, client_of, changes, words):
    pool_over(made, SPLIT)
    reply = client_of(Role.ADMIN).post(reverse("conditional:suggest_preview"), {**FORM, **changes})
    assert words in reply.content.decode()
    assert "<article" not in reply.content.decode()


def test_the_preview_looks_at_a_few_anchors_however_large_the_pool(made, client_of):
    big = catalog_of([f"b{number}" for number in range(120)], "big")
    scores = [
        {q: {(q + 1) % 120: 0.9 - sign, (q + 2) % 120: 0.1 + sign} for q in range(120)}
        for sign in (0, 0.8)
    ]
    pool_over(big, scores, slug="large")
    form = {**FORM, "source": "pool:large"}
    admin = client_of(Role.ADMIN)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        reply = admin.post(reverse("conditional:suggest_preview"), form).content.decode()
    assert "From 30 anchors" in reply
    assert len(queries) < 30


def test_readers_see_sets_but_suggest_nothing_and_judges_see_none(made, client_of):
    pool_over(made, SPLIT)
    printed("suggest_triplets", "Split", "--pool", "mine")
    for role, may_look in ((Role.RESEARCHER, True), (Role.ANNOTATOR, False)):
        client = client_of(role)
        shown = client.get(reverse("conditional:triplets", args=["split"]))
        assert shown.status_code == (200 if may_look else 403)
        assert client.get(reverse("conditional:suggest")).status_code == 403
        assert client.post(reverse("conditional:suggest"), FORM).status_code == 403
        assert client.post(reverse("conditional:suggest_preview"), FORM).status_code == 403
    assert not Job.objects.filter(state=JobState.QUEUED).exists()


def test_without_anything_to_compare_the_page_says_what_to_do(client_of):
    page = client_of(Role.ADMIN).get(reverse("conditional:suggest")).content.decode()
    assert "There is nothing to compare" in page
