"""Campaigns opened while queues were drawn otherwise: their judges go on where they are.

Then every query was one block, controls stood between blocks, the same pairs were repeated for all
judges, and where k of n judge what had become due stood behind what was claimed.
"""

from __future__ import annotations

import uuid
from collections import Counter

import pytest

from annotation.models import Question, QuestionKind, QueueEntry
from annotation.queries.judges import find_judge
from annotation.services import (
    add_members,
    add_questions,
    change_settings,
    open_campaign,
)
from annotation.services.reconciling import reconcile
from tests.clients import Browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def repeated(campaign_of):
    """Open a campaign of which as many pairs were chosen for all judges as were asked again."""

    def make(**rules):
        campaign = campaign_of(8, 10, 2, is_open=False, **rules)
        change_settings(campaign=campaign, by=None, repeat_percent=10)
        campaign.questions.filter(kind=QuestionKind.REPEAT).delete()
        chosen = list(campaign.questions.order_by("query_id", "id")[::10])
        repeats = [
            Question.objects.create(
                uid=uuid.uuid4(), campaign=campaign, kind=QuestionKind.REPEAT, position=0,
                query_id=pair.query_id, candidate_id=pair.candidate_id, original=pair,
            )
            for pair in chosen
        ]  # fmt: skip
        return campaign, repeats

    return make


def draw_as_before(member, repeats):
    """Give a judge the queue of before: blocks of queries, and the repeats behind them."""
    member.queue.all().delete()
    pairs = member.campaign.questions.filter(kind=QuestionKind.PAIR).order_by("query_id", "id")
    asked = [*pairs, *repeats]
    QueueEntry.objects.bulk_create(
        QueueEntry(member=member, question=question, position=place, place=place, stage="judging")
        for place, question in enumerate(asked, start=1)
    )
    member.n_total = member.last_place = len(asked)
    member.save()


def test_a_queue_is_judged_to_its_end_topped_up_and_shared_with_who_comes_later(
    repeated, pairs, people
):
    campaign, repeats = repeated()
    campaign = open_campaign(campaign=campaign)
    members = list(campaign.panel.all())
    for member in members:
        draw_as_before(member, repeats)
    first = Browser(campaign, members[0].annotator)
    answered = first.judge("similar", 20)
    before = first.uids(first.next(20))
    assert before == [
        str(uid)
        for uid in members[0]
        .queue.filter(place__gt=20)
        .order_by("place")
        .values_list("question__uid", flat=True)[:20]
    ]
    add_questions(campaign=campaign, pairs=pairs(1, 4))
    [late] = people(1)
    add_members(campaign=campaign, annotators=[late])
    for person, done in ((members[0].annotator, answered), (members[1].annotator, []), (late, [])):
        judge = Browser(campaign, person)
        asked = [*done, *judge.uids(judge.walk())]
        assert len(asked) == len(set(asked))
        kinds = Counter(campaign.questions.filter(uid__in=asked).values_list("kind", flat=True))
        assert kinds[QuestionKind.PAIR] == 84
        assert kinds[QuestionKind.REPEAT] == 8
        assert find_judge(campaign.uid, person.pk).n_done == len(asked)
    campaign.refresh_from_db()
    assert reconcile(campaign=campaign) == []


def test_what_is_lent_goes_on(repeated):
    campaign, repeats = repeated(serving="k_of_n", k=1)
    campaign = open_campaign(campaign=campaign)
    shared = campaign.questions.filter(kind=QuestionKind.PAIR).order_by("query_id", "id")
    for place, pair in enumerate(list(shared)):
        Question.objects.filter(pk=pair.pk).update(position=place)
    member = campaign.panel.all()[0]
    judge = Browser(campaign, member.annotator)
    judge.judge("similar", 12)
    judge.next(8)
    member.refresh_from_db()
    due = next(one for one in repeats if not one.entries.filter(member=member).exists())
    QueueEntry.objects.create(  # last of what is claimed
        member=member, question=due, position=member.last_place + 1,
        place=member.last_place + 1, stage="judging",
    )  # fmt: skip
    member.n_total, member.last_place = member.n_total + 1, member.last_place + 1
    member.save()
    judges = [judge, Browser(campaign, campaign.panel.all()[1].annotator)]
    while sum(len(one.judge("similar", 8)) for one in judges):
        pass
    asked = Counter(QueueEntry.objects.values_list("member", "question"))
    assert set(asked.values()) == {1}
    kinds = Counter(QueueEntry.objects.values_list("question__kind", flat=True))
    assert kinds[QuestionKind.PAIR] == 80
    assert kinds[QuestionKind.REPEAT] >= 1
    assert reconcile(campaign=campaign) == []
