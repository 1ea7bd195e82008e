"""An answer that an admin excludes counts nowhere; asked again or undone, all is as it was."""

import pytest

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import Exclusion, Judgement, JudgementEvent, Question, QueueEntry
from annotation.queries.labels import labels, votes
from annotation.services import (
    add_gold,
    close_campaign,
    count_again,
    exclude_answers,
    import_judgements,
    open_campaign,
    reap_leases,
    reconcile,
)
from annotation.services.gold import GoldPair
from audit.models import Entry
from tests.clients import START, Browser, answer_to
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db
RULES = [{}, {"serving": "k_of_n", "k": 2}]


@pytest.fixture
def admin(people):
    return people(1, Role.ADMIN)[0]


def event_of(campaign, number, question):
    """The UUID of the answer that a judge holds to."""
    found = Judgement.objects.get(member__campaign=campaign, member__number=number,
                                  question=question)  # fmt: skip
    return found.event.uuid


def facts(campaign):
    """Everything that counts, apart from where an entry stands in its queue."""
    found = labels(campaign)
    return (
        [(row.query_id, row.candidate_id, row.n_similar, row.n_different, row.label)
         for row in found],
        sorted(Judgement.objects.filter(member__campaign=campaign).values_list(
            "event_id", "answer", "is_surplus", "is_counted")),
        sorted(Question.objects.filter(campaign=campaign).values_list(
            "pk", "n_counted", "n_free", "is_settled")),
        list(campaign.panel.order_by("pk").values_list("n_done", flat=True)),
        votes(campaign).is_similar.tolist(),
    )  # fmt: skip


def is_pair(campaign, judge, asked):
    """Whether what a judge is asked is a pair that is to be voted on."""
    return campaign.questions.filter(uid=judge.uids([asked])[0], kind="pair").exists()


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("asks_again", [False, True])
def test_undo_is_exact(rules, asks_again, campaign_of, admin):
    campaign = campaign_of(1, 4, 3, **rules)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sds ssd dcs ks."))
    before = facts(campaign)
    question = campaign.questions.order_by("query_id", "candidate_id")[0]
    event = event_of(campaign, 1, question)
    exclude_answers(campaign=campaign, events=[event], reason="held a key", by=admin,
                    asks_again=asks_again)  # fmt: skip
    assert facts(campaign) != before
    assert reconcile(campaign=campaign) == []
    assert count_again(campaign=campaign, events=[event], by=admin) == 1
    assert facts(campaign) == before
    assert reconcile(campaign=campaign) == []
    assert not Exclusion.objects.filter(ended_at__isnull=True).exists()
    told = [entry.action for entry in Entry.objects.order_by("pk")][-2:]
    assert told == [
        "answers_asked_again" if asks_again else "answers_excluded", "answers_counted_again"
    ]  # fmt: skip


def test_undo_is_exact_for_a_check_that_more_than_k_answer(campaign_of, images, admin):
    campaign = campaign_of(1, 1, 3, is_open=False, serving="k_of_n", k=2)
    query, candidate = images(2)
    gold = GoldPair(query.pk, candidate.pk, "similar")
    add_gold(campaign=campaign, purpose="gold", pairs=[gold])
    open_campaign(campaign=campaign)
    judges = [Browser(campaign, member.annotator) for member in campaign.panel.all()]
    for judge in judges:  # the pair comes to the third, too, once the lease of the first is over
        asked = judge.next()
        QueueEntry.objects.filter(question__kind="pair").update(lease_until=START)
        reap_leases()
        judge.send(*(answer_to(one["uid"]) for one in asked if not is_pair(campaign, judge, one)))
    [check] = campaign.questions.filter(kind="gold")
    assert check.judgements.count() == 3
    before = facts(campaign)
    event = check.judgements.order_by("pk")[0].event.uuid
    exclude_answers(campaign=campaign, events=[event], reason="held a key", by=admin)
    count_again(campaign=campaign, events=[event], by=admin)
    assert facts(campaign) == before


def test_the_label_is_that_of_the_votes_that_are_left(campaign_of, admin):
    campaign = campaign_of(1, 1, 3)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ssd"))
    [pair] = campaign.questions.all()
    events = [event_of(campaign, number, pair) for number in (1, 2)]
    exclude_answers(campaign=campaign, events=events, reason="careless", by=admin)
    [row] = labels(campaign)
    assert (row.n_similar, row.n_different, row.label) == (0, 1, False)


def test_a_surplus_vote_takes_the_place_and_gives_it_back(campaign_of, admin):
    campaign = campaign_of(1, 1, 3, serving="k_of_n", k=2)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ssd"))
    [pair] = campaign.questions.all()
    event = event_of(campaign, 1, pair)
    exclude_answers(campaign=campaign, events=[event], reason="careless", by=admin)
    assert [(r.n_similar, r.n_different) for r in labels(campaign)] == [(1, 1)]
    count_again(campaign=campaign, events=[event], by=admin)
    assert [(r.n_similar, r.n_different) for r in labels(campaign)] == [(2, 0)]


def test_an_excluded_vote_of_a_lending_campaign_is_wanted_from_others(campaign_of, admin):
    campaign = campaign_of(1, 1, 3, serving="k_of_n", k=1)
    first, second, third = (Browser(campaign, m.annotator) for m in campaign.panel.all())
    first.judge("similar")
    [pair] = campaign.questions.all()
    assert second.next() == []
    event = event_of(campaign, 1, pair)
    exclude_answers(campaign=campaign, events=[event], reason="careless", by=admin)
    assert first.next() == []
    second.judge("different")
    assert [row.label for row in labels(campaign)] == [False]
    count_again(campaign=campaign, events=[event], by=admin)  # as if it had never been excluded
    assert [row.label for row in labels(campaign)] == [True]
    assert Judgement.objects.get(member__number=2).is_surplus
    assert third.next() == []
    assert reconcile(campaign=campaign) == []


@pytest.mark.parametrize("rules", RULES)
def test_a_judge_who_is_asked_again_answers_anew_and_that_counts(rules, campaign_of, admin):
    campaign = campaign_of(1, 3, 2, **rules)
    judge = Browser(campaign, campaign.panel.get(number=1).annotator)
    uids = judge.judge("similar", 3)
    place = judge.get("recent")["answers"][0]["question"]["position"]
    pair = campaign.questions.get(uid=uids[0])
    event = event_of(campaign, 1, pair)
    exclude_answers(campaign=campaign, events=[event], reason="look again", by=admin,
                    asks_again=True)  # fmt: skip
    [asked] = judge.next()
    assert judge.uids([asked]) == uids[:1]
    assert asked["position"] > place  # a page that answered it knows that it is asked anew
    assert judge.get("next")["progress"]["n_done"] == 2
    judge.send(answer_to(asked["uid"], "different", at=9))
    assert judge.next() == []
    assert Judgement.objects.get(question=pair).is_counted
    assert votes(campaign).is_similar.tolist().count(False) == 1
    with pytest.raises(CampaignError, match="answered again since"):
        count_again(campaign=campaign, events=[event], by=admin)
    assert reconcile(campaign=campaign) == []


def test_what_cannot_be_excluded_is_refused_by_name(campaign_of, admin):
    campaign, other = campaign_of(1, 2, 2), campaign_of(1, 1, 1)
    judge = Browser(campaign, campaign.panel.get(number=1).annotator)
    [uid] = judge.judge("similar")
    event = JudgementEvent.objects.get().uuid
    with pytest.raises(CampaignError, match="Say why"):
        exclude_answers(campaign=campaign, events=[event], reason=" ", by=admin)
    with pytest.raises(CampaignError, match="no such answer"):
        exclude_answers(campaign=other, events=[event], reason="x", by=admin)
    judge.send(answer_to(uid, "different", at=5))
    with pytest.raises(CampaignError, match="changed this answer since"):
        exclude_answers(campaign=campaign, events=[event], reason="x", by=admin)
    latest = JudgementEvent.objects.latest("pk").uuid
    with pytest.raises(CampaignError, match="not excluded"):
        count_again(campaign=campaign, events=[latest], by=admin)
    close_campaign(campaign=campaign, by=None, reason="done")
    with pytest.raises(CampaignError, match="is closed"):
        exclude_answers(campaign=campaign, events=[latest], reason="x", by=admin, asks_again=True)
    assert exclude_answers(campaign=campaign, events=[latest], reason="x", by=admin) == 1
    assert exclude_answers(campaign=campaign, events=[latest], reason="x", by=admin) == 0


def test_a_changed_answer_leaves_the_exclusion_behind(campaign_of, admin):
    campaign = campaign_of(1, 1, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    [uid] = judge.judge("similar")
    event = JudgementEvent.objects.get().uuid
    exclude_answers(campaign=campaign, events=[event], reason="x", by=admin)
    assert len(labels(campaign)) == 0
    judge.send(answer_to(uid, "different", at=5))
    assert [row.label for row in labels(campaign)] == [False]
    assert reconcile(campaign=campaign) == []
