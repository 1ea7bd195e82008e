"""How far a judge is told to be: finished only if nothing is open and nothing can come."""

from datetime import timedelta

import psycopg
import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import QueueEntry, Stage
from annotation.queries.numbers import numbers_of
from annotation.services import add_gold, change_settings, open_campaign, reap_leases
from annotation.services.gold import GoldPair
from tests.clients import Browser, answer_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def statements(monkeypatch):
    """Every statement that reaches the database driver; Django's own log misses prepared ones."""
    sent: list[object] = []
    execute = psycopg.Cursor.execute

    def noted(self, query, *args, **kwargs):
        sent.append(query)
        return execute(self, query, *args, **kwargs)

    monkeypatch.setattr(psycopg.Cursor, "execute", noted)
    return sent


def judges_of(campaign):
    return [Browser(campaign, member.annotator) for member in campaign.panel.order_by("number")]


def home_of(judge):
    return judge.client.get(reverse("annotation:home")).content.decode()


def with_gold(campaign, purpose, gold):
    add_gold(
        campaign=campaign, purpose=purpose, pairs=[GoldPair(q, c, "similar", "x") for q, c in gold]
    )
    return open_campaign(campaign=campaign)


def test_controls_and_votes_that_do_not_count_do_not_end_the_work(campaign_of, pairs):
    draft = campaign_of(1, 10, 2, serving="k_of_n", k=2, is_open=False)
    campaign = with_gold(draft, "gold", pairs(1, 4))
    judge, _ = judges_of(campaign)
    for _ in range(10):
        assert judge.judge()
    assert judge.get("next")["progress"] == {"n_done": 10, "n_total": 14}
    assert "Continue judging" in home_of(judge)
    while judge.judge():
        pass
    assert judge.get("next")["progress"] == {"n_done": 14, "n_total": 14}
    assert judge.get("next")["is_waiting"] is False
    assert "All done" in home_of(judge)


def test_pairs_that_are_with_others_may_come_back(campaign_of):
    campaign = campaign_of(1, 6, 4, serving="k_of_n", k=2)
    first, second, third, _ = judges_of(campaign)
    first.next(200)
    second.next(200)
    reply = third.get("next", n=200)
    assert (reply["questions"], reply["is_waiting"]) == ([], True)
    assert "All done" not in home_of(third)
    assert "is with other judges" in home_of(third)
    first.judge("similar", 6)
    second.judge("similar", 5)
    second.judge("cant_tell")
    assert len(third.get("next", n=200)["questions"]) == 1
    assert third.get("next", n=200)["is_waiting"] is False
    third.judge()
    assert third.get("next")["is_waiting"] is False
    assert "All done" in home_of(third)


def test_a_judge_who_was_lent_nothing_yet_is_not_told_that_others_have_the_rest(campaign_of):
    campaign = campaign_of(1, 6, 3, serving="k_of_n", k=2)
    first, *_ = judges_of(campaign)
    page = home_of(first)
    assert "Start judging" in page
    assert "all caught up" not in page
    assert "is with other judges" not in page


def test_a_judge_who_failed_waits_for_an_admin_and_sees_no_open_campaign(campaign_of):
    campaign = campaign_of(1, 6, 1)
    campaign.panel.update(stage=Stage.NOT_QUALIFIED)
    [judge] = judges_of(campaign)
    page = home_of(judge)
    assert "Waiting for an admin" in page
    assert ">Open<" not in page


def test_a_lapsed_lease_of_ones_own_may_come_back_too(campaign_of):
    campaign = campaign_of(1, 1, 2, serving="k_of_n", k=1)
    first, second = judges_of(campaign)
    first.next()
    QueueEntry.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    reap_leases()
    second.next()
    assert first.get("next")["is_waiting"] is True
    second.judge()
    assert first.get("next")["is_waiting"] is False


def test_a_judge_without_a_share_left_is_done_below_it(campaign_of):
    campaign = campaign_of(1, 4, 2, serving="k_of_n", k=1)
    first, second = judges_of(campaign)
    first.judge("similar", 4)
    page = home_of(second)
    assert "All done" in page
    assert "0 of 0 answered" in page


def test_votes_and_no_other_answers_are_what_an_admin_sees_done(campaign_of, pairs):
    draft = campaign_of(1, 4, 3, serving="k_of_n", k=2, is_open=False)
    campaign = with_gold(draft, "training", pairs(1, 3))
    judge, *_ = judges_of(campaign)
    judge.judge("similar", 3)
    judge.judge("cant_tell", 2)
    judge.judge("similar", 2)
    row = numbers_of(campaign)
    assert (row.n_done, row.n_total) == (2, 8)


def test_answers_of_who_is_off_the_panel_are_not_waited_for(campaign_of):
    campaign = campaign_of(1, 4, 2)
    first, second = judges_of(campaign)
    first.judge("similar", 4)
    second.judge("similar", 1)
    campaign.panel.filter(number=2).update(is_active=False)
    row = numbers_of(campaign)
    assert (row.n_done, row.n_total) == (5, 5)


def test_a_training_answer_taken_back_late_is_asked_again(campaign_of, pairs):
    draft = campaign_of(1, 2, 1, is_open=False)
    campaign = with_gold(draft, "training", pairs(1, 1))
    [judge] = judges_of(campaign)
    [question] = judge.next()
    sent = answer_to(question["uid"], at=1)
    judge.send(sent)
    assert len(judge.next()) == 2
    judge.send(answer_to(question["uid"], "withdrawn", at=2, undoes=sent["uuid"]))
    assert judge.next()[0]["uid"] == question["uid"]
    assert judge.next()[0]["kind"] == "training"
    judge.judge("similar", 3)
    assert judge.get("next")["progress"] == {"n_done": 3, "n_total": 3}
    assert "All done" in home_of(judge)


@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 1}])
def test_serving_takes_as_many_statements_at_any_size(rules, campaign_of, statements):
    n = []
    for n_candidates in (2, 40):
        [judge] = judges_of(campaign_of(1, n_candidates, 1, **rules))
        judge.next(1)
        statements.clear()
        judge.next(1)
        n.append(len(statements))
    assert n[0] == n[1] <= 8


def test_the_list_takes_as_many_statements_for_any_number_of_campaigns(
    campaign_of, people, statements
):
    panel = people(1)
    n: list[int] = []
    for n_more in (1, 5):
        for _ in range(n_more):
            draft = campaign_of(1, 2, panel=panel, is_open=False)
            open_campaign(
                campaign=change_settings(campaign=draft, by=None, closes_settled=bool(n_more % 2))
            )
            campaign = campaign_of(1, 2, panel=panel, serving="k_of_n", k=1)
        judge = Browser(campaign, panel[0])
        statements.clear()
        assert home_of(judge).count("Start judging") == 2 * (1 if not n else 6)
        n.append(len(statements))
    assert n[0] == n[1]
