"""A plan: asked for on a page, made by a worker from assumptions or a pilot, read on a page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from django.test import Client

from accounts.models import Role, User
from evaluation.models import Result
from evaluation.plan.pilots import pilot_of
from evaluation.plan.services import PLAN_TASK
from evaluation.tasks import plan
from jobs.models import Job, JobState
from lookalike.core.progress import SILENT
from lookalike.planning.designs import Costs, Design
from lookalike.planning.planner import assumed_pilot, forecast
from lookalike.planning.simulator import DISTANT, World
from lookalike.pooling.candidate_rule import CandidateRule
from pooling.models import Proposal
from tests.clients import signed_in
from tests.kept import kept
from tests.worlds import build_world, judge_world

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
    assert f"n_queries={best.design.n_queries}&amp;k=3" in page
    assert len(job.result["lines"]) == len(found) == 4


def test_a_design_fills_in_the_form_of_its_pool(chief):
    judged_pilot()
    form = chief.get("/pools/new/?n_queries=20&k=3&n_judges=1&hourly=30").content.decode()
    for name, value in (("n_queries", 20), ("k", 3), ("n_judges", 1), ("hourly", 30)):
        [field] = re.findall(rf'<input[^>]*name="{name}"[^>]*>', form)
        assert f'value="{value}"' in field


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
    assert f"12 queries of “{world.campaign}” that are judged whole, and its 2 models" in page
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
        ({"queries": "5"}, "Each is from 10 to 100,000"),
        ({"queries": "many"}, "Write numbers with commas between"),
        ({"depths": "0"}, "Each is from 1 to 50"),
        ({"shares": "0"}, "Each is from 1.0 to 100.0"),
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
