"""A paused judge gets nothing, is told so politely, and goes on where they were."""

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import PanelMember
from annotation.queries.numbers import campaign_numbers
from annotation.services import pause_judge, resume_judge, set_member_active
from annotation.services.reconciling import reconcile
from audit.models import Entry
from tests.clients import Browser, answer_to, signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 2}])
def test_a_paused_judge_gets_and_gives_nothing_until_resumed(rules, campaign_of, people):
    campaign = campaign_of(1, 6, 2, **rules)
    [admin] = people(1, Role.ADMIN)
    member, other = campaign.panel.order_by("number")
    judge = Browser(campaign, member.annotator)
    first, second, *_ = judge.next()
    judge.send(answer_to(first["uid"]))
    pause_judge(member=member, reason="held a key", by=admin)
    reply = judge.get("next")
    assert (reply["questions"], reply["state"], reply["is_own_pause"]) == ([], "paused", True)
    status, refused = judge.send(answer_to(second["uid"]))
    assert (status, refused["results"][0]["code"]) == (409, "paused")
    batch = [answer_to(second["uid"], "different"), answer_to(first["uid"], "different")]
    assert judge.send(*batch)[0] == 409
    home = judge.client.get(reverse("annotation:home")).content.decode()
    assert "An admin has paused your judging" in home
    assert "held a key" not in home + judge.client.get(judge.url("judge")).content.decode()
    assert Browser(campaign, other.annotator).get("next")["is_own_pause"] is False
    resume_judge(member=member, by=admin)
    assert judge.get("next")["state"] == "open"
    assert judge.send(answer_to(second["uid"]))[1]["results"][0]["status"] == "saved"
    told = Entry.objects.filter(action__startswith="judge_").order_by("pk")
    assert [entry.action for entry in told] == ["judge_paused", "judge_resumed"]


def test_pausing_needs_a_reason_and_someone_who_is_not_paused(campaign_of, people):
    campaign = campaign_of(1, 1, 1)
    client = signed_in(people(1, Role.ADMIN)[0])
    address = reverse("annotation:member", args=[campaign.slug, 1, "pause"])
    assert "Say why" in client.post(address, follow=True).content.decode()
    assert not PanelMember.objects.get().is_paused
    page = client.post(address, {"reason": "pace"}, follow=True).content.decode()
    assert "is paused" in page
    assert (
        "is paused already" in client.post(address, {"reason": "x"}, follow=True).content.decode()
    )
    resumed = reverse("annotation:member", args=[campaign.slug, 1, "resume"])
    assert "may go on" in client.post(resumed, follow=True).content.decode()
    with pytest.raises(CampaignError, match="is not paused"):
        resume_judge(member=campaign.panel.get(), by=people(1, Role.ADMIN)[0])


@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 2}])
def test_a_judge_who_is_removed_while_answering_loses_nothing_and_counts_once(rules, campaign_of):
    campaign = campaign_of(1, 6, 3, **rules)
    member = campaign.panel.get(number=1)
    judge = Browser(campaign, member.annotator)
    first, second, *_ = (answer_to(question["uid"]) for question in judge.next())
    judge.send(first)
    set_member_active(member=member, is_active=False)
    assert judge.send(first, second)[0] == 404  # the page says so, and keeps both
    assert campaign_numbers([campaign])[0].n_answers == 1
    set_member_active(member=member, is_active=True)
    _, reply = judge.send(first, second)
    assert [result["status"] for result in reply["results"]] == ["duplicate", "saved"]
    assert campaign_numbers([campaign])[0].n_answers == 2
    assert reconcile(campaign=campaign) == []
