"""A Combiner is learned in a text space, answers templates, and proposes for pools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from catalog.models import EmbeddingSet, Projection
from catalog.vectors.embeddings import load_vectors
from catalog.vectors.projections import layers_path, read_projection
from conditional.models import TemplateScore
from conditional.template_sets.recall_services import request_score
from jobs.models import Job
from jobs.services import JobError, JobLostError
from learning.combiners.recipes import CatalogCombiner
from learning.models import TrainingRun
from learning.runs.services import delete_run, run_as_asked
from learning.stored_files import stored_files
from lookalike.core.errors import Refused
from lookalike.learning.fixed_condition import FixedCondition
from tests.clients import signed_in
from tests.learning.spaces import PARENT, colour_templates, work_on
from tests.pooling.run_command import printed

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

RECIPE = CatalogCombiner("view", ("colour",), n_triplets=200, epochs=2, space="paints")


def learned(catalog: Any, recipe: CatalogCombiner = RECIPE, **options: Any) -> Projection:
    work_on(run_as_asked(catalog=catalog, name="Join", recipe=recipe), **options)
    return Projection.objects.get(slug="join", head="")


@pytest.fixture
def templates(paints):
    return colour_templates(paints)


def test_it_answers_templates_beside_what_it_has_to_beat_and_says_what_it_has_seen(
    space, paints, templates, admin
):
    made = learned(paints)
    found = printed("score_templates", "change", "--model", "composer:join", "--model", PARENT)
    recall = {(one["model"], one["baseline"]): one["recall"]["1"] for one in found["scores"]}
    assert {name for model, name in recall if model == "composer:join"} == {
        "image", "text", "image_text", "combiner",
    }  # fmt: skip
    assert recall["composer:join", "combiner"] > 0.5
    row = TemplateScore.objects.get(model="composer:join", baseline="combiner")
    seen = set(made.seen_image_ids)
    wanted = sum(not seen.isdisjoint((one.reference_id, one.target_id))
                 for one in templates.templates.all())  # fmt: skip
    assert row.figures["n_seen"] == wanted > 0
    page = signed_in(admin).get(reverse("conditional:set", args=["change"])).text
    assert '<option value="composer:join">' in page
    assert f"learned from {wanted} of 12 templates" in page
    assert TemplateScore.objects.get(model=PARENT).figures["n_seen"] == 0


def test_its_head_for_a_column_has_vectors_as_any_model(space, paints):
    made = learned(paints)
    head = Projection.objects.get(slug="join", head="colour")
    assert isinstance(read_projection(head.sha256), FixedCondition)
    printed("embed", "paints", "--models", "learned:join#colour")
    vectors = load_vectors(EmbeddingSet.objects.get(spec="learned:join#colour"))[1]
    assert np.allclose(np.linalg.norm(np.asarray(vectors, np.float32), axis=1), 1, atol=1e-2)
    assert set(head.seen_image_ids) >= set(space.projection.seen_image_ids)
    figures = TrainingRun.objects.get(slug="join").figures
    assert set(figures["found"]) <= {"same colour", "other colour"}
    files = {made.card["combiner"], made.card["texts"]}
    assert files <= {one.name.removesuffix(".safetensors") for one in stored_files()}
    assert all(layers_path(sha256).exists() for sha256 in files)


def test_one_cut_short_ends_in_the_bytes_of_one_that_was_not(space, paints):
    undisturbed = learned(paints)
    wanted = undisturbed.card["combiner"]
    delete_run(run=TrainingRun.objects.get(slug="join"))
    assert list(Projection.objects.values_list("slug", flat=True)) == ["paints"]
    slow = {"batch": 16}
    whole = learned(paints, CatalogCombiner(**{**vars(RECIPE), **slow})).card["combiner"]
    assert whole != wanted
    delete_run(run=TrainingRun.objects.get(slug="join"))
    steps = {25}

    def on_change(job: Job) -> None:
        if job.n_done in steps and job.n_total and job.n_total > 25:
            steps.clear()
            raise JobLostError

    again = CatalogCombiner(**{**vars(RECIPE), **slow})
    with pytest.raises(JobError):
        learned(paints, again, on_change=on_change)
    Job.objects.all().delete()
    assert learned(paints, again).card["combiner"] == whole


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"space": "nothing"}, "space: no text space is called 'nothing'; there is paints"),
        ({"subject": "maker"}, "subject: no image of “Paints” has 'maker'"),
        ({"columns": ("cut",)}, "columns: no image has 'cut'"),
        ({"columns": ("view",)}, "columns: name attributes besides 'view'"),
        ({"n_triplets": 10**6}, "n_triplets: 1,000,000 is above 200,000"),
        ({"epochs": 0}, "epochs: 0 is not from 1 to 1,000"),
    ],
)
def test_what_cannot_be_learned_is_refused(space, paints, changes, sentence):
    with pytest.raises(Refused) as caught:
        learned(paints, CatalogCombiner(**{**vars(RECIPE), **changes}))
    assert sentence in str(caught.value)


def test_another_learned_model_composes_nothing(space, templates):
    with pytest.raises(Refused, match="learned:paints is no Combiner"):
        request_score(template_set=templates, model="composer:paints", owner=None)


def test_the_command_learns_one(space, paints):
    found = printed(
        "learn_combiner", "paints", "Join", "--space", "paints", "--subject", "view", "--columns",
        "colour", "--triplets", "50", "--epochs", "1", "--changes-only",
    )  # fmt: skip
    assert found["models"] == ["learned:join", "learned:join#colour"]
    assert found["card"]["same_values"] is False
