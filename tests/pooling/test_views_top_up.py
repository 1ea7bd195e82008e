"""The pages that take uploads and change finished pools."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.services import import_judgements
from annotation.services.imports import ImportedJudgement
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool
from pooling.pools.services import start_pool
from tests.catalogs import MODELS
from tests.clients import signed_in
from tests.pooling.cases import npz, work
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def filled(pool_of):
    pool = pool_of(specs=["random:1"])
    start_pool(pool=pool, owner=None)
    return work(pool)


def vectors_of(catalog, n_left_out=0):
    import numpy as np

    shas = list(catalog.images.values_list("sha256", flat=True))[n_left_out:]
    content = npz(shas, np.random.default_rng(0).normal(size=(len(shas), 4)))
    return SimpleUploadedFile("ours.npz", content)


def test_an_admin_tops_up_and_reads_the_difference(filled, admin, annotators):
    open_pool_campaign(pool=filled, name="c", panel=annotators)
    client = signed_in(admin)
    url = reverse("pooling:top_up", args=[filled.slug])
    assert "random:1" in client.get(url).content.decode()
    reply = client.post(
        url,
        {"models": "random:2 k=4", "deeper_0": "5", "embeddings_name": "ours",
         "embeddings_file": vectors_of(filled.catalog)},
    )  # fmt: skip
    assert reply.status_code == 302
    work(filled)
    page = client.get(reverse("pooling:pool", args=[filled.slug])).content.decode()
    assert "ours.npz" in page
    assert "not asked yet" not in page
    page = client.get(reverse("pooling:history", args=[filled.slug])).content.decode()
    assert "Top-up 1" in page
    assert "from k = 3 to 5" in page
    assert "embeddings:ours" in page
    assert "questions opened" in page


def test_a_top_up_of_more_models_than_one_person_may_have_is_refused(filled, admin, settings):
    settings.MAX_OPEN_JOBS = 1
    url = reverse("pooling:top_up", args=[filled.slug])
    reply = signed_in(admin).post(url, {"models": "random:2\nrandom:3"})
    assert "2 models cannot be queued now" in reply.content.decode()
    assert (filled.changes.count(), filled.sources.count()) == (1, 1)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "Name a new model"),
        ({"models": "nonsense"}, "names no"),
        ({"deeper_0": "2"}, "has gone to 3 already"),
        ({"deeper_0": "99"}, "allow 1 to 11"),
        ({"embeddings_name": "ours"}, "Choose the file of ours"),
        ({"ranking_name": "a b"}, "Choose the file of a b"),
    ],
)
def test_errors_stand_on_the_form_and_nothing_is_changed(filled, admin, given, error):
    reply = signed_in(admin).post(reverse("pooling:top_up", args=[filled.slug]), given)
    assert reply.status_code == 200
    assert error in reply.content.decode()
    assert filled.changes.count() == 1


def test_a_bad_upload_is_named_beside_its_field(filled, admin):
    given = {"embeddings_name": "ours", "embeddings_file": vectors_of(filled.catalog, 2)}
    reply = signed_in(admin).post(reverse("pooling:top_up", args=[filled.slug]), given)
    form = reply.context["form"]
    assert "ours.npz: 2 images have no vector" in form.errors["embeddings_file"][0]
    assert filled.changes.count() == 1


def test_a_new_pool_may_be_made_of_uploads_alone(request_of, admin):
    catalog = request_of().catalog
    given = {"name": "Mine", "catalog": catalog.pk, "k": 3, "how": "sample", "n_queries": 3,
             "seed": 0, "exclude_same_product": "on", "strata": "colour", "models": ""}  # fmt: skip
    client = signed_in(admin)
    refused = client.post(reverse("pooling:new"), given)
    assert "Name at least one model" in refused.context["form"].errors["models"][0]
    upload = {"embeddings_name": "ours", "embeddings_file": vectors_of(catalog)}
    assert client.post(reverse("pooling:new"), given | upload).status_code == 302
    pool = Pool.objects.get(slug="mine")
    assert [source.spec for source in pool.sources.all()] == ["embeddings:ours"]
    colours = {row.image.attributes["colour"] for row in pool.queries.select_related("image")}
    assert len(colours) == 3


def test_researchers_and_annotators_change_nothing(filled, researcher, annotators):
    for person in (researcher, annotators[0]):
        for name in ("top_up", "settle"):
            reply = signed_in(person).post(reverse(f"pooling:{name}", args=[filled.slug]))
            assert reply.status_code == 403


def test_the_page_of_a_judged_pool_says_what_each_model_and_depth_found(filled, admin, annotators):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    url = reverse("pooling:figures", args=[filled.slug])
    client = signed_in(admin)
    assert client.get(url).context["yields"] is None
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sss ddd sss"))
    found = client.get(url, {"seconds": "30", "n_judges": "9"}).context["yields"]
    [model] = found.models
    assert (found.depths, found.advice, found.has_chance) == ([], None, True)
    assert (model.gain.n_pairs, model.gain.n_judged, model.gain.n_positive) == (9, 3, 2)
    assert model.alone == model.gain
    assert model.per_hour == pytest.approx(2 / (3 * 30 * 3 / 3600))
    page = client.get(url).content.decode()
    assert "no times were measured, so this is what is set under Expert hours" in page
    assert "greater depth" not in page


def test_the_hours_are_counted_by_the_times_that_were_measured(pool_of, admin, annotators):
    pool = pool_of(specs=MODELS[:1])
    start_pool(pool=pool, owner=None)
    campaign = open_pool_campaign(pool=work(pool), name="c", panel=annotators)
    times = [3000, 5000, 70_000, 0, 0, 0, 0, 0, 0]  # the third while the judge was away
    rows = rows_of(campaign, "sss ddd sss")
    timed = [ImportedJudgement(*row, visible_ms=ms) for row, ms in zip(rows, times, strict=True)]
    import_judgements(campaign=campaign, rows=timed)
    address = reverse("pooling:figures", args=[pool.slug])
    reply = signed_in(admin).get(address, {"seconds": "30", "n_judges": "9"})
    found = reply.context["yields"]
    assert (found.seconds, found.n_timed) == (4, 2)
    assert found.models[0].per_hour == pytest.approx(2 / (3 * 4 * 3 / 3600))
    assert sum(row.gain.n_pairs for row in found.depths) == 9
    assert not found.has_chance
    page = reply.content.decode()
    assert "4 seconds for each: the mean of 2 measured answers" in page
    assert "A greater depth may still pay" in page
