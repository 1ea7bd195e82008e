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
from learning.notions.recipes import NotionRecipe
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool
from tests.catalogs import catalog_of_paints
from tests.e2e.pages import overflow, serious_problems
from tests.learning.spaces import PARENT, colour_templates, learned_notion, learned_space
from tests.worlds import answer_all, same_colour

BACKBONE = "descriptor:colour-layout"
FAMILIES = {  # what is learned, of which attributes, the words that guide, the head that is pooled
    "Guided": ("multisimilarity", "colour", "names", ""),
    "CSN": ("CSN", "colour, view", "", "#colour"),
    "LSN": ("LSN", "colour, view", "", "#condition-1"),
    "SCE": ("SCE-Net", "colour, view", "", "#condition-2"),
    "Set": ("DiscoverNet-Set", "colour, view", "", "#condition-1"),
    "Reg": ("DiscoverNet-Reg", "colour, view", "", "#condition-2"),
    "Single": ("single", "colour, view", "", ""),
    "ID": ("fine-tuning", "product", "", ""),
    "CAT": ("fine-tuning", "colour", "", ""),
    "Both": ("fine-tuning", "product, colour", "", ""),
}


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


def learn(chief: Page, method: str, columns: str, name: str = "Own", words: str = "") -> None:
    chief.goto("/notions/")
    chief.get_by_role("link", name="Learned models").click()
    chief.get_by_role("link", name="Learn an embedding").click()
    chief.get_by_label("Name").fill(name)
    chief.get_by_label("Catalog").select_option(label="Paints")
    chief.get_by_label("Attributes").fill(columns)
    chief.get_by_label("What is learned").select_option(method)
    chief.get_by_label("Guided by words").select_option(words)
    chief.get_by_text("How it is learned").click()
    for label, value in (("Backbone of the pictures", PARENT), ("Numbers", "8"),
                         ("Hidden layer", "0"), ("Epochs", "3")):  # fmt: skip
        chief.get_by_label(label).fill(value)
    chief.get_by_role("button", name="Learn it").click()
    expect(chief.get_by_text("Waiting for a worker")).to_be_visible()
    work()
    expect(chief.get_by_role("heading", name="What it does")).to_be_visible()
    expect(chief.locator("#losses svg[role=img]")).to_be_visible()


def learn_combiner(chief: Page) -> None:
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


def pool(chief: Page, *specs: str) -> Pool:
    """Tick learned models beside a backbone in the form of a pool, and let all propose."""
    chief.get_by_role("link", name="Make a pool with it").click()
    chief.fill("#id_name", "Alike")
    chief.fill("#id_models", BACKBONE)
    chief.get_by_text("Learned here", exact=True).click()
    for spec in specs:
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


def test_it_is_learned_pooled_and_flagged_on_the_board(
    chief: Page, make_person: Callable[..., User]
) -> None:
    spec = "learned:own#colour"
    learn(chief, "CSN", "colour, view")
    chief.locator("input[name=head][value=colour]").check()
    expect(chief.get_by_role("heading", name=f"By {spec}")).to_be_visible()
    expect(chief.get_by_label("Nearest after").locator("img")).to_have_count(8)
    is_well_made(chief)
    stands_on_the_board(chief, judged(pool(chief, spec), make_person("ann")), spec)


def stands_on_the_board(chief: Page, campaign: Campaign, *specs: str) -> None:
    """Expect learned models with what they have seen, and a backbone that has seen nothing."""
    chief.goto(f"/results/{campaign.slug}/")
    board = chief.get_by_role("group", name="Leaderboard")
    for spec in specs:
        own = board.get_by_role("row", name=re.compile(rf"{spec}(?![\w#-])"))
        expect(own).to_contain_text(re.compile(r"learned from \d+ of 12 queries"))
    other = board.get_by_role("row", name=re.compile(BACKBONE))
    expect(other).to_be_visible()
    expect(other).not_to_contain_text("learned from")


@pytest.mark.daily
def test_models_of_all_families_are_learned_by_pages_and_stand_on_one_board(
    chief: Page, make_person: Callable[..., User]
) -> None:
    space = learned_space(Catalog.objects.get())
    learned_notion(space, "Colour", NotionRecipe(("red", "green", "blue"), "a {} thing", dim=2))
    learn_combiner(chief)
    specs = ["learned:paints#colour", "learned:join#colour"]
    for name, (method, columns, words, head) in FAMILIES.items():
        learn(chief, method, columns, name, words)
        specs.append(f"learned:{name.lower()}{head}")
    chief.goto("/notions/learned/")
    for name in ("Single", "Set", "CSN"):
        chief.get_by_label(f"Compare {name}").check()
    chief.get_by_role("button", name="Compare those ticked").click()
    expect(chief.get_by_role("heading", name="Side by side")).to_be_visible()
    expect(chief.get_by_role("row", name=re.compile("Attributes"))).to_contain_text("colour, view")
    is_well_made(chief)
    chief.get_by_role("link", name="Single").first.click()
    stands_on_the_board(chief, judged(pool(chief, *specs), make_person("ann")), *specs)


@pytest.mark.daily
def test_a_combiner_is_learned_and_answers_templates_beside_a_backbone(chief: Page) -> None:
    paints = Catalog.objects.get()
    learned_space(paints)
    templates = colour_templates(paints)
    learn_combiner(chief)
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
