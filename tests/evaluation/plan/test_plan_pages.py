"""A plan: asked for on a page, made by a worker from assumptions or a pilot, read on a page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import CampaignState, Serving
from annotation.queries.guidelines import guideline_in_force
from annotation.services import publish_guidelines
from evaluation.models import Result, RoundPlan
from evaluation.plan.pilots import pilot_of
from evaluation.plan.pool_services import draft_planned_campaigns
from evaluation.plan.services import PLAN_TASK
from evaluation.tasks import plan
from jobs.models import Job, JobState
from lookalike.core.progress import SILENT
from lookalike.planning.designs import Costs, Design
from lookalike.planning.planner import assumed_pilot, forecast
from lookalike.planning.simulator import DISTANT, World
from lookalike.pooling.candidate_rule import CandidateRule
from notices.sources import attention_lines
from pooling.models import Pool, Proposal
from pooling.sources.fill import store_proposals
from pooling.sources.nearest import nearest_candidates
from pooling.sources.proposers import Answer
from tests.clients import signed_in
from tests.kept import kept
from tests.worlds import SPECS, build_world, judge_world
from tests.worlds import World as WorldOfPool

pytestmark = pytest.mark.django_db
judged_pilot = kept(lambda: judge_world(build_world(n_queries=12, has_unit_vectors=True)))
SMALL = {
    "queries": "20, 60",
    "depths": "3",
    "judges": "1, 3",
    "shares": "100",
    "measure": "AP'",
    "seconds": "18",
    "hourly": "30",
    "closeness": "distant",
    "n_models": "3",
    "positives": "10",
    "misses": "8",
    "false_alarms": "4",
}


@pytest.fixture
def chief(db: None) -> Client:
    return signed_in(User.objects.create_user("chief", role=Role.ADMIN))


def made(chief: Client, asked: dict[str, Any]) -> Job:
    """Ask by the form and let a worker do it."""
    reply = chief.post("/plan/", asked)
    assert reply.status_code == 302, reply.content.decode()
    job = Job.objects.filter(task=PLAN_TASK).latest("created_at")
    assert reply.headers["Location"] == f"/plan/{job.uid}/"
    plan(str(job.uid))
    job.refresh_from_db()
    return job


def test_assumptions_are_tried_out_and_the_page_says_the_cheapest_design(chief):
    job = made(chief, {**SMALL, "width": "0.2"})
    world = World(
        n_models=3, best=DISTANT[0], worst=DISTANT[1], positives=0.1, misses=0.08, false_alarms=0.04
    )
    designs = [Design(n, 3, judges, 1.0) for n in (20, 60) for judges in (1, 3)]
    found = forecast(assumed_pilot(world, designs), designs, ["AP'"], Costs(18, 30))
    best = min((one for one in found if one.off <= 0.2), key=lambda one: one.hours)
    assert job.state == JobState.SUCCEEDED, job.error
    page = chief.get(f"/plan/{job.uid}/").content.decode()
    judges = "1 judge" if best.design.n_judges == 1 else "3 judges"
    assert f"{best.design.n_queries} queries, k = 3, {judges} of each pair" in page
    assert "200 simulated queries and 3 models" in page
    assert f"/plan/{job.uid}/{found_at(job, best.design)}/" in page, "the way to its pool"
    assert len(job.result["lines"]) == len(found) == 4


def found_at(job: Job, design: Design) -> int:
    return [line["design"] for line in job.result["lines"]].index(asdict(design))


@pytest.fixture
def pilot(db: None) -> WorldOfPool:
    world = judged_pilot()
    Result.objects.create(campaign=world.campaign, code_version="", inputs={}, settings={},
                          summary={}, bias={}, by_query={}, details_sha256="0" * 64)  # fmt: skip
    return world


def filled(pool: Pool) -> Pool:
    """Let all models of a pool have proposed."""
    for source in pool.sources.all():
        used = source.pool.catalog.embedding_sets.get(spec=source.spec)
        answer = Answer(nearest_candidates(pool, source.k, used, used), used, used)
        store_proposals(source=source, answer=answer)
    return pool


def test_a_click_on_a_design_makes_its_pool_and_then_a_draft_of_its_campaign(chief, pilot):
    publish_guidelines(campaign=pilot.campaign, text="Look at the cut.", by=None)
    asked = {**SMALL, "judges": "2", "shares": "60", "width": "0.5", "pilot": pilot.campaign.pk}
    job = made(chief, asked)
    number = found_at(job, Design(20, 3, 2, 0.6))
    page = chief.get(f"/plan/{job.uid}/").content.decode()
    assert "no AP′ off by more than" in page
    assert f'name="as_pilot" formaction="/plan/{job.uid}/' in page, "of the cheapest design"
    reply = chief.post(f"/plan/{job.uid}/{number}/", {"as_pilot": ""})
    pool = Pool.objects.latest("pk")
    assert reply.headers["Location"] == f"/pools/{pool.slug}/"
    assert (pool.k, pool.catalog, pool.queries.count()) == (3, pilot.catalog, 20)
    assert [s.spec for s in pool.sources.all()] == [s.spec for s in pilot.pool.sources.all()]
    assert all(source.job is not None for source in pool.sources.all()), "they have begun"
    assert draft_planned_campaigns() == 0, "it is not filled"
    filled(pool)
    assert draft_planned_campaigns() == 1
    assert draft_planned_campaigns() == 0, "it is made once"
    campaign = pool.campaign_links.get().campaign
    assert campaign.state == CampaignState.DRAFT
    assert {member.annotator for member in campaign.panel.all()} == set(pilot.judges)
    assert (campaign.serving, campaign.k) == (Serving.K_OF_N, 2), "two of the pilot's three"
    assert guideline_in_force(campaign.pk).text == "Look at the cut."
    rounds = campaign.round_plan
    assert (rounds.share, rounds.n_looks, rounds.measure, rounds.width) == (0.3, 2, "AP'", 0.5)
    assert campaign.n_questions == rounds.rounds.get().n_drawn
    assert campaign.name in chief.get("/overview/").content.decode(), (
        "the overview says that it waits"
    )
    drafts = [line for line in attention_lines() if line.kind == "Draft"]
    assert [line.title for line in drafts] == [campaign.name], "it is said once"
    assert f"/campaigns/{campaign.slug}/" in chief.get(f"/plan/{job.uid}/").content.decode()


def test_what_keeps_a_planned_pool_from_being_made_is_named(chief, pilot):
    job = made(chief, {**SMALL, "judges": "3,4", "pilot": pilot.campaign.pk})
    too_few = f"/plan/{job.uid}/{found_at(job, Design(20, 3, 4, 1.0))}/"
    page = chief.post(too_few, {"as_pilot": ""}).content.decode()
    assert "4 judges of each pair are planned" in page
    too_many = f"/plan/{job.uid}/{found_at(job, Design(60, 3, 3, 1.0))}/"
    page = chief.post(too_many, {"as_pilot": ""}).content.decode()
    assert "60 were asked for, but only 30 images can be queries" in page
    assert Pool.objects.count() == 1
    assert chief.get(f"/plan/{job.uid}/99/").status_code == 404


def test_a_draft_that_cannot_be_made_says_why_and_is_not_tried_again(chief, pilot):
    job = made(chief, {**SMALL, "judges": "3", "pilot": pilot.campaign.pk})
    address = f"/plan/{job.uid}/{found_at(job, Design(20, 3, 3, 1.0))}/"
    chief.post(address, {"as_pilot": ""})
    filled(Pool.objects.latest("pk"))
    User.objects.filter(pk=pilot.judges[0].pk).update(is_active=False)
    assert draft_planned_campaigns() == 0
    left = f"no campaign: {pilot.judges[0].username} has been deactivated"
    assert left in chief.get(f"/plan/{job.uid}/").content.decode()
    User.objects.filter(pk=pilot.judges[0].pk).update(is_active=True)
    assert draft_planned_campaigns() == 0, "the pool's own page opens a campaign"


def test_a_plan_from_assumptions_asks_for_pictures_models_and_people(chief, pilot):
    job = made(chief, {**SMALL, "judges": "3"})
    address = f"/plan/{job.uid}/{found_at(job, Design(20, 3, 3, 1.0))}/"
    assert "This field is required" in chief.post(address, {"as_pilot": ""}).content.decode()
    fields = {"name": "Fresh", "catalog": pilot.catalog.pk, "models": "\n".join(SPECS),
              "panel": [judge.pk for judge in pilot.judges]}  # fmt: skip
    assert chief.post(address, fields).headers["Location"] == "/pools/fresh/"
    filled(Pool.objects.get(slug="fresh"))
    assert draft_planned_campaigns() == 1
    campaign = Pool.objects.get(slug="fresh").campaign_links.get().campaign
    assert (campaign.state, campaign.serving) == (CampaignState.DRAFT, Serving.EVERYONE)
    assert not RoundPlan.objects.exists(), "all pairs are judged"


def test_a_judged_campaign_is_a_pilot(chief):
    world = judged_pilot()
    label = f">{world.campaign}</option>"
    assert label not in chief.get("/plan/").content.decode(), "it has no result yet"
    Result.objects.create(campaign=world.campaign, code_version="", inputs={}, settings={},
                          summary={}, bias={}, by_query={}, details_sha256="0" * 64)  # fmt: skip
    assert label in chief.get("/plan/").content.decode()
    job = made(chief, {**SMALL, "pilot": world.campaign.pk})
    assert job.state == JobState.SUCCEEDED, job.error
    page = chief.get(f"/plan/{job.uid}/").content.decode()
    n_products = world.pool.queries.values("image__product_id").distinct().count()
    assert job.result["n_pilot_units"] == n_products < 12
    sample = f"12 queries of {n_products} products"
    assert f"{sample} in “{world.campaign}” that are judged whole, and its 2 models" in page
    lines = {(x["design"]["n_queries"], x["design"]["n_judges"]): x for x in job.result["lines"]}
    assert lines[20, 3]["bias"] == 0, "three judges say what the pilot's three judges say"
    assert lines[60, 3]["width"] < lines[20, 3]["width"]
    deeper = made(chief, {**SMALL, "depths": "9", "pilot": world.campaign.pk})
    assert deeper.state == JobState.FAILED
    assert "the pilot is 4 deep" in deeper.error


def test_a_pool_with_rules_on_candidates_is_a_pilot_that_lists_what_they_admit(chief):
    rule = CandidateRule(same=("colour",), different=("kind",))
    world = judge_world(build_world(n_queries=12, has_unit_vectors=True, candidates=rule))
    pilot = pilot_of(world.campaign, SILENT)
    assert pilot.pool.n_queries == 12
    proposals = Proposal.objects.filter(source__pool=world.pool)
    for m, model in enumerate(pilot.pool.models):
        ranks = pilot.pool.ranks[m]
        counted = np.bincount(ranks[(ranks > 0) & (ranks <= 4)])
        of_model = proposals.filter(source__spec=model)
        wanted = [of_model.filter(rank=rank).count() for rank in range(4)]
        assert counted.tolist() == [0, *wanted]
    assert pilot.pool.proposed.any(axis=0).all()
    Result.objects.create(campaign=world.campaign, code_version="", inputs={}, settings={},
                          summary={}, bias={}, by_query={}, details_sha256="0" * 64)  # fmt: skip
    job = made(chief, {**SMALL, "pilot": world.campaign.pk})
    page = chief.get(f"/plan/{job.uid}/").content.decode()
    assert "Its pool has rules on candidates" in page
    low, high = (job.result["lines"][0][name] for name in ("width_from", "width_to"))
    assert f"({low:.3f}–{high:.3f})" in page


def test_a_pilot_of_few_queries_is_refused_in_words(chief):
    world = judge_world(build_world(has_unit_vectors=True))
    Result.objects.create(campaign=world.campaign, code_version="", inputs={}, settings={},
                          summary={}, bias={}, by_query={}, details_sha256="0" * 64)  # fmt: skip
    job = made(chief, {**SMALL, "pilot": world.campaign.pk})
    assert job.state == JobState.FAILED
    assert "8 queries are judged whole" in job.error
    assert "8 queries are judged whole" in chief.get(f"/plan/{job.uid}/").content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"queries": "5"}, "Each number must be from 10 to 100,000"),
        ({"queries": "many"}, "Write numbers with commas between"),
        ({"depths": "0"}, "Each number must be from 1 to 50"),
        ({"shares": "0"}, "Each number must be from 1.0 to 100.0"),
        ({"measure": "P@5"}, "P@5 needs a deeper pool"),
        ({"measure": "nDCG@5"}, "Select a valid choice"),
        ({"judges": ",".join(map(str, range(1, 50)))}, "at most 200 are tried"),
        ({"misses": "50"}, "less than or equal to 49"),
        ({"queries": ""}, "This field is required"),
    ],
)
def test_what_cannot_be_planned_is_named_beside_its_field(chief, changes, said):
    page = chief.post("/plan/", {**SMALL, **changes}).content.decode()
    assert said in page
    assert not Job.objects.filter(task=PLAN_TASK).exists()


def test_another_plan_of_the_same_person_takes_the_place_of_one_that_waits(chief):
    chief.post("/plan/", SMALL)
    chief.post("/plan/", SMALL)
    assert sorted(Job.objects.values_list("state", flat=True)) == ["cancelled", "queued"]


def test_only_admins_plan(db):
    reader = signed_in(User.objects.create_user("reader", role=Role.RESEARCHER))
    assert reader.get("/plan/").status_code == 403
    assert reader.post("/plan/", SMALL).status_code == 403
