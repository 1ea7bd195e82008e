"""Graded pairs in Chromium: from the form over three judges' keyboards to a verified release."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import ir_measures
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign, Gold, Judgement, Question
from annotation.services import close_campaign, open_campaign
from evaluation.results.assessment import assess
from evaluation.results.services import store_result
from lookalike.agreement.grades import Scale
from lookalike.metrics.leaderboard_tables import JUDGES
from lookalike.pooling.query_rule import QueryRule
from lookalike.release.verify import verify
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from pooling.pools.statistics import update_stats
from pooling.sources.fill import store_proposals
from pooling.sources.nearest import nearest_candidates
from pooling.sources.proposers import Answer
from releases.freeze.requests import FreezeRequest
from releases.storage import archive_path, files_folder
from tests.e2e.pages import (
    in_windows,
    overflow,
    question_named,
    see_pair,
    see_pictures,
    serious_problems,
)
from tests.e2e.pictures import make_images
from tests.worlds import SPECS, embed, freeze_now

SCALE = Scale(("Different", "Somewhat similar", "Similar", "Nearly identical"), 2)
PAUSE_MS = 200  # longer than the dead time after an answer


@pytest.fixture
def pool(transactional_db: None) -> Pool:
    """Ten queries, so that boards show numbers; for each of them two models propose a picture."""
    images = make_images(12)
    catalog = images[0].catalog
    rng = np.random.default_rng(2)
    sets = {spec: embed(catalog, spec, rng.normal(size=(12, 4))) for spec in SPECS}
    made = create_pool(
        request=PoolRequest(name="Bags", catalog=catalog, specs=SPECS, k=1, rule=QueryRule(n=10)),
        created_by=None,
    )
    for source in made.sources.all():
        used = sets[source.spec]
        found = nearest_candidates(made, source.k, used, used)
        store_proposals(source=source, answer=Answer(found, used, used))
    update_stats(pool=made)
    return made


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other, slowly enough for each to count."""
    for key in keys:
        see_pictures(page)
        page.keyboard.press(key)
        page.wait_for_timeout(PAUSE_MS)


def all_saved(page: Page) -> None:
    expect(page.locator(".judge-saved")).to_have_text("All answers saved")


def answers_of(campaign: Campaign) -> list[str]:
    found = Judgement.objects.filter(question__campaign=campaign).order_by("event_id")
    return list(found.values_list("answer", flat=True))


@pytest.mark.daily
def test_from_the_form_over_three_keyboards_to_a_release_that_verifies(
    open_page: Callable[..., Page], make_person: Callable[..., User], pool: Pool
) -> None:
    chief = make_person("chief", Role.ADMIN)
    judges = [make_person(name) for name in ("ann", "ben", "cleo")]
    page = open_page(chief)
    page.goto(f"/pools/{pool.slug}/campaign/")
    expect(page.get_by_label("Grades, one a line")).to_be_hidden()
    page.get_by_label("Grades of similarity").check()
    expect(page.get_by_label("Grades, one a line")).to_have_value("\n".join(SCALE.words))
    for judge in judges:
        page.get_by_label(judge.username).check()
    page.get_by_label("Similar from grade").fill("4")
    page.get_by_role("button", name="Save, then check and open").click()
    expect(page.locator("form.card")).to_contain_text(
        "counts as similar from grade 1 to 3 on, not from 4"
    )
    page.get_by_label("Similar from grade").fill("2")
    page.get_by_role("button", name="Save, then check and open").click()
    page.get_by_role("button", name="Open for judging").click()
    expect(page.get_by_text("is opened")).to_be_visible()

    campaign = Campaign.objects.get()
    assert campaign.kind.scale == SCALE
    n_pairs = campaign.n_questions
    for shift, judge in enumerate(judges):
        desk = open_page(judge)
        desk.goto(f"/judge/{campaign.uid}/")
        see_pair(desk)
        for _ in range(n_pairs):
            see_pictures(desk)
            name = str(desk.locator(".pair").get_attribute("data-question"))
            question = question_named(name)
            others = campaign.questions.filter(query=question.query).order_by("pk")
            is_first = question == others[0]  # so that every query has a gain
            grade = 2 * is_first + (question.pk + shift) % 3 // 2
            desk.keyboard.press(str(grade))
            desk.wait_for_timeout(PAUSE_MS)
        expect(desk.locator("[data-part=count]")).to_have_text(f"{n_pairs} of {n_pairs}")
        all_saved(desk)
    assert set(answers_of(campaign)) == set(SCALE.answers)
    assert len(answers_of(campaign)) == 3 * n_pairs

    store_result(campaign=campaign, assessment=assess(campaign, n_bootstraps=20), job=None)
    close_campaign(campaign=campaign, by=None, reason="All pairs are judged.")
    request = FreezeRequest(
        slug="graded", title="Graded", version="1.0.0", campaigns=(campaign.slug,),
        date="2026-11-21", authors=("The curators",), description="Graded by three.",
    )  # fmt: skip
    release = freeze_now(request)
    assert verify(archive_path(release)).findings == ()
    page.goto(f"/results/{campaign.slug}/?by=nDCG@5")
    board = page.request.get(f"/results/{campaign.slug}/leaderboard.csv?by=nDCG@5").text()
    folder = files_folder(release)
    qrels = list(ir_measures.read_trec_qrels(str(folder / "trec/qrels.txt")))
    shown = {row["model"]: row for row in csv.DictReader(io.StringIO(board))}
    del shown[JUDGES]
    ids = {model["name"]: model["id"] for model in release.entrants}
    for name, row in shown.items():
        run = list(ir_measures.read_trec_run(str(folder / f"trec/runs/{ids[name]}.txt")))
        theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 5], qrels, run)
        assert float(row["nDCG@5"]) == pytest.approx(theirs[ir_measures.nDCG @ 5], abs=1e-9)
    page.goto("/releases/graded/1.0.0/")
    expect(page.get_by_text("nDCG@5, linear gains").first).to_be_visible()


@pytest.fixture
def desk(
    open_page: Callable[..., Page],
    make_person: Callable[..., User],
    make_campaign: Callable[..., Campaign],
) -> tuple[Page, Campaign]:
    judge = make_person("judith")
    campaign = make_campaign(judge, n_queries=5, n_candidates=5, scale=SCALE)
    page = open_page(judge)
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    return page, campaign


def test_keys_buttons_undo_and_the_strip_know_the_grades(desk: tuple[Page, Campaign]) -> None:
    page, campaign = desk
    press(page, "0", "3", "j", "4", "ArrowRight", "m", "c")  # four of them mean nothing here
    see_pictures(page)
    page.get_by_role("button", name="Somewhat similar").click()
    all_saved(page)
    assert answers_of(campaign) == ["different:0", "similar:3", "cant_tell", "different:1"]
    expect(page.locator(".strip button").first).to_have_attribute(
        "title", "Somewhat similar. Judge it again"
    )
    press(page, "u", "2")
    all_saved(page)
    assert answers_of(campaign)[-1] == "similar:2"
    expect(page.locator("[data-part=count]")).to_have_text("4 of 25")


def test_grades_given_without_network_arrive_once(desk: tuple[Page, Campaign]) -> None:
    page, campaign = desk
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    press(page, *"0123012301")
    expect(page.locator(".judge-saved")).to_contain_text("10 answers not saved yet")
    assert answers_of(campaign) == []
    page.context.set_offline(False)
    all_saved(page)
    assert answers_of(campaign) == [SCALE.answer(int(grade)) for grade in "0123012301"]


def test_training_tells_a_grade_that_is_near_enough(
    open_page: Callable[..., Page],
    make_person: Callable[..., User],
    make_campaign: Callable[..., Campaign],
) -> None:
    judge = make_person("judith")
    draft = make_campaign(judge, is_open=False, scale=SCALE)
    pair = draft.questions.first()
    assert pair is not None
    taught = Question.objects.create(
        campaign=draft, query=pair.query, candidate=pair.candidate, kind="training", position=0
    )
    Gold.objects.create(question=taught, answer="similar:3", why="The same cut.")
    open_campaign(campaign=draft)
    page = open_page(judge)
    page.goto(f"/judge/{draft.uid}/")
    see_pair(page)
    press(page, "2")
    feedback = page.locator(".judge-feedback")
    expect(feedback).to_contain_text("Near enough. Expected: Nearly identical")
    expect(feedback).to_have_attribute("data-is", "right")


@in_windows
def test_the_page_is_accessible_and_fits(
    open_page: Callable[..., Page],
    make_person: Callable[..., User],
    make_campaign: Callable[..., Campaign],
    size: str,
    theme: str,
) -> None:
    judge = make_person("judith")
    campaign = make_campaign(judge, scale=SCALE)
    page = open_page(judge, size=size, theme=theme)
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    assert serious_problems(page) == []
    assert overflow(page) <= 0
