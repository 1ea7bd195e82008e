"""One form has all that an opening fixes; gold comes at any time and fits together."""

from __future__ import annotations

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.models import Campaign, Gold, QueueEntry
from annotation.queries.opening import opening_digest, opening_summary, opening_warnings
from annotation.services import add_gold, change_settings, open_campaign
from annotation.services.adjudication import gold_from_question
from annotation.services.gold import GoldPair
from catalog.models import SourceFile
from tests.clients import Browser, signed_in
from tests.worlds import build_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(people):
    [ada, bo] = people(2, Role.ADMIN)
    return signed_in(ada), signed_in(bo), ada


def fields_of(page) -> dict[str, object]:
    """What a browser sends of a form that nobody has touched, what was there included."""
    sent = {}
    form = page.context["form"]
    for bound in form:
        value = bound.value()
        if bound.field.disabled or value is False or value is None:
            continue
        sent[bound.html_name] = value
        sent[bound.html_initial_name] = value
    return sent


def test_one_form_makes_a_draft_with_every_rule_and_the_summary_opens_it(desk):
    first, _, _ = desk
    world = build_world()
    url = reverse("pooling:new_campaign", args=[world.pool.slug])
    given = {
        "name": "Second", "panel": [one.pk for one in world.judges], "tie_rule": "undecided",
        "asking_order": "shuffled", "seed": "3", "serving": "k_of_n", "k": "2",
        "lease_minutes": "7", "closes_settled": "on", "repeat_percent": "5",
        "mirror_percent": "4", "pass_percent": "75", "guidelines": "# Look", "open": "yes",
    }  # fmt: skip
    refused = first.post(url, {**given, "k": "9"})
    assert "k = 9 judges cannot be had" in refused.content.decode()
    assert not Campaign.objects.filter(slug="second").exists()
    reply = first.post(url, given, follow=True)
    campaign = Campaign.objects.get(slug="second")
    assert campaign.state == "draft"
    told = {name: getattr(campaign, name) for name in given if hasattr(campaign, name)}
    told.pop("name"), told.pop("panel"), told.pop("guidelines", None)
    assert told == {
        "tie_rule": "undecided", "asking_order": "shuffled", "seed": 3, "serving": "k_of_n",
        "k": 2, "lease_minutes": 7, "closes_settled": True, "repeat_percent": 5,
        "mirror_percent": 4, "pass_percent": 75,
    }  # fmt: skip
    assert not campaign.state_changes.exists(), "what it is made with is no change"
    page = reply.content.decode()
    for words in ("2 of 3 judges", "7 minutes", "fixed", "2 votes can tie"):
        assert words in page
    move = reverse("annotation:move", args=["second", "open"])
    first.post(move, {"seen": reply.context["digest"]})
    campaign.refresh_from_db()
    assert campaign.state == "open"


def test_what_was_confirmed_is_what_opens(campaign_of, desk):
    _, _, ada = desk
    draft = campaign_of(1, 4, 3, is_open=False)
    seen = opening_digest(draft)
    change_settings(campaign=draft, by=ada, repeat_percent=20)
    with pytest.raises(ChangedMeanwhileError, match="meanwhile"):
        open_campaign(campaign=draft, by=ada, seen=(seen, opening_digest))
    draft.refresh_from_db()
    assert draft.state == "draft"
    open_campaign(campaign=draft, by=ada, seen=(opening_digest(draft), opening_digest))
    assert {one.name: one.value for one in opening_summary(draft)}["Silent repeats"] == "20 %"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "no guidelines"),
        ({}, "Nothing checks the judges"),
        ({"serving": "k_of_n", "k": 2}, "can tie"),
        ({"serving": "k_of_n", "k": 2, "closes_settled": True}, "one “different” settles"),
    ],
)
def test_the_summary_warns(rules, words, campaign_of):
    draft = campaign_of(1, 4, 3, is_open=False)
    change_settings(campaign=draft, by=None, **rules)
    draft.refresh_from_db()
    assert any(words in warning for warning in opening_warnings(draft))


def test_two_admins_who_change_the_same_setting_see_it_and_lose_nothing(campaign_of, desk):
    first, second, ada = desk
    draft = campaign_of(1, 4, 3, is_open=False)
    page, save = (reverse(f"annotation:{name}", args=[draft.slug])
                  for name in ("settings", "save_settings"))  # fmt: skip
    mine, theirs = fields_of(first.get(page)), fields_of(second.get(page))
    assert first.post(save, {**mine, "repeat_percent": 5, "pass_percent": 90}).status_code == 302
    late = second.post(save, {**theirs, "repeat_percent": 9, "lease_minutes": 12})
    assert late.status_code == 422
    told = late.content.decode()
    assert f"{ada.username} has changed the same settings" in told
    assert "Silent repeats, %: 0 → 5, yours: 9" in told
    draft.refresh_from_db()
    assert (draft.repeat_percent, draft.lease_minutes) == (5, 30)
    again = fields_of(late)
    assert (again["repeat_percent"], again["pass_percent"]) == ("9", 90)
    form = late.context["form"]
    again["initial-repeat_percent"] = form.data["initial-repeat_percent"]
    again["initial-lease_minutes"] = form.data["initial-lease_minutes"]
    assert second.post(save, again).status_code == 302
    draft.refresh_from_db()
    assert (draft.repeat_percent, draft.lease_minutes, draft.pass_percent) == (9, 12, 90)


def test_the_history_and_refusals_name_settings_as_the_form_does(campaign_of, desk):
    first, _, ada = desk
    draft = campaign_of(1, 4, 3, is_open=False)
    page, save = (reverse(f"annotation:{name}", args=[draft.slug])
                  for name in ("settings", "save_settings"))  # fmt: skip
    given = fields_of(first.get(page))
    first.post(save, {**given, "serving": "k_of_n", "k": 2, "closes_settled": "on"})
    assert draft.state_changes.get().reason == (
        "Settings: Serving: Everyone judges every pair → Each pair is judged by k of the panel; "
        "Votes for each pair (k): 3 → 2; Close pairs early: no → yes"
    )
    with pytest.raises(CampaignError, match=r"^A pair is reserved for at least one minute"):
        change_settings(campaign=draft, by=ada, lease_minutes=0)
    campaign = open_campaign(campaign=draft, by=ada)
    with pytest.raises(CampaignError, match=r"^Silent repeats, %; Serving: cannot be changed"):
        change_settings(campaign=campaign, by=ada, repeat_percent=5, serving="everyone")


def test_two_admins_who_change_different_settings_both_get_theirs(campaign_of, desk):
    first, second, _ = desk
    draft = campaign_of(1, 4, 3, is_open=False)
    page, save = (reverse(f"annotation:{name}", args=[draft.slug])
                  for name in ("settings", "save_settings"))  # fmt: skip
    mine, theirs = fields_of(first.get(page)), fields_of(second.get(page))
    first.post(save, {**mine, "closes_settled": "on"})
    assert second.post(save, {**theirs, "lease_minutes": 12}).status_code == 302
    draft.refresh_from_db()
    assert (draft.closes_settled, draft.lease_minutes) == (True, 12)


# ---- gold ----
def test_a_check_added_while_judging_runs_stands_among_what_waits(campaign_of, pairs):
    campaign = campaign_of(3, 6, 2)
    early, late = (Browser(campaign, one.annotator) for one in campaign.panel.order_by("number"))
    early.walk()
    late.judge("similar", 4)
    seen = {question["uid"] for question in late.next()}
    [other] = pairs(1, 1)
    add_gold(campaign=campaign, purpose="gold", pairs=[GoldPair(other[0], other[1], "different")])
    entry = QueueEntry.objects.get(question__kind="gold")
    assert entry.member.annotator == late.person  # who has finished would see it for a check
    assert early.next() == []
    served = late.walk()
    assert str(entry.question.uid) in late.uids(served)
    assert seen <= {question["uid"] for question in served}
    assert len(served) == 3 * 6 - 4 + 1
    member = campaign.panel.get(annotator=late.person)
    assert (member.n_done, member.n_total) == (19, 19)


def test_a_check_on_a_pair_of_the_campaign_is_not_asked_beside_it(campaign_of):
    campaign = campaign_of(2, 6, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    [answered] = judge.judge()
    first = campaign.questions.get(uid=answered)
    open_one = campaign.questions.exclude(uid=answered).first()
    for question in (first, open_one):
        gold_from_question(campaign=campaign, question_uid=question.uid, target=campaign,
                           purpose="gold", answer="similar")  # fmt: skip
    asked = QueueEntry.objects.filter(question__kind="gold")
    assert [one.question.candidate_id for one in asked] == [first.candidate_id]


@pytest.mark.parametrize("purpose", ["training", "qualification"])
def test_what_begins_a_queue_needs_a_draft(purpose, campaign_of, pairs):
    campaign = campaign_of(1, 3, 1)
    [(query, candidate)] = pairs(1, 1)
    with pytest.raises(CampaignError, match="need a draft"):
        add_gold(
            campaign=campaign, purpose=purpose, pairs=[GoldPair(query, candidate, "similar", "so")]
        )


@pytest.mark.parametrize(
    ("first", "second"),
    [("gold", "qualification"), ("qualification", "training"), ("example", "gold")],
)
def test_a_pair_that_checks_serves_nothing_else_and_is_named(first, second, campaign_of, images):
    draft = campaign_of(1, 3, 1, is_open=False)
    one, two, three = images(3)
    SourceFile.objects.create(catalog=one.catalog, image=one, path="coats/1.jpg")
    add_gold(campaign=draft, purpose=first, pairs=[GoldPair(one.pk, two.pk, "similar", "so")])
    with pytest.raises(CampaignError, match=rf"In use already: {two.uid} and coats/1\.jpg"):
        add_gold(campaign=draft, purpose=second, pairs=[
            GoldPair(two.pk, one.pk, "similar", "so"),
            GoldPair(one.pk, three.pk, "similar", "so"),
        ])  # fmt: skip
    assert Gold.objects.count() == 1


def test_gold_that_contradicts_itself_is_refused_by_name(campaign_of, images):
    draft = campaign_of(1, 3, 1, is_open=False)
    one, two = images(2)
    add_gold(campaign=draft, purpose="training", pairs=[GoldPair(one.pk, two.pk, "similar", "so")])
    for purpose in ("training", "example", "gold"):
        with pytest.raises(CampaignError, match=f"contradicts itself.*{one.uid}"):
            add_gold(campaign=draft, purpose=purpose,
                     pairs=[GoldPair(one.pk, two.pk, "different", "no")])  # fmt: skip
    both = [GoldPair(one.pk, two.pk, "similar", "so"), GoldPair(two.pk, one.pk, "different", "no")]
    other = campaign_of(1, 3, 1, is_open=False)
    with pytest.raises(CampaignError, match="contradicts itself"):
        add_gold(campaign=other, purpose="example", pairs=both)
    assert Gold.objects.count() == 1


def test_a_disagreement_becomes_gold_from_its_page(campaign_of, desk):
    first, _, _ = desk
    campaign = campaign_of(1, 4, 2)
    for number, what in ((1, "similar"), (2, "different")):
        Browser(campaign, campaign.panel.get(number=number).annotator).judge(what, 2)
    question = campaign.questions.filter(judgements__isnull=False).first()
    page = first.get(reverse("annotation:pair", args=[campaign.slug, question.uid]))
    assert "Make it gold" in page.content.decode()
    told = first.post(
        reverse("annotation:pair_to_gold", args=[campaign.slug, question.uid]),
        {"answer": "different", "use": f"{campaign.slug}:example", "why": "other collar"},
        follow=True,
    )
    assert "It is gold of" in told.content.decode()
    assert Gold.objects.get().answer == "different"
