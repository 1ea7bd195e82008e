"""What the API says is what the database holds, part by part."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from annotation.models import Campaign, Judgement
from catalog.models import Catalog, Image
from pooling.models import Proposal
from tests.clients import Caller


def all_of(caller: Caller, path: str, limit: int, **query: Any) -> list[dict[str, Any]]:
    """Every item of a list, read in parts of `limit`."""
    found: list[dict[str, Any]] = []
    after = ""
    while True:
        part = caller.get(path, after=after, limit=limit, **query)
        assert len(part["items"]) <= limit
        found += part["items"]
        if part["next"] is None:
            return found
        assert len(part["items"]) == limit
        after = part["next"]


def test_a_person_learns_who_they_are(researcher):
    told = researcher.get("/me")
    assert told["username"] == researcher.person.username
    assert told["may"] == ["read", "runs:write"]


def test_catalogs_are_listed_and_shown_with_counts_and_attributes(world, researcher):
    [listed] = researcher.get("/catalogs")["items"]
    assert listed["slug"] == world.catalog.slug
    assert (listed["n_images"], listed["n_products"]) == (30, 10)
    shown = researcher.get(f"/catalogs/{world.catalog.slug}")
    assert [(a["name"], a["n_values"]) for a in shown["attributes"]] == [("colour", 2), ("kind", 3)]


@pytest.mark.parametrize("limit", [1, 7, 30, 500])
def test_the_parts_of_a_list_are_the_list(world, researcher, limit):
    path = f"/catalogs/{world.catalog.slug}/images"
    found = all_of(researcher, path, limit)
    assert [image["uid"] for image in found] == [str(image.uid) for image in world.images]
    assert found[4]["paths"] == ["views of/4.png"]
    assert found[4]["attributes"] == {"colour": "red", "kind": "b"}


def test_images_are_chosen_by_product_and_attributes(world, researcher):
    path = f"/catalogs/{world.catalog.slug}/images"
    assert len(all_of(researcher, path, 10, product="p3")) == 3
    assert len(all_of(researcher, path, 10, attribute="colour=red")) == 15
    both = all_of(researcher, path, 10, attribute=["kind=a", "kind=b", "colour=red"])
    assert len(both) == 10
    assert all_of(researcher, path, 10, search="zzz") == []


def test_a_list_that_grows_while_it_is_read_repeats_nothing(world, researcher):
    first = researcher.get("/catalogs", limit=1)
    assert first["next"] is None
    Catalog.objects.create(slug="second", name="Second")
    Catalog.objects.create(slug="third", name="Third")
    part = researcher.get("/catalogs", limit=2)
    Catalog.objects.filter(slug="second").delete()  # the anchor itself goes
    rest = researcher.get("/catalogs", limit=2, after=part["next"])
    assert [one["slug"] for one in rest["items"]] == ["third"]


def test_pools_tell_models_states_and_figures(world, researcher):
    [listed] = researcher.get("/pools")["items"]
    assert listed["state"] == "complete"
    assert listed["campaigns"] == [world.campaign.slug]
    shown = researcher.get(f"/pools/{world.pool.slug}")
    assert [(m["spec"], m["state"], m["n_proposals"]) for m in shown["models"]] == [
        (source.spec, "done", source.n_proposals) for source in world.pool.sources.all()
    ]
    assert shown["n_pairs"] == world.campaign.n_questions
    assert shown["n_queries"] == 8


@pytest.mark.parametrize("limit", [1, 9, 500])
def test_an_admin_reads_every_pair_with_everybody_who_proposed_it(world, admin, limit):
    found = all_of(admin, f"/pools/{world.pool.slug}/pairs", limit)
    told = {
        (pair["query"], pair["candidate"], by["model"], by["rank"], by["score"])
        for pair in found
        for by in pair["proposed_by"]
    }
    stored = {
        (str(p.query.uid), str(p.candidate.uid), p.source.spec, p.rank + 1, p.score)
        for p in Proposal.objects.filter(pool=world.pool)
    }
    assert told == stored
    assert len(found) == world.campaign.n_questions


def test_campaigns_progress_and_agreement_agree_with_what_was_judged(world, researcher):
    [listed] = researcher.get("/campaigns")["items"]
    n = world.campaign.n_questions
    assert (listed["n_pairs"], listed["n_done"], listed["n_wanted"]) == (n, 3 * n, 3 * n)
    assert researcher.get(f"/campaigns/{world.campaign.slug}") == listed
    progress = researcher.get(f"/campaigns/{world.campaign.slug}/progress")
    assert progress["share_done"] == 1
    assert [judge["n_done"] for judge in progress["judges"]] == [n] * 3
    assert world.judges[0].username not in str(progress)
    agreement = researcher.get(f"/campaigns/{world.campaign.slug}/agreement")
    assert agreement["n_votes"] == 3 * n
    assert agreement["percent"] == pytest.approx(1 / 3)  # two against one on every pair


def test_a_draft_is_its_admins_alone(world, researcher, admin):
    draft = Campaign.objects.create(slug="draft", name="Draft")
    for path in ("", "/progress", "/agreement"):
        researcher.get(f"/campaigns/draft{path}", 404)
        admin.get(f"/campaigns/draft{path}")
    assert draft.slug not in str(researcher.get("/campaigns"))
    told = admin.get("/campaigns/draft/agreement")
    assert told["percent"] is None, "nothing is defined where nothing was judged"
    assert told["n_votes"] == 0


def test_an_admin_reads_every_judgement(world, admin):
    found = all_of(admin, f"/campaigns/{world.campaign.slug}/judgements", 7)
    assert len(found) == Judgement.objects.count() == 3 * world.campaign.n_questions
    stored = Judgement.objects.select_related("question__query").order_by("pk")[0]
    assert found[0]["query"] == str(stored.question.query.uid)
    assert found[0]["answer"] == stored.answer
    assert found[0]["annotator"] == stored.member.annotator.username
    assert {one["judge"] for one in found} == {1, 2, 3}
    assert all_of(admin, f"/campaigns/{world.campaign.slug}/judgements", 50, kind="gold") == []


def test_results_give_each_measure_with_the_queries_it_is_the_mean_of(world, result, researcher):
    [listed] = researcher.get("/results", campaign=world.campaign.slug)["items"]
    assert listed["uid"] == str(result.uid)
    assert researcher.get("/results", campaign="other")["items"] == []
    shown = researcher.get(f"/results/{result.uid}")
    stored = {model["name"]: model["measures"] for model in result.summary["models"]}
    assert {model["name"] for model in shown["models"]} == set(stored)
    for model in shown["models"]:
        for name, told in model["measures"].items():
            assert told["value"] == stored[model["name"]][name]["value"]
            assert told["n_defined"] == stored[model["name"]][name]["n_defined"]
            assert (told["low"], told["high"]) == (None, None)  # fewer than ten queries
    assert shown["inputs"] == result.inputs
    assert shown["labels"]["n_pairs"] == world.campaign.n_questions


def test_what_does_not_exist_is_not_found(world, researcher):
    nothing = "00000000-0000-4000-8000-000000000000"
    for path in (
        "/catalogs/none", "/catalogs/none/images", f"/images/{nothing}", "/pools/none",
        "/campaigns/none", "/campaigns/none/progress", f"/results/{nothing}", f"/runs/{nothing}",
        f"/uploads/{nothing}", f"/images/{nothing}/thumb", "/nowhere", "/catalogs/a b",
    ):  # fmt: skip
        assert researcher.get(path, 404)["code"] == "not_found", path


def test_a_picture_whose_file_is_missing_is_not_found(world, researcher):
    Image.objects.filter(pk=world.images[0].pk).update(sha256=secrets.token_hex(32))
    assert researcher.get(f"/images/{world.images[0].uid}/thumb", 404)["code"] == "not_found"
    assert researcher.get(f"/images/{world.images[0].uid}/huge", 404)["code"] == "not_found"
