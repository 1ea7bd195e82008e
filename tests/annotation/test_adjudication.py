"""Which pairs an admin is asked to rule on: all that nobody is going to judge any more."""

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.queries.labels import label_of
from annotation.queries.reviewing.adjudication import contested, rulings
from annotation.services import (
    add_gold,
    adjudicate,
    admit,
    close_campaign,
    import_judgements,
    open_campaign,
    reap_leases,
    set_member_active,
    withdraw_ruling,
)
from annotation.services.gold import GoldPair
from tests.clients import Browser, signed_in
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db


def judges_of(campaign):
    return [Browser(campaign, member.annotator) for member in campaign.panel.order_by("number")]


def judge_all(campaign, words):
    """Let each judge come for the one pair and say a word; None: comes, and says nothing yet."""
    for judge, word in zip(judges_of(campaign), words, strict=True):
        assert judge.next()
        if word:
            judge.judge(word)


def test_where_all_judges_are_needed_one_who_cannot_tell_leaves_it_to_the_admin(campaign_of):
    campaign = campaign_of(1, 1, 3, serving="k_of_n", k=3)
    judge_all(campaign, ["similar", "different", "cant_tell"])
    assert campaign.questions.get().n_free == 1
    assert contested(campaign).count() == 1


def test_a_pair_that_another_judge_could_still_be_lent_waits(campaign_of):
    campaign = campaign_of(1, 1, 4, serving="k_of_n", k=3)
    first, second, third, fourth = judges_of(campaign)
    for judge, word in ((first, "similar"), (second, "different"), (third, "cant_tell")):
        judge.judge(word)
    assert contested(campaign).count() == 0
    assert fourth.next()
    assert contested(campaign).count() == 0
    set_member_active(member=campaign.panel.get(number=4), is_active=False)
    assert contested(campaign).count() == 1


def test_a_lease_that_ran_out_may_be_given_to_the_same_judge_again(campaign_of):
    campaign = campaign_of(1, 1, 3, serving="k_of_n", k=3)
    judge_all(campaign, ["similar", "different", None])
    assert contested(campaign).count() == 0
    campaign.questions.get().entries.filter(state="open").update(lease_until=campaign.created_at)
    assert reap_leases() == 1
    assert contested(campaign).count() == 0


def test_nobody_waits_for_a_judge_who_did_not_qualify(campaign_of, pairs):
    campaign = campaign_of(1, 2, 3, is_open=False)
    gold = [GoldPair(query, candidate, "similar") for query, candidate in pairs(1, 2)]
    add_gold(campaign=campaign, purpose="qualification", pairs=gold)
    campaign = open_campaign(campaign=campaign)
    first, second, failing = judges_of(campaign)
    failing.judge("different", 2)
    for judge, word in ((first, "similar"), (second, "different")):
        judge.judge("similar", 2)
        assert len(judge.judge(word, 2)) == 2
    assert contested(campaign).count() == 2
    admit(member=campaign.panel.get(number=3))
    assert contested(campaign).count() == 0


def test_when_k_of_n_judge_one_who_did_not_qualify_is_lent_nothing_more(campaign_of):
    campaign = campaign_of(1, 1, 4, serving="k_of_n", k=3)
    campaign.panel.filter(number=4).update(stage="not_qualified")
    for judge, word in zip(judges_of(campaign), ["similar", "different", "skip"], strict=False):
        judge.judge(word)
    assert contested(campaign).count() == 1


@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 3}])
def test_once_a_campaign_is_closed_nothing_is_waited_for(rules, campaign_of):
    campaign = campaign_of(1, 2, 3, **rules)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sd. ss."))
    assert contested(campaign).count() == 0
    closed = close_campaign(campaign=campaign, by=None, reason="Enough")
    assert contested(closed).count() == 1


def test_of_two_admins_who_rule_on_one_pair_the_first_is_kept(campaign_of, people):
    campaign = campaign_of(1, 1, 2, tie_rule="undecided")
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sd"))
    first, second = people(2, Role.ADMIN)
    ruling = {"campaign": campaign, "question_uid": campaign.questions.get().uid}
    adjudicate(**ruling, answer="similar", reason="the same seam", by=first)
    assert (
        adjudicate(**ruling, answer="similar", reason="so I think", by=second).decided_by == first
    )
    late = {"question": ruling["question_uid"], "answer": "different", "reason": "another collar"}
    address = reverse("annotation:rule", args=[campaign.slug])
    page = signed_in(second).post(address, late, follow=True).content.decode()
    assert f"{first} has ruled meanwhile: “similar”, because “the same seam”" in page
    [kept] = rulings(campaign)
    assert (kept.answer, kept.decided_by, kept.reason) == ("similar", first, "the same seam")
    withdraw_ruling(**ruling)
    adjudicate(**ruling, answer="different", reason="another collar", by=second)
    assert label_of(campaign, campaign.questions.get()) == "different"
