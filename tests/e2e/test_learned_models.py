"""A model of each family is learned by its page, pooled or asked, and stands beside backbones."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from celery import current_app
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign
from catalog.models import Catalog
from evaluation.results.assessment import assess
from evaluation.results.services import store_result
from jobs.models import Job, JobState
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool
from tests.catalogs import catalog_of_paints
from tests.e2e.pages import overflow, serious_problems
from tests.learning.spaces import PARENT, colour_templates, learned_space
from tests.worlds import answer_all, same_colour

BACKBONE = "descriptor:colour-layout"


@pytest.fixture
def paints(transactional_db: None) -> Catalog:
    return catalog_of_paints()


@pytest.fixture
def chief(
    paints: Catalog, open_page: Callable[..., Page], make_person: Callable[..., User]
) -> Page:
    return open_page(make_person("chief", Role.ADMIN))


def work() -> None:
    """Do what is queued, as workers do."""
    while job := Job.objects.filter(state=JobState.QUEUED).order_by("id").first():
        current_app.tasks[job.task](str(job.uid))


def is_well_made(page: Page) -> None:
    assert serious_problems(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert overflow(page) <= 0
    page.set_viewport_size({"width": 1280, "height": 850})


def learn(chief: Page, method: str, columns: str) -> None:
    chief.goto("/notions/")
    chief.get_by_role("link", name="Learned models").click()
    chief.get_by_role("link", name="Learn an embedding").click()
    chief.get_by_label("Name").fill("Own")
    chief.get_by_label("Catalog").select_option(label="Paints")
    chief.get_by_label("Attributes").fill(columns)
    chief.get_by_label("What is learned").select_option(method)
    chief.get_by_text("How it is learned").click()
    for label, value in (("Backbone of the pictures", PARENT), ("Numbers", "8"),
                         ("Hidden layer", "0"), ("Epochs", "3")):  # fmt: skip
        chief.get_by_label(label).fill(value)
    chief.get_by_role("button", name="Learn it").click()
    expect(chief.get_by_text("Waiting for a worker")).to_be_visible()
    work()
    expect(chief.get_by_role("heading", name="What it does")).to_be_visible()
    expect(chief.locator("#losses svg[role=img]")).to_be_visible()


def pool(chief: Page, spec: str) -> Pool:
    """Tick a learned model beside a backbone in the form of a pool, and let both propose."""
    chief.get_by_role("link", name="Make a pool with it").click()
    chief.fill("#id_name", "Alike")
    chief.fill("#id_models", BACKBONE)
    chief.get_by_text("Learned here", exact=True).click()
    chief.locator(f"input[name=ticked][value='{spec}']").check()
    chief.fill("#id_k", "3")
    chief.fill("#id_n_queries", "12")
    chief.get_by_role("button", name="Fill the pool").click()
    chief.wait_for_url("**/pools/alike/")
    work()
    return Pool.objects.get()


def judged(pool: Pool, judge: User) -> Campaign:
    campaign = open_pool_campaign(pool=pool, name="Alike", panel=[judge])
    answer_all(campaign, judge, same_colour)
    store_result(campaign=campaign, assessment=assess(campaign, n_bootstraps=20), job=None)
    return campaign


@pytest.mark.parametrize(
    ("method", "columns", "spec"),
    [
        ("multisimilarity", "colour", "learned:own"),
        ("CSN", "colour, view", "learned:own#colour"),
    ],
)
def test_it_is_learned_pooled_and_flagged_on_the_board(
    chief: Page, make_person: Callable[..., User], method: str, columns: str, spec: str
) -> None:
    learn(chief, method, columns)
    if "#" in spec:
        chief.locator("input[name=head][value=colour]").check()
    expect(chief.get_by_role("heading", name=f"By {spec}")).to_be_visible()
    expect(chief.get_by_label("Nearest after").locator("img")).to_have_count(8)
    is_well_made(chief)
    campaign = judged(pool(chief, spec), make_person("ann"))
    chief.goto(f"/results/{campaign.slug}/")
    board = chief.get_by_role("group", name="Leaderboard")
    own = board.get_by_role("row", name=re.compile(spec))
    expect(own).to_contain_text(re.compile(r"learned from \d+ of 12 queries"))
    other = board.get_by_role("row", name=re.compile(BACKBONE))
    expect(other).to_be_visible()
    expect(other).not_to_contain_text("learned from")


def test_a_combiner_is_learned_and_answers_templates_beside_a_backbone(chief: Page) -> None:
    paints = Catalog.objects.get()
    learned_space(paints)
    templates = colour_templates(paints)
    chief.goto("/notions/paints/")
    chief.get_by_role("link", name="Learn a Combiner").click()
    chief.get_by_label("Name").fill("Join")
    chief.get_by_label("Subject").fill("view")
    chief.get_by_label("Attributes").fill("colour")
    chief.get_by_text("How it is learned").click()
    chief.get_by_label("Triplets").fill("200")
    chief.get_by_role("button", name="Learn it").click()
    expect(chief.get_by_text("Waiting for a worker")).to_be_visible()
    work()
    expect(chief.get_by_role("heading", name="What it does")).to_be_visible()
    is_well_made(chief)
    chief.goto(reverse("conditional:set", args=[templates.slug]))
    for model in ("composer:join", PARENT):
        chief.get_by_label("Model", exact=True).fill(model)
        chief.get_by_role("button", name="Score it").click()
        expect(chief.get_by_text("Waiting for a worker")).to_be_visible()
        work()
        expect(chief.get_by_role("rowheader", name=re.compile(f"^{model}"))).to_be_visible()
    own = chief.get_by_role("rowheader", name=re.compile("^composer:join"))
    expect(own).to_contain_text(re.compile(r"learned from \d+ of 12 templates"))
    expect(chief.get_by_text("Image + text, by the Combiner")).to_be_visible()
    expect(chief.get_by_role("rowheader", name=PARENT, exact=True)).to_be_visible()
    is_well_made(chief)
