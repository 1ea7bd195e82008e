"""The overview and the pages of pools: for admins, researchers, annotators and strangers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, QueueEntry
from catalog.models import Catalog, Image
from jobs.models import Job, JobState, Worker
from pooling import tasks
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool, PoolState, Proposal
from pooling.pools import settle
from pooling.pools.services import start_pool
from pooling.pools.settle import settle_pool
from pooling.pools.statistics import update_stats
from pooling.sources import fill
from tests.catalogs import MODELS
from tests.clients import signed_in
from tests.worlds import embed

pytestmark = pytest.mark.django_db


@pytest.fixture
def page_of(admin):
    """Open a page as the admin and return its text."""

    def get(page, *args, **query):
        response = signed_in(admin).get(reverse(page, args=args), query)
        assert response.status_code == 200
        return response.content.decode()

    return get


@pytest.fixture
def filled(pool_of):
    """A pool whose two models proposed three candidates each, two of them the same."""
    pool = pool_of()
    images = list(Image.objects.filter(catalog=pool.catalog).order_by("id"))
    for number, source in enumerate(pool.sources.all()):
        for row in pool.queries.select_related("image"):
            others = [image for image in images if image != row.image]
            Proposal.objects.bulk_create(
                Proposal(
                    pool=pool, source=source, query=row.image, candidate=other, rank=rank,
                    score=0.9 - rank / 10,
                )
                for rank, other in enumerate(others[number : number + 3])
            )  # fmt: skip
        source.done_at, source.n_proposals = timezone.now(), 9
        source.save()
    update_stats(pool=pool)
    settle_pool(pool=pool)
    return Pool.objects.get(pk=pool.pk)


GET_PAGES = ["overview", "pooling:pools", "pooling:new", "pooling:attributes"]
TABS = ["pooling:pool", "pooling:figures", "pooling:proposals", "pooling:history"]
POOL_PAGES = [*TABS, "pooling:progress", "pooling:new_campaign"]
BUTTONS = ["pooling:start", "pooling:cancel", "pooling:delete"]
READABLE = {"pooling:pools", *TABS, "pooling:progress"}


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, "²", "-1"])
def test_a_catalog_that_cannot_be_is_none(page_of, number):
    assert page_of("pooling:models", catalog=number)


def every_address(pool):
    pages = [(name, reverse(name)) for name in GET_PAGES]
    pages += [(name, reverse(name, args=[pool.slug])) for name in [*POOL_PAGES, *BUTTONS]]
    pages += [
        (name, reverse(name, args=[pool.slug, 0])) for name in ("pooling:retry", "pooling:stop")
    ]
    return [*pages, ("pooling:preview", reverse("pooling:preview"))]


def test_strangers_are_asked_to_sign_in_and_annotators_are_turned_away(filled, annotators):
    for _, address in every_address(filled):
        for method in ("get", "post"):
            assert getattr(Client(), method)(address).status_code == 302, address
            assert getattr(signed_in(annotators[0]), method)(address).status_code == 403, address


def test_researchers_read_and_change_nothing(filled, researcher):
    client = signed_in(researcher)
    for name, address in every_address(filled):
        if name not in READABLE:
            assert client.post(address).status_code == 403, address
        elif name != "pooling:progress":
            text = client.get(address).content.decode()
            assert '<form method="post" action="/pools' not in text
            assert "Start a campaign" not in text
            assert reverse("pooling:new") not in text


def test_buttons_do_not_work_by_following_a_link(filled, admin):
    for name in BUTTONS:
        assert signed_in(admin).get(reverse(name, args=[filled.slug])).status_code == 405


def test_an_empty_installation_shows_the_first_steps_in_order(page_of):
    text = page_of("overview")
    steps = re.findall(r"<h2>([^<]+)</h2>", text)
    assert steps[:4] == [
        "Import a catalog", "Pool candidates", "Start a campaign", "Have it judged",
    ]  # fmt: skip
    assert text.count('aria-current="step"') == 1
    assert reverse("catalog:new") in text


def test_the_first_step_not_done_is_the_next_one(page_of, catalog_of):
    catalog_of(2)
    text = page_of("overview")
    current = text[text.index('aria-current="step"') :]
    assert current.index("Pool candidates") < current.index("Start a campaign")
    assert text.count("badge-good") == 1


def test_the_overview_shows_pools_without_a_campaign_and_jobs_that_failed(
    page_of, filled, pool_of, annotators
):
    assert "pairs that nobody judges yet" in page_of("overview")
    open_pool_campaign(pool=filled, name="Round one", panel=annotators)
    text = page_of("overview")
    assert "pairs that nobody judges yet" not in text
    assert "Round one" in text
    other = pool_of(name="other", catalog=filled.catalog)
    start_pool(pool=other, owner=None)
    Job.objects.update(state=JobState.FAILED, error="The weights are not here.")
    assert "The weights are not here." in page_of("overview")


def test_a_failure_that_was_mended_needs_no_attention(page_of, pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    Job.objects.update(state=JobState.FAILED, error="The weights are not here.")
    start_pool(pool=pool, owner=None)
    Job.objects.exclude(state=JobState.FAILED).update(state=JobState.SUCCEEDED)
    assert "The weights are not here." not in page_of("overview")


def test_the_list_of_pools_is_there_when_it_is_empty_and_when_not(page_of, filled):
    text = page_of("pooling:pools")
    assert "First pool" in text
    assert "Complete" in text
    filled.delete()
    assert "No pool yet" in page_of("pooling:pools")


def test_the_pages_of_a_pool_show_size_overlap_histogram_and_pictures(page_of, filled):
    text = page_of("pooling:pool", filled.slug)
    for tab in TABS:
        assert f'href="{reverse(tab, args=[filled.slug])}"' in text
    assert "every 1s" not in text
    assert re.search(r"<dt>pairs to judge</dt><dd>12</dd>", text)
    assert re.search(r"<dt>proposals</dt><dd>18</dd>", text)
    text = page_of("pooling:figures", filled.slug)
    assert "67 %" in text
    assert text.count('class="bar"') == 1
    text = page_of("pooling:proposals", filled.slug)
    uid = filled.queries.first().image.uid
    assert f"/images/{uid}/thumb" in text
    assert "rank 1" in text
    assert "Answers and gold" not in text  # no campaign asks about them
    assert "Made" in page_of("pooling:history", filled.slug)


def test_a_proposed_pair_leads_an_admin_to_its_answers_and_gold(
    page_of, filled, annotators, researcher
):
    for name in ("Before", "Now"):
        open_pool_campaign(pool=filled, name=name, panel=annotators)
    text = page_of("pooling:proposals", filled.slug)
    asked = Campaign.objects.get(name="Now").questions.filter(query=filled.queries.first().image)
    for question in asked:
        assert reverse("annotation:pair", args=["now", question.uid]) in text
    assert "/campaigns/before/" not in text
    page = signed_in(researcher).get(reverse("pooling:proposals", args=[filled.slug]))
    assert "Answers and gold" not in page.content.decode()


def test_expert_hours_follow_the_seconds_for_a_pair(page_of, filled):
    text = page_of("pooling:figures", filled.slug, seconds="600", n_judges="5")
    row = re.search(r"This pool</th>(.*?)</tr>", text, re.DOTALL)
    assert row is not None
    assert re.findall(r">([\d.,]+)<", row.group(1)) == ["12", "2.0", "10.0"]


def test_nonsense_seconds_are_refused_and_the_usual_hours_stay(page_of, filled):
    text = page_of("pooling:figures", filled.slug, seconds="-1", n_judges="3")
    assert "errorlist" in text
    assert re.search(r"This pool</th><td class=\"num\">12</td>", text)


def test_a_pool_that_is_being_filled_asks_for_news_every_second(page_of, pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    text = page_of("pooling:pool", pool.slug)
    assert reverse("pooling:figures", args=[pool.slug]) not in text
    assert page_of("pooling:figures", pool.slug)
    assert 'hx-trigger="every 1s"' in text
    assert len(re.findall("Next in line|jobs? ahead", text)) == len(MODELS)


def test_the_progress_of_a_running_model_is_shown_with_speed_and_time_left(page_of, pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    Job.objects.filter(pk=pool.sources.first().job.pk).update(
        state=JobState.RUNNING, n_done=600, n_total=725, rate=12.5, note="embedding", n_attempts=2
    )
    text = page_of("pooling:progress", pool.slug)
    for words in ("600 of 725", "12.5", "10 s", "attempt 2", "embedding"):
        assert words in text


def test_when_the_last_model_ends_the_page_is_loaded_anew(admin, filled):
    client, address = signed_in(admin), reverse("pooling:progress", args=[filled.slug])
    response = client.get(address)
    assert response.status_code == 286  # the polling stops, and static/js/lib/jobs.js reloads
    assert "every 1s" not in response.content.decode()
    assert "data-reload-when-done" in response.content.decode()
    page = client.get(reverse("pooling:pool", args=[filled.slug])).content.decode()
    assert "data-reload-when-done" not in page


def test_a_pool_whose_models_are_more_than_one_person_may_have_waits_to_be_started(
    admin, posted, settings
):
    settings.MAX_OPEN_JOBS = 1
    client = signed_in(admin)
    reply = posted()
    pool = Pool.objects.get()
    assert reply.status_code == 302
    assert [source.job for source in pool.sources.all()] == [None, None]
    [told] = [str(message) for message in get_messages(reply.wsgi_request)]
    assert "waits to be started: You have 0 jobs waiting or running" in told
    assert "Start them one by one" in told
    text = client.post(reverse("pooling:start", args=[pool.slug]), follow=True).content.decode()
    assert "2 models cannot be queued now" in text
    assert "Start all" in text
    one_by_one = [
        f'action="/pools/my-pool/models/{position}/retry/"' in text for position in (0, 1)
    ]
    assert one_by_one == [True, True]
    client.post(reverse("pooling:retry", args=[pool.slug, 0]))
    assert [source.job is None for source in pool.sources.all()] == [False, True]
    text = client.post(reverse("pooling:retry", args=[pool.slug, 1]), follow=True).content.decode()
    assert "You have 1 jobs waiting or running" in text
    settings.MAX_OPEN_JOBS = 2
    text = client.post(reverse("pooling:start", args=[pool.slug]), follow=True).content.decode()
    assert "1 models queued" in text
    assert "Start all" not in text


def test_models_that_were_never_started_can_be_cancelled_and_tried_again(admin, pool_of):
    pool = pool_of()
    client = signed_in(admin)
    client.post(reverse("pooling:cancel", args=[pool.slug]))
    assert [source.state for source in pool.sources.all()] == ["cancelled", "cancelled"]
    text = client.get(reverse("pooling:pool", args=[pool.slug])).content.decode()
    assert "every 1s" not in text
    assert 'action="/pools/first-pool/delete/"' in text
    assert text.count("Try again<") == 2
    client.post(reverse("pooling:retry", args=[pool.slug, 1]))
    assert [source.state for source in pool.sources.all()] == ["cancelled", "queued"]


@pytest.mark.parametrize("moment", ["before its figures", "before it is settled"])
def test_the_page_asks_on_until_the_pool_is_settled(
    admin, pool_of, annotators, monkeypatch, moment
):
    pool = pool_of(specs=["random:1"])
    start_pool(pool=pool, owner=None)
    client, seen = signed_in(admin), []

    def look(**_):
        assert Pool.objects.get(pk=pool.pk).state == PoolState.COMPLETE
        response = client.get(reverse("pooling:progress", args=[pool.slug]))
        page = client.get(reverse("pooling:pool", args=[pool.slug])).content.decode()
        seen.extend([(response.status_code, "every 1s" in page), "not asked yet" in page])

    at: Any
    if moment == "before its figures":
        at, name = fill, "update_stats"
    else:
        at, name = settle, "settle_pool"
    real = getattr(at, name)
    monkeypatch.setattr(at, name, lambda **given: (look(), real(**given)))
    tasks.run_source(str(pool.sources.get().job.uid))
    assert seen == [(200, True), False]
    page = client.get(reverse("pooling:pool", args=[pool.slug])).content.decode()
    assert "every 1s" not in page
    assert re.search(r"<dt>pairs to judge</dt><dd>9</dd>", page)


def test_a_failed_model_is_shown_with_its_reason_and_the_pool_says_so(page_of, filled, researcher):
    source = filled.sources.first()
    filled.sources.filter(pk=source.pk).update(
        done_at=None,
        job=Job.objects.create(
            task="t", subject="s", title="t", state=JobState.FAILED,
            error="No weights for it.", traceback="Traceback: secret",
        ),
    )  # fmt: skip
    text = page_of("pooling:pool", filled.slug)
    assert "No weights for it." in text
    assert "Not every model has proposed." in text
    assert "Complete without some models" in text
    assert "Traceback: secret" in text
    address = reverse("pooling:pool", args=[filled.slug])
    assert "Traceback: secret" not in signed_in(researcher).get(address).content.decode()


def test_cancel_and_retry_and_delete(admin, pool_of):
    pool = pool_of()
    client = signed_in(admin)
    client.post(reverse("pooling:start", args=[pool.slug]))
    assert Pool.objects.get().state == PoolState.FILLING
    client.post(reverse("pooling:stop", args=[pool.slug, 0]))
    states = [source.state for source in pool.sources.order_by("position")]
    assert states == ["cancelled", "queued"]
    client.post(reverse("pooling:cancel", args=[pool.slug]))
    assert Pool.objects.get().state == PoolState.FAILED
    client.post(reverse("pooling:retry", args=[pool.slug, 1]))
    assert Pool.objects.get().state == PoolState.FILLING
    client.post(reverse("pooling:delete", args=[pool.slug]), follow=True)
    assert Pool.objects.exists()
    client.post(reverse("pooling:cancel", args=[pool.slug]))
    client.post(reverse("pooling:delete", args=[pool.slug]))
    assert not Pool.objects.exists()


FORM = {
    "name": "My pool", "query_catalog": "", "models": "\n".join(MODELS), "k": "3",
    "how": "sample", "n_queries": "4", "seed": "0", "names": "", "filters": "",
    "exclude_same_product": "on", "seconds": "15", "n_judges": "3",
}  # fmt: skip


@pytest.fixture
def posted(admin, catalog_of):
    """Send the form of a new pool with some fields changed."""
    catalog = catalog_of(12)

    def post(address="pooling:new", *, follow=False, **changes):
        fields = {**FORM, "catalog": str(catalog.pk), **changes}
        return signed_in(admin).post(reverse(address), fields, follow=follow)

    return post


def test_the_form_makes_a_pool_and_starts_its_models(posted, admin):
    response = posted(filters="colour=red\ncolour=blue")
    pool = Pool.objects.get()
    assert response.headers["Location"] == reverse("pooling:pool", args=["my-pool"])
    assert pool.created_by == admin
    assert pool.queries.count() == 4
    assert pool.rule.filters == {"colour": ("red", "blue")}
    assert list(pool.sources.values_list("spec", flat=True)) == MODELS
    assert pool.state == PoolState.FILLING


def test_a_preset_is_spelled_out(posted):
    posted(models="offline")
    assert "timm:tf_efficientnet_lite0" in Pool.objects.get().sources.values_list("spec", flat=True)


@pytest.mark.parametrize("address", ["pooling:preview", "pooling:new"])
@pytest.mark.parametrize("has_unit", [False, True])
def test_a_model_that_is_slow_on_this_processor_is_told(posted, monkeypatch, address, has_unit):
    monkeypatch.setattr("lookalike.backbones.slow_precision.has_bfloat16_unit", lambda _: has_unit)
    response = posted(address, follow=True, models="timm:tf_efficientnet_lite0@bfloat16")
    assert ("no unit for bfloat16" in response.content.decode()) == (not has_unit)


def test_a_worker_with_a_gpu_takes_what_is_slow_here(posted, monkeypatch):
    monkeypatch.setattr("lookalike.backbones.slow_precision.has_bfloat16_unit", lambda _: False)
    Worker.objects.create(name="gpu", queue="device.gpu", device="cuda:0")
    text = posted("pooling:preview", models="timm:tf_efficientnet_lite0@bfloat16").content.decode()
    assert "no unit for bfloat16" not in text


def test_a_list_may_be_typed_or_uploaded(posted):
    posted(how="list", names="photos/003.jpg", n_queries="")
    upload = SimpleUploadedFile("list.txt", b"\xef\xbb\xbfphotos/001.jpg\r\nphotos/002.jpg\r\n")
    posted(how="list", names_file=upload, name="Second")
    assert [pool.queries.count() for pool in Pool.objects.order_by("id")] == [1, 2]


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"k": "0"}, "k", "1 to 11"),
        ({"k": "12"}, "k", "1 to 11"),
        ({"models": "timm:"}, "models", "lacks a name"),
        ({"models": "resnet"}, "models", "names no backbone"),
        ({"models": " , "}, "models", "at least one model"),
        ({"n_queries": "13"}, "n_queries", "only 12"),
        ({"n_queries": "0"}, "n_queries", "at least 1"),
        ({"n_queries": ""}, "n_queries", "how many"),
        ({"filters": "colour=mauve"}, "n_queries", "colour = mauve"),
        ({"filters": "mauve"}, "filters", "not a filter"),
        ({"how": "list"}, "names", "Give a list"),
        ({"how": "list", "names": "a.jpg"}, "names", "a.jpg"),
        ({"name": "new"}, "name", "choose another"),
        ({"seed": "-1"}, "seed", "greater than or equal to 0"),
        ({"catalog": "9999"}, "catalog", "Select a valid choice"),
    ],
)
def test_a_wrong_field_is_named_beside_it_and_nothing_is_made(posted, changes, field, words):
    response = posted(**changes)
    form = response.context["form"]
    assert list(form.errors) == [field]
    assert words in str(form.errors[field])
    assert not Pool.objects.exists()


def test_a_list_that_is_no_text_is_refused_by_its_name(posted):
    response = posted(
        how="list", names_file=SimpleUploadedFile("list.xls", b"\xd0\xcf\x11\xe0\xa1")
    )
    assert "list.xls is not UTF-8" in str(response.context["form"].errors["names_file"])


def test_a_name_that_is_taken_is_refused_beside_the_name(posted):
    posted()
    response = posted()
    assert "already" in str(response.context["form"].errors["name"])


def test_the_preview_bounds_pairs_and_hours_before_anything_is_made(posted):
    text = posted("pooling:preview", name="", seconds="30").content.decode()
    # 4 queries, 2 models, k 3: 12 to 24 pairs; brute force 4 x 11 = 44
    assert "<strong>12</strong> to <strong>24</strong>" in text
    assert "44 pairs" in text
    assert "0.1 to 0.2" in text
    assert not Pool.objects.exists()


def test_the_preview_counts_only_queries_that_pass_the_filters(posted):
    text = posted("pooling:preview", how="all", filters="colour=red").content.decode()
    assert "<strong>12</strong> to <strong>24</strong>" in text


@pytest.mark.parametrize("changes", [{"catalog": ""}, {"models": ""}, {"k": ""}, {"k": "99"}])
def test_the_preview_of_too_little_says_what_is_missing(posted, changes):
    assert "Choose a catalog" in posted("pooling:preview", **changes).content.decode()


def test_attributes_of_the_chosen_catalog_are_suggested(page_of, catalog_of):
    catalog = catalog_of(6)
    text = page_of("pooling:attributes", catalog=str(catalog.pk))
    assert 'data-adds="colour=red"' in text
    assert "data-adds" not in page_of("pooling:attributes", catalog="x")


def test_without_a_catalog_the_form_says_what_to_do_first(page_of):
    assert "Import pictures first" in page_of("pooling:new")
    assert not Catalog.objects.exists()


def test_a_campaign_is_opened_from_the_pool(admin, filled, annotators):
    address = reverse("pooling:new_campaign", args=[filled.slug])
    fields = {
        "name": "Round one",
        "panel": [str(person.pk) for person in annotators],
        "tie_rule": "undecided",
        "asking_order": "shuffled",
        "guidelines": "Be kind.",
        "seed": "4",
    }
    response = signed_in(admin).post(address, fields, follow=True)
    campaign = Campaign.objects.get()
    assert (campaign.tie_rule, campaign.seed, campaign.owner) == ("undecided", 4, admin)
    assert "Round one" in response.content.decode()
    assert 'action="/pools/first-pool/delete/"' not in response.content.decode()


def test_likely_pairs_first_is_offered_with_its_bias_and_told_on_the_campaigns_page(
    admin, filled, annotators
):
    client = signed_in(admin)
    address = reverse("pooling:new_campaign", args=[filled.slug])
    page = client.get(address)
    assert page.context["form"]["asking_order"].initial == "shuffled"
    for words in ("Order of the pairs", "can guess that early pairs", "favours what the models"):
        assert words in page.content.decode()
    fields = {
        "name": "Round one",
        "panel": [str(person.pk) for person in annotators],
        "tie_rule": "negative",
        "asking_order": "phases",
        "seed": "4",
    }
    client.post(address, fields)
    assert Campaign.objects.get().asking_order == "phases"
    shown = client.get(reverse("annotation:campaign", args=["round-one"])).content.decode()
    assert "likely pairs first, in phases" in shown
    fields |= {"name": "Round two", "asking_order": "best"}
    reply = client.post(address, fields)
    assert "Select a valid choice" in str(reply.context["form"].errors["asking_order"])


def test_a_draft_can_be_given_other_rules_before_its_queues_are_drawn(admin, filled, annotators):
    address = reverse("pooling:new_campaign", args=[filled.slug])
    fields = {
        "name": "Round one",
        "panel": [str(person.pk) for person in annotators],
        "tie_rule": "negative",
        "asking_order": "shuffled",
        "seed": "0",
        "draft": "yes",
    }
    client = signed_in(admin)
    response = client.post(address, fields)
    campaign = Campaign.objects.get()
    assert response.headers["Location"] == reverse("annotation:campaign", args=["round-one"])
    assert campaign.state == "draft"
    assert not QueueEntry.objects.exists()
    rules = {
        "name": "Round one", "tie_rule": "negative", "serving": "k_of_n", "k": "2", "seed": "3",
        "lease_minutes": "30", "repeat_percent": "5", "mirror_percent": "0", "pass_percent": "80",
    }  # fmt: skip
    client.post(reverse("annotation:save_settings", args=["round-one"]), rules)
    client.post(reverse("annotation:move", args=["round-one", "open"]))
    campaign.refresh_from_db()
    assert (campaign.state, campaign.serving, campaign.k) == ("open", "k_of_n", 2)


def test_a_campaign_without_a_panel_or_with_an_insider_is_refused(admin, filled, annotators):
    address = reverse("pooling:new_campaign", args=[filled.slug])
    fields = {"name": "c", "tie_rule": "negative", "asking_order": "shuffled", "seed": "0"}
    response = signed_in(admin).post(address, fields)
    assert "Choose at least one judge." in str(response.context["form"].errors["panel"])
    response = signed_in(admin).post(address, {**fields, "panel": [str(admin.pk)]})
    assert "Select a valid choice" in str(response.context["form"].errors["panel"])
    assert not Campaign.objects.exists()


def test_a_campaign_that_is_taken_by_name_is_refused_beside_the_name(admin, filled, annotators):
    open_pool_campaign(pool=filled, name="c", panel=annotators)
    address = reverse("pooling:new_campaign", args=[filled.slug])
    fields = {"name": "c", "tie_rule": "negative", "asking_order": "shuffled", "seed": "0"}
    response = signed_in(admin).post(address, {**fields, "panel": [str(annotators[0].pk)]})
    assert "already" in str(response.context["form"].errors["name"])


def test_a_name_that_is_taken_is_refused_while_it_is_typed_and_a_free_one_is_offered(
    page_of, filled, pool_of, annotators
):
    pool_of(name="First pool 2", catalog=filled.catalog)
    text = page_of("pooling:name", name=" First  POOL")
    assert 'data-fills="First  POOL 3"' in text
    assert "Short name" in page_of("pooling:name", name="First pool 3")
    assert "address of a page" in page_of("pooling:name", name="New")
    assert "at least one letter" in page_of("pooling:name", name="\0 –!")
    assert "made from the name" in page_of("pooling:name", name="  ")
    open_pool_campaign(pool=filled, name="<b>Round</b>", panel=annotators)
    assert "<b>" not in page_of("pooling:campaign_name", name="<b>Round</b>")
    assert "There is a campaign" in page_of("pooling:campaign_name", name="<b>Round</b>")
    free = page_of("catalog:name", slug=filled.catalog.slug, name="free")
    assert f'data-fills="{filled.catalog.slug}-2"' in free
    for name in ("pooling:name", "pooling:campaign_name", "catalog:name"):
        assert signed_in(annotators[0]).get(reverse(name)).status_code == 403


def test_a_misspelt_model_is_refused_before_anything_is_made(admin, filled):
    asked = {"name": "x", "catalog": filled.catalog.pk, "models": "timm:resnet5O", "k": 1}
    text = signed_in(admin).post(reverse("pooling:preview"), asked).content.decode()
    assert "timm has no model" in text
    assert "Did you mean resnet50" in text


def test_models_are_ticked_with_size_and_what_is_ready(admin, catalog_of, page_of):
    catalog = catalog_of(4)
    spec = "descriptor:hog-shape"
    embed(catalog, spec, np.eye(4))
    embed(catalog, "timm:resnet18.a1_in1k", np.eye(4))
    text = page_of("pooling:models", catalog=catalog.pk, ticked=spec)
    ticked = text[text.index(f'value="{spec}" checked') :]
    assert ticked.index("Vectors ready") < ticked.index("</li>")
    assert "Used before" in text
    paper = text[text.index("The paper&#x27;s pool") :]
    assert paper.index("Fetched at first use") < paper.index("356 MB")
    asked = {"name": "Ticked", "catalog": catalog.pk, "k": 1, "how": "all", "seed": 0,
             "ticked": [spec, "random:1"], "models": "random:1 k=2"}  # fmt: skip
    reply = signed_in(admin).post(reverse("pooling:new"), asked)
    assert reply.status_code == 302, reply.context["form"].errors
    sources = Pool.objects.get(slug="ticked").sources.order_by("position")
    assert list(sources.values_list("spec", "k")) == [(spec, 1), ("random:1", 2)]
    asked |= {"name": "Forged", "ticked": "embeddings:../../etc"}
    assert signed_in(admin).post(reverse("pooling:new"), asked).context["form"].errors["models"]


def test_a_pool_speaks_of_depths_of_their_own_only_where_a_model_has_one(page_of, pool_of):
    pool = pool_of()
    assert "by each model, other" in page_of("pooling:pool", pool.slug)
    pool.sources.filter(position=0).update(k=pool.k + 2)
    assert "by each model without a" in page_of("pooling:pool", pool.slug)


def test_a_model_that_has_just_begun_says_so(page_of, pool_of):
    pool = pool_of()
    source = pool.sources.all()[0]
    job = Job.objects.create(task="t", subject="s", title="t", state=JobState.RUNNING)
    pool.sources.filter(pk=source.pk).update(job=job)
    assert ">Beginning" in page_of("pooling:pool", pool.slug)
