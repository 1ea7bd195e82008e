"""Rounds of a campaign: drawn once, asked like all else, and known to nobody who judges."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, User
from annotation.models import Campaign, Question, QueueEntry
from annotation.queries.judges import find_judge
from annotation.queries.next_questions import next_questions
from annotation.services import (
    add_questions,
    create_campaign,
    exclude_answers,
    open_campaign,
    set_member_active,
)
from evaluation.attention import attention
from evaluation.models import Round, RoundPlan
from evaluation.rounds.page import at_least
from evaluation.rounds.progress import rounds_progress
from evaluation.rounds.services import (
    open_campaign_in_rounds,
    open_round,
    request_look,
    stop_rounds,
)
from jobs.models import JobState
from jobs.services import JobConflictError
from lookalike.core.errors import Refused
from notices.sources import attention_lines
from pooling.models import PoolCampaign
from pooling.pools.queries import pool_pairs, unasked_pairs
from pooling.pools.settle import settle_pool
from tests.clients import signed_in
from tests.evaluation.rounds.cases import (
    RULES,
    asked,
    by_itself,
    drawn,
    judged,
    known,
    looked,
    next_round,
    opened,
    put_back,
    take_out,
    world_of_rounds,
    world_of_ten_products,
)
from tests.kept import kept
from tests.worlds import World, answer_all, build_world, same_colour

pytestmark = pytest.mark.django_db
kept_world = kept(world_of_rounds)


@pytest.fixture
def world(db: None) -> World:
    return kept_world()


def test_a_draft_asks_what_the_first_round_drew_and_every_pair_has_a_probability(world):
    campaign = opened(world)
    row = Round.objects.get(plan__campaign=campaign)
    pairs = set(pool_pairs(world.pool))
    kept_pairs = row.pairs.values_list("query_id", "candidate_id", "probability")
    assert {(query, candidate) for query, candidate, _ in kept_pairs} == pairs
    assert all(0.05 <= chance <= 1 for _, _, chance in kept_pairs)
    assert sum(chance for *_, chance in kept_pairs) == pytest.approx(0.3 * len(pairs), rel=0.1)
    assert asked(campaign) == drawn(campaign, 1) < pairs
    assert (row.n_known, row.n_open, row.n_drawn) == (0, len(pairs), len(asked(campaign)))
    assert PoolCampaign.objects.get(campaign=campaign).in_rounds


def test_the_next_round_draws_from_what_is_open_once_the_last_is_judged(world):
    campaign = opened(world)
    with pytest.raises(Refused, match=r"Round 1 is not done: \d+ pairs of \d+ are still with"):
        request_look(campaign=campaign, number=1, opens=True, owner=None)
    answer_all(campaign, world.judges[0], same_colour)  # a label, but not the last word
    with pytest.raises(Refused, match="Round 1 is not done"):
        open_round(campaign=campaign, number=2, by=None)
    judged(world, campaign)
    job = next_round(campaign)
    assert job.state == JobState.SUCCEEDED, job.error
    first, second = drawn(campaign, 1), drawn(campaign, 2)
    assert job.result["n_drawn"] == len(second) > 0
    assert not first & second
    assert asked(campaign) == first | second
    row = Round.objects.get(plan__campaign=campaign, number=2)
    assert row.n_known == len(first)
    assert row.pairs.count() == len(pool_pairs(world.pool)) - len(first)


def test_the_same_seed_draws_the_same_rounds(world):
    campaigns = [judged(world, opened(world)) for _ in range(2)]
    for campaign in campaigns:
        next_round(campaign)
    for number in (1, 2):
        assert drawn(campaigns[0], number) == drawn(campaigns[1], number)
    other = opened(world, replace(RULES, seed=5))
    assert drawn(other, 1) != drawn(campaigns[0], 1)


def test_a_round_is_not_opened_twice(world):
    campaign = judged(world, opened(world))
    job = request_look(campaign=campaign, number=1, opens=True, owner=None)
    with pytest.raises(JobConflictError):
        request_look(campaign=campaign, number=1, opens=True, owner=None)
    row = open_round(campaign=campaign, number=2, by=None)
    with pytest.raises(Refused, match="Round 2 was opened already"):
        open_round(campaign=campaign, number=2, by=None)
    with pytest.raises(Refused, match="Round 4 does not come next: 3 does"):
        open_round(campaign=campaign, number=4, by=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.create(plan=row.plan, number=2, n_known=0, n_open=1, n_drawn=1, guess="")
    assert Round.objects.count() == 2
    job.delete()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_open_a_round_at_once_one_does():
    world = world_of_rounds()
    campaign = judged(world, opened(world))

    def open_second(_: int) -> str:
        try:
            open_round(campaign=campaign, number=2, by=None)
        except Refused as problem:
            return problem.message
        finally:
            connection.close()
        return "opened"

    with ThreadPoolExecutor(2) as pool:
        told = sorted(pool.map(open_second, range(2)))
    assert told == ["Round 2 was opened already.", "opened"]
    assert asked(campaign) == drawn(campaign, 1) | drawn(campaign, 2)


def order_of(campaign: Campaign, judge: User) -> list[tuple[int, int]]:
    entries = QueueEntry.objects.filter(
        member__annotator=judge, question__campaign=campaign
    ).order_by("place")
    return list(entries.values_list("question__query_id", "question__candidate_id"))


def test_a_judges_order_is_that_of_a_campaign_without_rounds_that_asks_the_same(world):
    campaign = judged(world, opened(world))
    next_round(campaign)
    first, second = (
        [pair for pair in pool_pairs(world.pool) if pair in drawn(campaign, n)] for n in (1, 2)
    )
    plain = create_campaign(
        name="Plain", slug="plain", pairs=first, panel=world.judges, seed=campaign.seed
    )
    judged(world, open_campaign(campaign=plain))
    add_questions(campaign=plain, pairs=second)
    for judge in world.judges:
        assert order_of(campaign, judge) == order_of(plain, judge)
        assert len(order_of(plain, judge)) == len(first) + len(second)


def test_nothing_that_a_judge_gets_tells_of_rounds(world):
    campaign = judged(world, opened(world))
    next_round(campaign)
    judge = world.judges[0]
    served = next_questions(find_judge(campaign.uid, judge.pk), after=0, n=20)
    assert len({tuple(vars(one)) for one in served}) == 1
    client = signed_in(judge)
    pages = ["/judge/", f"/judge/{campaign.uid}/", f"/judge/{campaign.uid}/next"]
    for page in pages:
        content = client.get(page, follow=True).content.decode().lower()
        for word in ("in rounds", "probabilit", "of the pool", "round 1", "round 2"):
            assert word not in content, (page, word)
    for page in (f"/results/{campaign.slug}/rounds/", f"/pools/{world.pool.slug}/rounds/"):
        assert client.get(page).status_code in {302, 403, 404}
    for page in ("1/open", "look", "stop"):
        reply = client.post(f"/results/{campaign.slug}/rounds/{page}/")
        assert reply.status_code in {302, 403, 404}
        assert "/results/" not in reply.get("Location", "")
    assert Round.objects.count() == 2


def test_what_a_top_up_brings_waits_for_the_next_round(world):
    second = take_out(world)
    campaign = judged(world, opened(world, replace(RULES, orders=False)))
    before, n_pairs = asked(campaign), len(pool_pairs(world.pool))
    put_back(second)
    world.pool.stats = {"pairs": len(pool_pairs(world.pool))}
    world.pool.save()
    assert len(pool_pairs(world.pool)) > n_pairs
    settle_pool(pool=world.pool)
    assert unasked_pairs(world.pool) == 0
    assert asked(campaign) == before
    next_round(campaign)
    row = Round.objects.get(plan__campaign=campaign, number=2)
    assert row.n_open == len(pool_pairs(world.pool)) - len(before)


def test_a_judge_who_leaves_in_mid_round_keeps_nobody_waiting_once_off_the_panel(world):
    campaign = opened(world)
    for judge in world.judges[:2]:
        answer_all(campaign, judge, same_colour)
    with pytest.raises(Refused, match="Judges who have left for good can be taken"):
        request_look(campaign=campaign, number=1, opens=True, owner=None)
    member = campaign.panel.get(annotator=world.judges[2])
    set_member_active(member=member, is_active=False)
    assert next_round(campaign).result["opened"] == 2


def test_rounds_open_themselves_until_those_planned_are_judged(world):
    campaign = opened(world, replace(RULES, opens_itself=True, n_looks=2, width=0.001))
    assert by_itself() == []  # judges are at it
    judged(world, campaign)
    [job] = by_itself()
    assert (job.state, job.result["opened"]) == (JobState.SUCCEEDED, 2)
    judged(world, campaign)
    [job] = by_itself()
    assert "opened" not in job.result
    assert by_itself() == []
    plan = RoundPlan.objects.get(campaign=campaign)
    assert [bool(row.look) for row in plan.rounds.all()] == [True, True]


def test_rounds_that_open_themselves_end_where_the_goals_are_met(db):
    world = world_of_ten_products()
    rules = replace(RULES, opens_itself=True, orders=False, recall=0.01)
    campaign = judged(world, opened(world, rules))
    [job] = by_itself()
    assert job.state == JobState.SUCCEEDED, job.error
    assert known(campaign).recall >= 0.01
    assert "opened" not in job.result
    assert by_itself() == []
    [line] = attention()
    assert "The goals are met" in line.text


def test_the_overview_says_the_next_step_of_rounds_and_never_to_close_a_campaign_half_way(world):
    campaign = opened(world)

    def lines() -> list[tuple[str, str]]:
        kinds = {"Complete", "Round done", "Stopped"}
        found = [one for one in attention_lines() if one.title == campaign.name]
        return [(one.kind, one.text) for one in found if one.kind in kinds]

    assert lines() == []
    judged(world, campaign)
    assert lines() == [
        ("Round done", "Round 1 is judged. Look at what is known, or open the next round.")
    ]
    looked(campaign)
    [(kind, text)] = lines()
    assert (kind, text.endswith("Open the next round, or stop.")) == ("Round done", True)
    stop_rounds(campaign=campaign, by=User.objects.create_user("chief", role=Role.ADMIN))
    [(kind, text)] = lines()
    assert (kind, "close it" in text) == ("Stopped", True)


def test_a_campaign_in_rounds_leads_to_them_and_says_after_a_stop_what_comes_next(world):
    admin = User.objects.create_user("chief", role=Role.ADMIN)
    chief = signed_in(admin)
    campaign = judged(world, opened(world))
    page = f"/results/{campaign.slug}/rounds/"
    assert page in chief.get(f"/campaigns/{campaign.slug}/").content.decode()
    assert "/rounds/" not in chief.get(f"/campaigns/{world.campaign.slug}/").content.decode()
    looked(campaign)
    stop_rounds(campaign=campaign, by=admin)
    assert "close the campaign</a>, then freeze a release" in chief.get(page).content.decode()


def test_a_lower_bound_is_never_rounded_up():
    assert at_least(0.0759) == "7.5 %"
    assert at_least(float("nan")) == "–"


def test_the_clock_reads_no_vote_while_judges_have_pairs_to_answer(world):
    opened(world)
    with CaptureQueriesContext(connection) as queries:
        assert by_itself() == []
    assert queries
    assert not [one for one in queries if "annotation_judgement" in one["sql"]]


@pytest.mark.django_db(transaction=True)
def test_what_is_known_of_rounds_is_counted_anew_when_judging_has_gone_on():
    world = world_of_rounds()
    campaign = opened(world)
    plan = RoundPlan.objects.get(campaign=campaign)
    [before] = rounds_progress(plan)
    with CaptureQueriesContext(connection) as queries:
        assert rounds_progress(plan) == [before]
    assert len(queries) == 2  # the rounds, and the state of the campaign
    assert before.n_waiting == before.row.n_drawn
    for judge in world.judges:
        answer_all(campaign, judge, same_colour)
    [after] = rounds_progress(plan)
    assert after.is_done
    assert after.effort.n_answers > 0
    pair = campaign.questions.filter(kind="pair")[0]
    events = list(pair.judgements.values_list("event__uuid", flat=True))
    admin = User.objects.create_user("chief", role=Role.ADMIN)
    exclude_answers(campaign=campaign, events=events, reason="a broken screen", by=admin)
    [withdrawn] = rounds_progress(plan)
    assert (withdrawn.is_done, withdrawn.n_without_label) == (False, 1)


def test_without_being_asked_to_rounds_are_looked_at_and_not_opened(world):
    judged(world, opened(world))
    [job] = by_itself()
    assert job.state == JobState.SUCCEEDED, job.error
    assert "opened" not in job.result
    assert by_itself() == []


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"floor": 0.0}, "floor", r"0 is not in \(0, 1\]"),
        ({"share": 0.0}, "share", "a round cannot draw 0.% of the pool"),
        ({"n_looks": 0}, "n_looks", "plan 1 to 50 looks"),
        ({"measure": "P@9"}, "measure", "P@9 needs a deeper pool; this one is 4 deep"),
    ],
)
def test_rules_that_make_no_sense_are_refused_by_name(world, change, field, words):
    with pytest.raises(Refused, match=words) as refused:
        opened(world, replace(RULES, **change))
    assert refused.value.field == field
    assert not RoundPlan.objects.exists()


def test_a_pool_of_three_queries_is_refused(db):
    world = build_world(n_queries=3)
    with pytest.raises(Refused, match="has 3 queries; below 10 no estimate has an interval"):
        opened(world)


def test_one_model_alone_has_no_order_to_wish_for(world):
    take_out(world)
    with pytest.raises(Refused, match="one model alone has no order"):
        opened(world)
    campaign = judged(world, opened(world, replace(RULES, orders=False, width=0.2)))
    assert looked(campaign).state == JobState.SUCCEEDED


def test_a_pool_with_rules_on_candidates_is_refused(world):
    world.pool.candidate_rule = {"same": ["kind"]}
    world.pool.save()
    with pytest.raises(Refused, match="has rules on candidates"):
        opened(world)


def test_a_campaign_of_before_has_no_rounds(world):
    assert not PoolCampaign.objects.get(campaign=world.campaign).in_rounds
    with pytest.raises(ObjectDoesNotExist):
        world.campaign.round_plan  # noqa: B018 - there is none
    assert Question.objects.filter(campaign=world.campaign).count() == len(pool_pairs(world.pool))


@pytest.fixture
def chief(db: None) -> Client:
    return signed_in(User.objects.create_user("chief", role=Role.ADMIN))


def test_a_pool_is_opened_in_rounds_by_its_form(world, chief):
    address = f"/pools/{world.pool.slug}/rounds/"
    assert address in chief.get(f"/pools/{world.pool.slug}/campaign/").content.decode()
    form = {
        "name": "By form", "panel": [judge.pk for judge in world.judges], "answers": "binary",
        "tie_rule": "negative", "seed": "3", "share": "30", "n_looks": "4", "measure": "AP'",
        "orders": "on", "width": "0.1", "recall": "80",
    }  # fmt: skip
    page = chief.post(address, form | {"floor": "0"})
    assert page.status_code == 200
    assert "a pair that cannot be drawn is unknown" in page.content.decode()
    reply = chief.post(address, form)
    assert reply.status_code == 302, reply.content.decode()
    plan = RoundPlan.objects.get(campaign__slug="by-form")
    assert (plan.share, plan.n_looks, plan.measure, plan.seed) == (0.3, 4, "AP'", 3)
    assert (plan.orders, plan.width, plan.recall, plan.floor) == (True, 0.1, 0.8, None)
    assert plan.campaign.state == "draft"
    assert plan.campaign.n_questions == plan.rounds.get().n_drawn


def test_open_campaign_in_rounds_leaves_nothing_behind_where_the_campaign_is_refused(world):
    with pytest.raises(Refused):
        open_campaign_in_rounds(
            pool=world.pool, round_rules=RULES, name=world.campaign.name, panel=world.judges
        )
    assert not RoundPlan.objects.exists()
