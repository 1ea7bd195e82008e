"""The further study of a campaign: asked for on its page, made by a worker."""

from __future__ import annotations

import functools

import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign, Judgement
from annotation.services import exclude_answers
from evaluation.plan.pilots import pilot_of
from evaluation.runs.pool_rankings import ranked_runs
from evaluation.study.queries import latest_study
from evaluation.study.services import STUDY_TASK, Study
from evaluation.tasks import study
from jobs.models import Job, JobState
from lookalike.core.progress import SILENT
from lookalike.planning.second_opinion import second_opinions
from tests.clients import signed_in
from tests.kept import kept
from tests.worlds import SPECS, World, build_world, judge_world

pytestmark = pytest.mark.django_db
judged = kept(lambda: judge_world(build_world(n_queries=12, has_unit_vectors=True)))


@pytest.fixture
def reader(db: None) -> Client:
    return signed_in(User.objects.create_user("rea", role=Role.RESEARCHER))


def looked(client: Client, campaign: Campaign) -> Job:
    """Ask by the page, and let a worker look."""
    assert client.post(f"/results/{campaign.slug}/study/").status_code == 302
    job = Job.objects.filter(task=STUDY_TASK).latest("created_at")
    study(str(job.uid))
    job.refresh_from_db()
    return job


def found_in(world: World) -> Study:
    found = latest_study(world.campaign)
    assert found is not None
    return found


def test_votes_opinions_machines_and_the_next_model_stand_on_one_page(reader):
    world = judged()
    address = f"/results/{world.campaign.slug}/study/"
    assert "Nobody has looked yet" in reader.get(address).content.decode()
    job = looked(reader, world.campaign)
    assert job.state == JobState.SUCCEEDED, job.error
    found = found_in(world)
    assert not found.problems
    pilot = pilot_of(world.campaign, SILENT)
    wanted = second_opinions(pilot.pool, pilot.votes, "AP'")
    assert [line.chance for line in found.opinions] == wanted.chance[wanted.order[:20]].tolist()
    assert {line.model for line in found.votes} == set(SPECS)
    assert {line.n_similar for line in found.opinions} <= {1, 2}, "the third always disagrees"
    outsider = "descriptor:lbp-texture"
    assert {line.model for line in found.machines} == {*SPECS, outsider}
    assert [line.model for line in found.newcomers] == [outsider]
    assert [line.model for line in found.builders] == list(SPECS)
    page = reader.get(address).content.decode()
    assert "Labels have changed since" not in page
    assert page.count("review-pair") == len(found.opinions)
    assert "/pairs/" not in page, "who said what is for admins"
    admin = signed_in(User.objects.create_user("chief", role=Role.ADMIN))
    assert f"/campaigns/{world.campaign.slug}/pairs/" in admin.get(address).content.decode()
    told = reader.get(f"/api/v1/campaigns/{world.campaign.slug}/second-opinions").json()
    assert [pair["chance"] for pair in told["pairs"]] == [line.chance for line in found.opinions]
    assert told["is_current"]
    events = world.campaign.panel.filter(number__in=[1, 2]).values_list("pk", flat=True)
    answers = Judgement.objects.filter(member__in=events).values_list("event__uuid", flat=True)
    exclude_answers(campaign=world.campaign, events=list(answers), reason="asleep", by=None)
    assert "Labels have changed since" in reader.get(address).content.decode()


def test_of_a_pool_judged_in_part_every_pair_is_scored_however_deep_lists_are(reader, monkeypatch):
    world = judged()
    monkeypatch.setattr(
        "evaluation.study.make_study.ranked_runs", functools.partial(ranked_runs, depth=8)
    )
    monkeypatch.setattr("evaluation.runs.ranking_task.N_PRODUCTS", 1)
    pairs = world.campaign.questions.filter(kind="pair").order_by("pk")
    unjudged = [pair.pk for number, pair in enumerate(pairs) if number % 7 == 0]
    answers = Judgement.objects.filter(question__in=unjudged).values_list("event__uuid", flat=True)
    exclude_answers(campaign=world.campaign, events=list(answers), reason="asleep", by=None)
    job = looked(reader, world.campaign)
    assert job.state == JobState.SUCCEEDED, job.error
    found = found_in(world)
    assert set(found.problems) <= {"votes"}
    assert {line.model for line in found.machines} >= set(SPECS)


def test_a_judge_sees_none_of_it_and_a_campaign_without_labels_says_so(reader):
    world = build_world(n_queries=10, has_unit_vectors=True)
    address = f"/results/{world.campaign.slug}/study/"
    assert signed_in(world.judges[0]).get(address).status_code == 403
    job = looked(reader, world.campaign)
    assert job.state == JobState.FAILED
    assert "no pair" in job.error
    assert "no pair" in reader.get(address).content.decode()
