"""Plan, pilot, rounds, stop, release: an admin's way in a browser; judges answer beside it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import close_campaign
from evaluation.models import RoundPlan
from evaluation.plan.services import PLAN_TASK
from evaluation.results.services import EVALUATE_TASK, request_evaluation
from evaluation.rounds.services import LOOK_TASK
from evaluation.tasks import evaluate, look, plan
from jobs.models import Job, JobState
from lookalike.release.verify import verify
from releases.models import Release
from releases.site.queries import FREEZE_TASK
from releases.storage import files_folder, releases_folder
from releases.tasks import freeze
from tests.e2e.pages import serious_problems
from tests.evaluation.rounds.cases import world_of_rounds
from tests.worlds import World, answer_all, judge_world, same_colour

TASKS = {PLAN_TASK: plan, EVALUATE_TASK: evaluate, LOOK_TASK: look, FREEZE_TASK: freeze}


@pytest.fixture
def chief(make_person: Callable[..., User], open_page: Callable[..., Page]) -> Page:
    shutil.rmtree(releases_folder(), ignore_errors=True)
    return open_page(make_person("chief", Role.ADMIN))


def work(task: str) -> Job:
    """Do the newest job of a task, as a worker would."""
    job = Job.objects.filter(task=task).latest("pk")
    TASKS[task](str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED, job.error
    return job


@pytest.mark.daily
def test_from_a_plan_over_a_pilot_and_rounds_to_a_stop_and_a_release(chief: Page) -> None:
    world = judge_world(world_of_rounds())
    request_evaluation(campaign=world.campaign, owner=None)
    work(EVALUATE_TASK)
    make_plan(chief, world)
    campaign = open_in_rounds(chief, world)
    go_through_rounds(chief, world, campaign)
    release = freeze_part(chief, campaign)
    assert verify(files_folder(release)).is_right


def make_plan(chief: Page, world: World) -> None:
    chief.goto("/pools/")
    chief.get_by_role("link", name="Plan a campaign").click()
    chief.select_option("#id_pilot", label=str(world.campaign))
    for field, value in (("queries", "12, 24"), ("depths", "4"), ("judges", "3"),
                         ("shares", "50, 100"), ("width", "0.3")):  # fmt: skip
        chief.fill(f"#id_{field}", value)
    chief.select_option("#id_measure", "AP'")
    chief.locator("main form button[type=submit]").first.click()
    chief.wait_for_url(re.compile(r"/plan/[0-9a-f-]{36}/"))
    work(PLAN_TASK)
    chief.reload()
    expect(chief.get_by_role("heading", name="What it would bring")).to_be_visible()
    expect(chief.get_by_text("Tried out on 12 queries")).to_be_visible()


def open_in_rounds(chief: Page, world: World) -> Campaign:
    chief.goto(f"/pools/{world.pool.slug}/campaign/")
    chief.get_by_role("link", name="judge a part of them, in rounds").click()
    chief.fill("#id_name", "In part")
    for judge in world.judges:
        chief.get_by_label(judge.username).check()
    chief.fill("#id_share", "30")
    chief.fill("#id_n_looks", "2")
    chief.select_option("#id_measure", "AP'")
    chief.fill("#id_width", "0.49")
    assert serious_problems(chief) == []
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    expect(chief.get_by_text("is opened")).to_be_visible()
    return Campaign.objects.get(slug="in-part")


def judge_all(world: World, campaign: Campaign) -> None:
    for judge in world.judges:
        answer_all(campaign, judge, same_colour)


def go_through_rounds(chief: Page, world: World, campaign: Campaign) -> None:
    chief.goto(f"/results/{campaign.slug}/")
    chief.get_by_role("link", name="Rounds", exact=True).click()
    following = chief.get_by_role("button", name="Open the next round")
    expect(following).to_be_disabled()
    expect(chief.get_by_text("are still with judges").first).to_be_visible()
    judge_all(world, campaign)
    chief.reload()
    following.click()
    work(LOOK_TASK)
    chief.reload()
    expect(chief.get_by_text("Round 2 is not done").first).to_be_visible()
    judge_all(world, campaign)
    chief.reload()
    chief.get_by_role("button", name="Look at what is known").click()
    work(LOOK_TASK)
    chief.goto(f"/results/{campaign.slug}/")
    expect(chief.get_by_text("every value is an estimate")).to_be_visible()
    assert serious_problems(chief) == []
    expect(chief.get_by_text("Not for these measures").first).to_be_visible()
    chief.get_by_role("link", name="Rounds", exact=True).click()
    expect(chief.get_by_text("after round 2 of 2 planned")).to_be_visible()
    assert serious_problems(chief) == []
    chief.on("dialog", lambda dialog: dialog.accept())
    chief.get_by_role("button", name="Stop here").click()
    expect(chief.get_by_text("Stopped after round 2")).to_be_visible()
    assert RoundPlan.objects.get(campaign=campaign).claim["n_rounds"] == 2


def freeze_part(chief: Page, campaign: Campaign) -> Release:
    close_campaign(campaign=campaign, by=None, reason="Enough is known.")
    chief.goto("/releases/freeze/")
    chief.get_by_label("In part").check()
    chief.fill("#id_title", "A part")
    chief.fill("#id_slug", "a-part")
    chief.fill("#id_authors", "The curators")
    chief.locator("main form button[type=submit]").first.click()
    chief.wait_for_load_state()
    work(FREEZE_TASK)
    release = Release.objects.get(slug="a-part")
    chief.goto(f"/releases/{release.slug}/{release.version}/")
    expect(chief.get_by_text("All measures are estimates")).to_be_visible()
    return release
