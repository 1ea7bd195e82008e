"""Pairs that close early: only when no vote that may still come can change the outcome."""

import threading
from dataclasses import replace

import pytest
from django.db import connection, transaction

from annotation.errors import CampaignError
from annotation.forms import SettingsForm
from annotation.models import Question
from annotation.queries.judges import counting_rules
from annotation.queries.labels import labels
from annotation.queries.numbers import numbers_of
from annotation.services import (
    add_gold,
    add_members,
    admit,
    change_settings,
    create_campaign,
    open_campaign,
    reconcile,
    set_member_active,
)
from annotation.services.gold import GoldPair
from annotation.services.serving.closing_checks import release_checks
from tests.annotation.locks import wait_for_a_lock
from tests.clients import Browser, answer_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def closing(campaign_of):
    """A campaign that closes pairs early, and its judges."""

    def make(n_pairs, n_judges, **rules):
        campaign = campaign_of(1, n_pairs, n_judges, is_open=False, **rules)
        campaign = change_settings(campaign=campaign, by=None, closes_settled=True)
        campaign = open_campaign(campaign=campaign)
        members = campaign.panel.order_by("number")
        return campaign, [Browser(campaign, member.annotator) for member in members]

    return make


def take_off(campaign, *numbers):
    for number in numbers:
        set_member_active(member=campaign.panel.get(number=number), is_active=False)


def test_votes_of_who_has_left_the_panel_do_not_settle_what_the_others_can_turn(closing):
    campaign, [a, b, c, d, e] = closing(1, 5)
    a.judge("similar")
    b.judge("similar")
    take_off(campaign, 1, 2)
    c.judge("different")  # 2 : 1, and two judges are still to come
    assert not campaign.questions.get().is_settled
    assert reconcile(campaign=campaign) == []
    d.judge("different")
    e.judge("different")
    assert [row.label for row in labels(campaign)] == [False]


def test_a_judge_who_leaves_settles_what_only_they_could_turn_and_who_returns_opens_it(closing):
    campaign, [a, b, _] = closing(1, 3)
    a.judge("similar")
    take_off(campaign, 3)
    assert not campaign.questions.get().is_settled
    take_off(campaign, 2)
    assert campaign.questions.get().is_settled
    assert reconcile(campaign=campaign) == []
    set_member_active(member=campaign.panel.get(number=2), is_active=True)
    assert not campaign.questions.get().is_settled
    assert len(b.next()) == 1


def test_a_judge_who_joins_can_turn_what_was_settled(closing, people):
    campaign, [a, b, c] = closing(1, 3, tie_rule="undecided")
    a.judge("similar")
    b.judge("similar")
    assert c.next() == []
    add_members(campaign=campaign, annotators=people(1))
    assert not campaign.questions.get().is_settled
    assert len(c.next()) == 1
    assert reconcile(campaign=campaign) == []


def test_a_judge_who_did_not_qualify_is_not_waited_for_unless_admitted(closing):
    campaign, [a, *_] = closing(1, 3)
    campaign.panel.filter(number__gt=1).update(stage="not_qualified")
    a.judge("similar")
    assert campaign.questions.get().is_settled
    admit(member=campaign.panel.get(number=2))
    assert not campaign.questions.get().is_settled
    assert reconcile(campaign=campaign) == []


def test_the_tie_rule_by_which_pairs_were_closed_stays(closing, campaign_of):
    campaign, [a, b, *_] = closing(1, 4)
    a.judge("different")
    b.judge("different")
    assert campaign.questions.get().is_settled  # 2 : 2 would be a tie, which is “different”
    with pytest.raises(CampaignError, match="Tie rule: pairs are closed early by it"):
        change_settings(campaign=campaign, by=None, tie_rule="undecided")
    assert SettingsForm(instance=campaign).fields["tie_rule"].disabled
    other = campaign_of(1, 1, 2)
    assert change_settings(campaign=other, by=None, tie_rule="undecided").tie_rule == "undecided"


def test_a_wrong_note_of_what_is_settled_is_found_and_repaired(closing):
    campaign, [a, b, c] = closing(1, 3)
    a.judge("different")
    Question.objects.update(is_settled=True)
    [found] = reconcile(campaign=campaign, repairs=True)
    assert (found.counter, found.stored, found.counted) == ("is_settled", 1, 0)
    assert reconcile(campaign=campaign) == []
    assert len(b.next()) == len(c.next()) == 1


def test_what_is_settled_is_not_left_to_do(closing):
    campaign, [a, b, c] = closing(10, 3)
    a.judge("different", 10)
    b.judge("different", 10)
    assert c.next() == []
    row = numbers_of(campaign)
    assert (row.n_done, row.n_total, row.share_done) == (20, 20, 1.0)
    assert [one.n_total for one in row.judges] == [10, 10, 0]


def test_a_judge_who_fails_the_qualification_is_not_waited_for_any_more(
    pairs, campaign_of, django_capture_on_commit_callbacks
):
    draft = campaign_of(1, 1, 2, is_open=False)
    draft = change_settings(campaign=draft, by=None, closes_settled=True)
    gold = [GoldPair(query, candidate, "similar") for query, candidate in pairs(1, 1)]
    add_gold(campaign=draft, purpose="qualification", pairs=gold)
    campaign = open_campaign(campaign=draft)
    passing, failing = (Browser(campaign, m.annotator) for m in campaign.panel.order_by("number"))
    passing.judge("similar")
    passing.judge("similar")
    pair = campaign.questions.filter(kind="pair")
    assert not pair.get().is_settled
    with django_capture_on_commit_callbacks(execute=True):
        failing.judge("different")
    assert campaign.panel.get(number=2).stage == "not_qualified"
    assert pair.get().is_settled
    assert reconcile(campaign=campaign) == []


def states(campaign, number, kind):
    """How many entries of one judge's queue stand where, of one kind of question."""
    member = campaign.panel.get(number=number)
    rows = member.queue.filter(question__kind=kind).values_list("state", flat=True)
    return {state: list(rows).count(state) for state in set(rows)}


@pytest.fixture
def checked(pairs, people):
    """Two queries of 30 pairs, 20 of them gold too, half asked twice; and its three judges."""
    both, panel = pairs(2, 30), people(3)
    campaign = create_campaign(name="checked", slug="checked", pairs=both, panel=panel)
    campaign = change_settings(campaign=campaign, by=None, closes_settled=True, repeat_percent=50)
    gold = [GoldPair(query, candidate, "different") for query, candidate in both[::3]]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    return open_campaign(campaign=campaign), [Browser(campaign, person) for person in panel]


def test_checks_leave_with_the_pairs_beside_them(checked):
    campaign, [a, b, c] = checked
    a.walk("different")
    assert states(campaign, 3, "gold") == {"open": 20}
    b.walk("different")
    assert states(campaign, 3, "pair") == {"settled": 60}
    assert states(campaign, 3, "gold") == {"settled": 20}  # left behind they would show themselves
    assert states(campaign, 3, "repeat") == {"settled": 30}
    assert states(campaign, 2, "repeat") == {"done": 30}  # b's own votes take none of b's checks
    assert reconcile(campaign=campaign) == []
    reply = c.get("next")
    assert (reply["questions"], reply["progress"]) == ([], {"n_done": 0, "n_total": 0})


@pytest.mark.django_db(transaction=True)
def test_two_who_close_the_last_pairs_at_once_leave_nobody_checks_alone(pairs, people):
    both, panel = pairs(1, 2), people(4)
    campaign = create_campaign(name="checked", slug="checked", pairs=both, panel=panel)
    campaign = change_settings(campaign=campaign, by=None, closes_settled=True, repeat_percent=50)
    add_gold(
        campaign=campaign,
        purpose="gold",
        pairs=[GoldPair(query, candidate, "different") for query, candidate in both],
    )
    campaign = open_campaign(campaign=campaign)
    a, b, c, _ = [Browser(campaign, person) for person in panel]
    a.walk("different")
    one, other = [
        str(uid) for uid in campaign.questions.filter(kind="pair").values_list("uid", flat=True)
    ]

    def close_the_other():
        c.send(answer_to(other, "different"))
        connection.close()

    tab = threading.Thread(target=close_the_other)
    with transaction.atomic():
        b.send(answer_to(one, "different"))  # two to two would be a tie, which is “different”
        tab.start()
        wait_for_a_lock()
    tab.join()
    assert states(campaign, 4, "pair") == {"settled": 2}
    assert states(campaign, 4, "gold") == {"settled": 2}
    assert states(campaign, 4, "repeat") == {"settled": 1}


def test_half_of_the_pairs_take_half_of_the_checks_along(checked):
    campaign, [a, b, _] = checked
    a.walk("different")
    while len(states(campaign, 3, "pair")) < 2 or states(campaign, 3, "pair")["settled"] < 30:
        b.judge("different", 5)
    n_gone = sum(states(campaign, 3, kind).get("settled", 0) for kind in ("gold", "repeat"))
    assert 12 <= n_gone <= 38  # of 50


def test_checks_come_back_when_all_pairs_of_their_visit_do(checked, people):
    campaign, [a, b, c] = checked
    a.walk("different")
    b.walk("different")
    add_members(campaign=campaign, annotators=people(2))  # two to two would be a tie, and three win
    assert states(campaign, 3, "pair") == {"open": 60}
    assert states(campaign, 3, "gold") == {"open": 20}
    assert states(campaign, 3, "repeat") == {"open": 30}
    assert len(c.walk("similar")) == 110


def test_checks_of_choices_leave_as_often_as_pairs_of_the_whole_queue(checked):
    campaign, _ = checked
    rules = replace(counting_rules(campaign), task_kind="template")  # as if each pair were a choice
    member = campaign.panel.get(number=3)
    pairs = list(campaign.questions.filter(kind="pair").values_list("pk", flat=True))
    for part, gone in ((pairs[:30], range(12, 39)), (pairs[30:], range(50, 51))):
        member.queue.filter(question__in=part).update(state="settled")
        release_checks(rules, [(member.pk, question) for question in part])
        n_gone = sum(states(campaign, 3, kind).get("settled", 0) for kind in ("gold", "repeat"))
        assert n_gone in gone  # of 50
    assert states(campaign, 2, "gold") == {"open": 20}
