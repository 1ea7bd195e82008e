"""The pages on which admins run campaigns, in a real browser: accessibility, width, preview."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import Role
from annotation.models import Adjudication, Campaign
from annotation.services import add_gold, import_judgements, open_campaign
from annotation.services.gold import GoldPair
from tests.e2e.pages import in_windows, overflow, serious_problems

PAGES = [
    "campaign", "panel", "edit_guidelines", "gold", "answers_given", "quality", "agreement",
    "adjudication", "settings",
]  # fmt: skip
WORDS = ["similar", "different", "cant_tell"]


@pytest.fixture
def campaign(make_person, make_campaign) -> Campaign:
    """Three judges, one of them a program, who do not always agree; with gold and examples."""
    panel = [make_person("mira"), make_person("jonas"), make_person("robot", is_simulated=True)]
    draft = make_campaign(*panel, n_queries=4, n_candidates=6, is_open=False)
    given = list(draft.questions.values_list("query_id", "candidate_id"))
    for purpose, pairs in (("gold", given[:3]), ("example", given[6:9])):
        gold = [GoldPair(q, c, "similar", "The same cut and collar") for q, c in pairs]
        add_gold(campaign=draft, purpose=purpose, pairs=gold)
    campaign = open_campaign(campaign=draft)
    rows = [
        (query, candidate, person.pk, WORDS[(place * (number + 1)) % (2 + (place % 5 == 0))])
        for place, (query, candidate) in enumerate(given)
        for number, person in enumerate(panel)
    ]
    import_judgements(campaign=campaign, rows=rows)
    return campaign


def shot(page: Page, name: str) -> None:
    """Keep a picture of the page where LOOKALIKE_SHOTS names a folder."""
    folder = os.environ.get("LOOKALIKE_SHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.daily
@in_windows
def test_the_campaign_pages_are_accessible(open_page, make_person, campaign, size, theme):
    page = open_page(make_person("ada", Role.ADMIN), size=size, theme=theme)
    addresses = {name: reverse(f"annotation:{name}", args=[campaign.slug]) for name in PAGES}
    for name, address in {"campaigns": reverse("annotation:campaigns"), **addresses}.items():
        page.goto(address)
        page.wait_for_load_state("networkidle")
        shot(page, f"{name}-{size}-{theme}")
        assert serious_problems(page) == [], name
        assert overflow(page) <= 0, name


def test_the_guidelines_preview_follows_the_editor(open_page, make_person, campaign):
    page = open_page(make_person("ada", Role.ADMIN))
    page.goto(reverse("annotation:edit_guidelines", args=[campaign.slug]))
    page.get_by_label("Guidelines (markdown)").fill("## Seams\n\nLook at the **seams**.")
    preview = page.locator("#preview")
    expect(preview.locator("strong")).to_have_text("seams")
    expect(preview.get_by_role("heading", name="Seams")).to_be_visible()
    page.get_by_role("button", name="Put in force").click()
    expect(page.get_by_text("The guidelines are in force.")).to_be_visible()
    expect(page.get_by_role("heading", name="Version 2, in force")).to_be_visible()


def test_an_admin_rules_on_a_contested_pair(open_page, make_person, campaign):
    page = open_page(make_person("ada", Role.ADMIN))
    page.goto(reverse("annotation:adjudication", args=[campaign.slug]))
    heading = page.get_by_role("heading", name="Pair 1 of")
    before = heading.inner_text()
    expect(page.locator(".pair[data-ready]")).to_be_visible()
    for frame in page.locator(".frame").all():
        box = frame.bounding_box()
        assert box
        assert box["height"] > 200
    assert serious_problems(page) == []
    page.get_by_label("In other words").fill("The collar decides")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Different F").focus()
    page.keyboard.press("Enter")
    assert not Adjudication.objects.exists()
    page.get_by_role("button", name="Similar J").click()
    expect(page.get_by_text("The ruling is kept.")).to_be_visible()
    expect(page.get_by_text("The collar decides")).to_be_visible()
    expect(page.get_by_text("ruled by ada")).to_be_visible()
    assert heading.inner_text() != before
    for shown in (heading, *page.locator("#ruling .frame").all()):  # of the next pair
        expect(shown).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Make gold").click()
    expect(page.get_by_text("is gold of")).to_be_visible()
    expect(page.locator(".pair[data-ready]")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator(".frame.is-zoomed")).to_have_count(2)
    page.keyboard.press("2")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Plain to see when looked at closely").last).to_be_visible()
    expect(page.get_by_text("ruled by ada")).to_have_count(2)
    assert Adjudication.objects.filter(answer="different").count() == 1


def test_an_admin_takes_the_last_ruling_back_by_key_or_in_the_message(
    open_page, make_person, campaign
):
    page = open_page(make_person("ada", Role.ADMIN))
    page.goto(reverse("annotation:adjudication", args=[campaign.slug]))
    by_key, in_message = (
        lambda: page.keyboard.press("u"),
        lambda: page.get_by_role("status").get_by_role("button", name="Take back").click(),
    )
    for take_back in (by_key, in_message):
        expect(page.locator(".pair[data-ready]")).to_be_visible()
        page.keyboard.press("2")
        page.keyboard.press("j")
        expect(page.get_by_text("The ruling is kept.")).to_be_visible()
        shot(page, "ruled")
        assert serious_problems(page) == []
        take_back()
        expect(page.get_by_text("The votes decide again.")).to_be_visible()
        assert not Adjudication.objects.exists()
