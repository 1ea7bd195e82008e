"""Judgements of templates and triplets over the API: what was picked, from what, and by whom."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign, Judgement
from audit.models import Entry
from catalog.models import Image
from conditional.campaigns.services import ask_panel
from tests.clients import API, Caller
from tests.conditional.cases import built_set, judges_of, make_catalog, say, subjects_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(db: None) -> Campaign:
    panel = [User.objects.create_user(f"judge {n}", role=Role.ANNOTATOR) for n in range(3)]
    asked = built_set(make_catalog())
    return ask_panel(asked_set=asked, name="Check", panel=panel, n_questions=3, seed=1)


def test_an_admin_reads_what_each_judge_picked(campaign, admin, researcher):
    first, second, *_ = subjects_of(campaign)
    judges = judges_of(campaign)
    say(judges[0], first, 2)
    say(judges[1], first, "several")
    say(judges[2], second, "skip", reason="bad_image")
    path = f"/campaigns/{campaign.slug}/judgements"
    part = admin.get(path, limit=2)
    found = part["items"] + admin.get(path, limit=2, after=part["next"])["items"]
    assert [one["answer"] for one in found] == ["pick:2", "several", "skip"]
    assert [one["subject"] for one in found] == [str(first.uid)] * 2 + [str(second.uid)]
    assert found[0]["condition"] == first.condition
    uids = Image.objects.in_bulk(first.candidates)
    assert found[0]["choices"] == [str(uids[pk].uid) for pk in first.candidates]
    assert found[0]["picked"] == found[0]["choices"][2]
    assert found[1]["picked"] is None
    assert found[0]["query"] == str(first.reference.uid)
    assert [one["judge"] for one in found] == [1, 2, 3]
    assert len(admin.get(path, answer="several")["items"]) == 1
    refused = admin.get(path, 422, answer="similar")
    assert "pick:N, none, several, bad_condition" in json.dumps(refused)
    researcher.get(path, 403)
    assert Entry.objects.filter(action="exported").exists()


def send(caller: Caller, path: str, given: Mapping[str, object]) -> object:
    url = f"{API}{path}"
    reply = Client().post(url, given, content_type="application/json", headers=caller.headers)
    assert reply.status_code == 200, reply.content
    return reply.json()


def test_a_choice_is_excluded_and_counted_again(campaign, admin):
    [first, *_] = subjects_of(campaign)
    say(judges_of(campaign)[0], first, 1)
    path = f"/campaigns/{campaign.slug}/judgements"
    [one] = admin.get(path)["items"]
    given = {"judgements": [one["uid"]], "reason": "did not look"}
    assert send(admin, f"{path}/exclude", given) == {"n": 1}
    [excluded] = admin.get(path)["items"]
    assert (excluded["is_excluded"], excluded["is_counted"]) == (True, False)
    assert send(admin, f"{path}/count", {"judgements": [one["uid"]]}) == {"n": 1}
    assert Judgement.objects.get().is_counted


def test_its_campaign_says_its_kind_and_has_no_agreement_on_pairs(campaign, researcher):
    shown = researcher.get(f"/campaigns/{campaign.slug}")
    assert (shown["task_kind"], shown["n_pairs"]) == ("template", 3)
    assert campaign.slug in [one["slug"] for one in researcher.get("/campaigns")["items"]]
    assert researcher.get(f"/campaigns/{campaign.slug}/progress")["n_answers"] == 0
    refused = researcher.get(f"/campaigns/{campaign.slug}/agreement", 409)
    assert "asks about no pairs" in refused["message"]
