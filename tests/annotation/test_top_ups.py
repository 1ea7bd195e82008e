"""Pairs added to a campaign at work: only new ones, mixed in blind, and nothing judged is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from annotation.models import EntryState, Judgement, QueueEntry, Stage
from annotation.queries.judges import find_judge
from annotation.queries.next_questions import progress
from annotation.services import add_questions, open_campaign
from annotation.services.reconciling import reconcile
from tests.clients import Browser, answer_to

pytestmark = pytest.mark.django_db


def asked_pairs(member):
    entries = member.queue.filter(state=EntryState.OPEN).order_by("place")
    return list(entries.values_list("question__query_id", "question__candidate_id"))


def more(campaign, pairs, n):
    """Pairs of the campaign's own first query with images that it does not know."""
    query = campaign.questions.order_by("pk").first().query_id
    return [(query, candidate) for _, candidate in pairs(1, n)]


def test_only_pairs_that_are_new_are_asked_each_judge_once(campaign_of, pairs):
    campaign = campaign_of(2, 3)
    old = list(campaign.questions.values_list("query_id", "candidate_id"))
    fresh = pairs(1, 4)
    assert add_questions(campaign=campaign, pairs=[*fresh, *old[:2]]) == 4
    campaign.refresh_from_db()
    assert campaign.n_questions == 10
    for member in campaign.panel.all():
        assert sorted(asked_pairs(member)) == sorted([*old, *fresh])
        assert member.n_total == 10
    assert add_questions(campaign=campaign, pairs=old) == 0
    campaign.refresh_from_db()
    assert reconcile(campaign=campaign) == []


def test_new_pairs_stand_among_those_that_wait_and_each_judge_has_an_order_of_their_own(
    campaign_of, pairs
):
    campaign = campaign_of(12, 10)
    before = {member.pk: asked_pairs(member) for member in campaign.panel.all()}
    fresh = [pair for _ in range(6) for pair in pairs(1, 5)]
    add_questions(campaign=campaign, pairs=fresh)
    orders = []
    for member in campaign.panel.all():
        after = asked_pairs(member)
        assert [pair for pair in after if pair not in set(fresh)] == before[member.pk]
        orders.append([place for place, pair in enumerate(after) if pair in set(fresh)])
        assert orders[-1] != list(range(120, 150))
    assert np.mean(orders) < 125  # at the end it would be 134.5, anywhere it is about 75
    assert len({tuple(order) for order in orders}) == 3


def test_new_candidates_of_a_query_that_waits_come_with_its_others(campaign_of, pairs):
    campaign = campaign_of(4, 6)
    add_questions(campaign=campaign, pairs=more(campaign, pairs, 3))
    for member in campaign.panel.all():
        queries = [query for query, _ in asked_pairs(member)]
        assert sum(a != b for a, b in pairwise(queries)) == 3


def test_answers_stay_and_a_judge_who_had_finished_has_work_again(campaign_of, pairs):
    campaign = campaign_of(2, 3, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    judge.judge("similar", 6)
    assert judge.next() == []
    before = set(Judgement.objects.values_list("question_id", "answer", "event_id"))
    add_questions(campaign=campaign, pairs=more(campaign, pairs, 2))
    assert set(Judgement.objects.values_list("question_id", "answer", "event_id")) == before
    assert progress(find_judge(campaign.uid, judge.person.pk)) == (6, 8)
    assert len(judge.next(after=6)) == 2  # behind the last place that the browser has seen
    judge.judge("different", 2)
    assert progress(find_judge(campaign.uid, judge.person.pk)) == (8, 8)
    campaign.refresh_from_db()
    assert reconcile(campaign=campaign) == []


def test_a_browser_that_holds_old_places_is_served_everything_once_more_and_misses_nothing(
    campaign_of, pairs
):
    campaign = campaign_of(3, 4, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    held = judge.next(5)
    add_questions(campaign=campaign, pairs=more(campaign, pairs, 3))
    later = judge.next(200, after=held[-1]["position"])
    assert len(later) == 15  # those it holds too: it knows them by uid
    assert {q["uid"] for q in held} < {q["uid"] for q in later}
    status, reply = judge.send(answer_to(held[0]["uid"]))
    assert (status, reply["results"][0]["status"]) == (200, "saved")
    campaign.refresh_from_db()
    assert reconcile(campaign=campaign) == []


def test_nothing_that_a_judge_is_sent_tells_a_new_pair_from_an_old_one(campaign_of, pairs):
    campaign = campaign_of(3, 4, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    add_questions(campaign=campaign, pairs=more(campaign, pairs, 5))
    served = judge.next(200)
    places = [question["position"] for question in served]
    assert places == list(range(places[0], places[0] + 17))
    assert len({tuple(sorted(question)) for question in served}) == 1
    stored = QueueEntry.objects.filter(member__campaign=campaign)
    assert set(stored.values_list("stage", flat=True)) == {Stage.JUDGING}


def test_where_k_of_n_judge_new_pairs_go_among_those_nobody_has_come_to(campaign_of, pairs):
    campaign = campaign_of(8, 6, 3, serving="k_of_n", k=2, is_open=False)
    campaign = open_campaign(campaign=campaign)
    first, second, third = [Browser(campaign, m.annotator) for m in campaign.panel.all()]
    taken = first.uids(first.next(20))
    fresh = [pair for _ in range(4) for pair in pairs(1, 5)]
    add_questions(campaign=campaign, pairs=fresh)
    order = list(campaign.questions.order_by("position").values_list("query_id", "candidate_id"))
    positions = campaign.questions.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(68))
    places = [place for place, pair in enumerate(order) if pair in set(fresh)]
    assert min(places) >= 20
    assert places != list(range(48, 68))
    assert set(second.uids(second.next(20))) == set(taken)
    n_held = campaign.questions.filter(n_free=0).count()
    asked = {question["uid"] for question in third.walk()}
    assert len(asked) == 68 - n_held  # all but those that two judges hold
    campaign.refresh_from_db()
    assert reconcile(campaign=campaign) == []
