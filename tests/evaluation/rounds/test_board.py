"""The board of a campaign judged in rounds: estimates, or a word that there is none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign, Judgement, Question
from annotation.services import adjudicate, exclude_answers
from evaluation.below_pool.services import sampling_problem
from evaluation.models import RoundPlan, Run
from evaluation.plan.pilots import pilot_of
from evaluation.results.assessment import assess
from evaluation.results.services import request_evaluation
from evaluation.rounds.services import stop_rounds
from evaluation.runs.stored_runs import store_run
from evaluation.tasks import rank_without_judge
from evaluation.without_judge.comparison import TASK, request_ranking
from jobs.models import Job, JobState
from jobs.services import JobError
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT
from lookalike.io.tables import Run as Scores
from lookalike.stats.text_tables import PAGE
from pooling.pools.queries import pool_pairs
from tests.clients import signed_in
from tests.evaluation.rounds.cases import (
    RULES,
    asked,
    drawn,
    evaluated,
    judged,
    known,
    lift_a_stranger,
    looked,
    newest,
    next_round,
    opened,
    put_back,
    take_out,
    world_of_rounds,
    world_of_ten_products,
)
from tests.kept import kept
from tests.worlds import SPECS, World, answer_all, cosines, same_colour

pytestmark = pytest.mark.django_db
kept_world = kept(world_of_rounds)
ESTIMATED = {
    "Success@1", "AP'", "macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc",
}  # fmt: skip


@pytest.fixture
def world(db: None) -> World:
    return kept_world()


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("chief", role=Role.ADMIN)


@pytest.fixture
def chief(admin: User) -> Client:
    return signed_in(admin)


def test_the_board_says_what_is_judged_and_holds_estimates_alone(world, chief):
    campaign = judged(world, opened(world))
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.SUCCEEDED, job.error
    result = newest(campaign)
    share = len(asked(campaign)) / len(pool_pairs(world.pool))
    assert result.summary.rounds is not None
    assert result.summary.rounds.judged == pytest.approx(share)
    for model in result.summary.models:
        assert set(model.measures) == ESTIMATED
        assert model.measures["AP'"].interval is not None
    plain = {one.name: one.value("AP'") for one in assess(campaign).summary.models}
    assert all(one.value("AP'") != plain[one.name] for one in result.summary.models)
    assert (result.row.bias, result.row.by_query["values"]) == ({}, {})
    page = chief.get(f"/results/{campaign.slug}/").content.decode()
    assert f"Judged {PAGE.share(share, 0)}" in page
    assert "Not for these measures: VSD HR@5" in page
    assert "of fewer than 20 these intervals are too short" in page
    file = chief.get(f"/results/{campaign.slug}/leaderboard.csv")
    assert f"-{100 * share:.0f}-percent-leaderboard" in file.headers["Content-Disposition"]


def upload(world: World, campaign: Campaign, name: str, scores: np.ndarray) -> None:
    """Store a run of the pool's queries over all images."""
    names = [image.sha256 for image in world.images]
    queries = set(world.pool.queries.values_list("image__sha256", flat=True))
    rows = [
        (query, candidate, float(scores[q, c]))
        for q, query in enumerate(names)
        for c, candidate in enumerate(names)
        if query in queries and q != c
    ]
    sha256 = store_run(Scores.of(name, rows))
    Run.objects.create(campaign=campaign, name=name, sha256=sha256, coverage={})


def test_a_run_whose_heads_are_all_in_the_pool_is_estimated_and_another_is_left_out(world):
    campaign = judged(world, opened(world))
    upload(world, campaign, "again", cosines(world))  # what a model of the pool says
    noise = np.random.default_rng(1).random((len(world.images), len(world.images)))
    upload(world, campaign, "noise", noise)
    evaluated(request_evaluation(campaign=campaign, owner=None))
    result = newest(campaign)
    models = {one.name: one for one in result.summary.models}
    assert models["again"].badge == "outsider"
    for name, value in models["again"].measures.items():
        of_model = models[SPECS[0]].measures[name]
        assert value.value == pytest.approx(of_model.value, abs=1e-6), name
        assert value.ends == pytest.approx(of_model.ends, abs=1e-6), name
    assert result.summary.rounds is not None
    claimed = {two.upper for two in result.summary.rounds.neighbours}
    assert "again" not in claimed  # rules to stop are about the models that the pool was made of
    left_out = {one.name: one.reason for one in result.summary.left_out}
    assert "again" not in left_out
    assert "were never put to the judges" in left_out["noise"]


def test_a_model_whose_vectors_were_rounded_since_it_proposed_stays_on_the_board(world):
    campaign = judged(world, opened(world))
    lift_a_stranger(world)
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.SUCCEEDED, job.error
    summary = newest(campaign).summary
    assert summary.rounds is not None
    assert {one.name for one in summary.models} == set(SPECS)
    assert summary.rounds.depth == world.pool.k


def test_once_all_is_judged_the_plain_measures_stand_there_and_are_those_of_the_estimates(world):
    campaign = judged(world, opened(world, replace(RULES, share=0.6)))
    next_round(campaign)
    judged(world, campaign)
    while asked(campaign) != set(pool_pairs(world.pool)):
        next_round(campaign)
        judged(world, campaign)
    evaluated(request_evaluation(campaign=campaign, owner=None))
    result = newest(campaign)
    assert result.summary.rounds is None
    assert "vsd_hr@5" in result.summary.models[0].measures
    assert known(campaign).judged == 1
    with pytest.raises(Refused, match="Every pair of the pool is judged"):
        next_round(campaign)


def test_nothing_is_estimated_in_mid_round(world):
    campaign = opened(world)
    answer_all(campaign, world.judges[0], same_colour)
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.FAILED
    assert "Round 1 is not done" in job.error
    assert not campaign.results.exists()


def test_a_label_withdrawn_after_the_next_round_was_drawn_makes_estimates_wait(world, admin):
    campaign = judged(world, opened(world))
    next_round(campaign)
    judged(world, campaign)
    query, candidate = min(drawn(campaign, 1))
    question = Question.objects.get(campaign=campaign, query=query, candidate=candidate)
    given = Judgement.objects.filter(question=question)
    events = list(given.values_list("event__uuid", flat=True))
    exclude_answers(campaign=campaign, events=events, reason="a broken screen", by=admin)
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.FAILED
    assert "Round 1 is not done: 1 pair came to no label" in job.error
    adjudicate(
        campaign=campaign, question_uid=question.uid, answer="similar", reason="seen", by=admin
    )
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.SUCCEEDED, job.error
    assert known(campaign).n_rounds == 2


def test_a_top_up_between_rounds_makes_estimates_wait_for_a_round_that_could_draw_it(world):
    second = take_out(world)
    rules = replace(RULES, orders=False, width=0.2)
    campaign = judged(world, opened(world, rules))
    put_back(second)
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.FAILED
    assert "no round could have drawn every pair" in job.error
    job = next_round(campaign)
    assert job.state == JobState.SUCCEEDED, job.error
    assert "no round could have drawn" in job.result["problem"]
    judged(world, campaign)
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.SUCCEEDED, job.error
    assert {one.name for one in newest(campaign).summary.models} == set(
        world.pool.sources.values_list("spec", flat=True)
    )


@pytest.mark.parametrize("label", [True, False])
def test_where_all_labels_are_equal_areas_are_undefined_and_nothing_is_claimed(world, label):
    campaign = judged(world, opened(world), lambda query, candidate: label)
    job = evaluated(request_evaluation(campaign=campaign, owner=None))
    assert job.state == JobState.SUCCEEDED, job.error
    for model in newest(campaign).summary.models:
        interval = model.measures["macro_roc_auc"].interval
        assert interval is None or math.isnan(interval.low) or interval.low <= interval.high
    assert not known(campaign).order_is_known


def test_below_ten_products_rounds_claim_no_interval_and_the_page_says_why(world, chief):
    campaign = opened(world, replace(RULES, width=0.01))
    n_products = world.pool.queries.values("image__product_id").distinct().count()
    judged(world, campaign)
    looked(campaign)
    look = known(campaign)
    assert (look.n_queries, look.n_units) == (12, n_products)
    assert n_products < 10
    assert math.isnan(look.half_width)
    assert math.isnan(look.recall)
    assert {two.verdict for two in look.neighbours} == {"open"}
    page = chief.get(f"/results/{campaign.slug}/rounds/").content.decode()
    assert page.count(f"12 queries of {n_products} products") == 2
    cells = newest(campaign).summary.models[0].measures.values()
    assert not any(cell.interval and cell.interval.is_defined for cell in cells)


def test_the_page_says_what_each_round_took_and_what_is_missing(db, chief):
    world = world_of_ten_products()
    campaign = opened(world, replace(RULES, width=0.01))
    address = f"/results/{campaign.slug}/rounds/"
    page = chief.get(address).content.decode()
    assert "are still with judges" in page
    judged(world, campaign)
    looked(campaign)
    page = chief.get(address).content.decode()
    assert "after round 1 of 3 planned" in page
    assert "hardly do" in page or "hours of all judges" in page
    assert "No AP′ off by more than ± 0.01" in page
    assert "30 queries of 10 products" in page
    assert known(campaign).n_units == 10
    assert known(campaign).half_width > 0
    reply = chief.post(f"{address}2/open/")
    assert reply.status_code == 302
    job = Job.objects.filter(task="evaluation.tasks.look").latest("created_at")
    assert job.arguments["opens"] is True
    assert (
        "was opened already, or does not come next"
        in chief.post(f"{address}5/open/", follow=True).content.decode()
    )


def test_a_stop_keeps_what_was_claimed_and_no_round_comes_after_it(world, admin, chief):
    campaign = opened(world)
    with pytest.raises(Refused, match="Round 1 is not done"):
        stop_rounds(campaign=campaign, by=admin)
    judged(world, campaign)
    with pytest.raises(Refused, match="Nobody has looked at what is known"):
        stop_rounds(campaign=campaign, by=admin)
    looked(campaign)
    reply = chief.post(f"/results/{campaign.slug}/rounds/stop/", follow=True)
    assert "Stopped after round 1" in reply.content.decode()
    plan = RoundPlan.objects.get(campaign=campaign)
    assert plan.claim["round"] == 1
    assert plan.claim["neighbours"] == [
        {"upper": two.upper, "lower": two.lower, "difference": two.difference,
         "verdict": two.verdict}
        for two in known(campaign).neighbours
    ]  # fmt: skip
    with pytest.raises(Refused, match="Judging was stopped"):
        next_round(campaign)
    with pytest.raises(Refused, match="stopped already"):
        stop_rounds(campaign=campaign, by=admin)


def test_a_stop_does_not_claim_what_was_known_of_other_labels(world, admin):
    campaign = judged(world, opened(world))
    looked(campaign)
    query, candidate = min(drawn(campaign, 1))
    question = Question.objects.get(campaign=campaign, query=query, candidate=candidate)
    images = {image.pk: image for image in world.images}
    other = "different" if same_colour(images[query], images[candidate]) else "similar"
    adjudicate(campaign=campaign, question_uid=question.uid, answer=other, reason="no", by=admin)
    with pytest.raises(Refused, match="Labels have changed since somebody looked"):
        stop_rounds(campaign=campaign, by=admin)
    looked(campaign)
    assert stop_rounds(campaign=campaign, by=admin).claim["round"] == 1


def test_beyond_the_looks_planned_nothing_is_claimed(world, chief):
    campaign = judged(world, opened(world, replace(RULES, n_looks=1, share=0.2)))
    next_round(campaign)
    judged(world, campaign)
    looked(campaign)
    found = known(campaign)
    assert (found.neighbours, found.is_planned) == ((), False)
    assert math.isnan(found.half_width)
    page = chief.get(f"/results/{campaign.slug}/rounds/").content.decode()
    assert "Nothing is claimed any more" in page


def test_what_needs_plain_labels_says_that_they_are_a_part(world, admin, chief):
    campaign = judged(world, opened(world))
    evaluated(request_evaluation(campaign=campaign, owner=None))
    assert "judged in rounds" in sampling_problem(campaign)
    with pytest.raises(JobError, match="rounds have judged a part of it"):
        pilot_of(campaign, SILENT)
    job = request_ranking(member=campaign.panel.get(number=1), by=admin)
    rank_without_judge(str(job.uid))
    job = Job.objects.get(task=TASK)
    assert "judged in part, by rounds" in job.error
    page = chief.get(f"/results/{campaign.slug}/compare/").content.decode()
    assert "Rounds judge a part of the pool" in page
