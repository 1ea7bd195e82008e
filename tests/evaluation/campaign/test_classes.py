"""The page about classes: what a job computed, kept and shown; and its command."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from catalog.models import Catalog, EmbeddingSet
from evaluation.classes.services import PRODUCT, TASK, request_classes
from evaluation.models import ClassScore
from evaluation.tasks import score_classes
from jobs.models import Job, JobState
from lookalike.metrics.class_tables import score_classes as score
from tests.clients import signed_in
from tests.worlds import SPECS, World


def url(world: World) -> str:
    return f"/catalogs/{world.catalog.slug}/classes/"


def test_a_reader_has_columns_scored_and_finds_the_figures_on_the_page(open_world, researcher):
    browser = signed_in(researcher)
    page = browser.get(url(open_world)).content.decode()
    assert "Nothing is measured yet" in page
    for label in ("Product (10 of 30 images)", "colour (2 values of 30 images)"):
        assert label in page
    chosen = EmbeddingSet.objects.get(spec=SPECS[0])
    asked = {"embedding_set": chosen.pk, "columns": ["colour", PRODUCT]}
    assert browser.post(url(open_world), asked).headers["Location"] == url(open_world)
    assert (
        "Class measures of descriptor:colour-histogram"
        in browser.get(url(open_world)).content.decode()
    )
    assert "already queued" in browser.post(url(open_world), asked, follow=True).content.decode()
    job = Job.objects.get(task=TASK)
    score_classes(str(job.uid))
    score_classes(str(job.uid))  # a broker may say it twice
    page = browser.get(url(open_world)).content.decode()
    colours = [image.attributes["colour"] for image in open_world.images]
    found = score(open_world.vectors[SPECS[0]], colours, column="colour")
    assert f"{found.measures['MAP@R'].value:.3f}" in page
    assert f"{found.chance['MAP@R']:.3f}" in page
    ami = found.clusters["AMI"]
    assert f'{ami.mean:.3f}<span class="interval">± {ami.std:.3f}</span>' in page
    assert "before the last import" not in page
    Catalog.objects.update(changed_at=timezone.now())
    assert "before the last import" in browser.get(url(open_world)).content.decode()


def test_a_job_that_was_cut_short_goes_on_with_the_columns_that_are_left(open_world, researcher):
    chosen = EmbeddingSet.objects.get(spec=SPECS[0])
    job = request_classes(embedding_set=chosen, columns=["colour", "no such"], owner=researcher)
    score_classes(str(job.uid))
    job.refresh_from_db()
    assert (job.state, "no such" in job.error) == (JobState.FAILED, True)
    first = ClassScore.objects.get()
    job.arguments["columns"] = ["colour", "kind"]
    job.state = JobState.QUEUED
    job.save()
    score_classes(str(job.uid))
    assert ClassScore.objects.get(column="colour").scored_at == first.scored_at
    assert ClassScore.objects.filter(column="kind").exists()


@pytest.mark.parametrize("asked", [{}, {"columns": ["colour"]}, {"columns": ["x"]}])
def test_what_is_asked_must_be_there(open_world, researcher, asked):
    chosen = EmbeddingSet.objects.get(spec=SPECS[0])
    if "x" in asked.get("columns", ["x"]):
        asked = {**asked, "embedding_set": chosen.pk}
    reply = signed_in(researcher).post(url(open_world), asked)
    assert reply.status_code == 200
    assert 'class="errorlist"' in reply.content.decode()
    assert not Job.objects.exists()


def test_neither_strangers_nor_judges_see_it(open_world, client):
    assert client.get(url(open_world)).status_code == 302
    for verb in ("get", "post"):
        assert getattr(signed_in(open_world.judges[0]), verb)(url(open_world)).status_code == 403


def test_the_command_scores_keeps_and_prints_the_same(open_world):
    out = io.StringIO()
    options = {"model": SPECS[0], "json": True, "stdout": out}
    call_command("score_classes", open_world.catalog.slug, **options)
    told = json.loads(out.getvalue())["columns"]
    assert told == {row.column: row.figures for row in ClassScore.objects.all()}
    assert set(told) == {PRODUCT, "colour", "kind"}
    for changes, reason in (
        ({"model": "x"}, "has no vectors of x, but: descriptor:"),
        ({"label": ["size"]}, "no column size"),
    ):
        with pytest.raises(CommandError, match=reason):
            call_command("score_classes", open_world.catalog.slug, **{**options, **changes})
