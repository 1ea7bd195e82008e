"""Luma templates are built and judged by keyboard; they pass, fail or are ruled on."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign, Judgement, JudgementEvent, Question
from conditional.campaigns.queries import list_results
from conditional.models import TemplateSet
from conditional.tasks import build
from conditional.template_sets.services import BUILD_TASK
from jobs.models import Job
from tests.e2e.pages import in_themes, overflow, places_on, question_on, serious_problems

N_ASKED = 10
KEYS = "1234567890qwert"
N_GALLERY = 14  # distractors; the target stands behind them


@pytest.fixture
def luma(shared_data: Path, tmp_path: Path, transactional_db: None) -> None:
    """The main photos of luma's three largest categories, imported as a catalog."""
    source = shared_data / "luma_fashion"
    with (source / "metadata.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["view"] == "main" and row["category"]]
    largest = {name for name, _ in Counter(row["category"] for row in rows).most_common(3)}
    rows = [row for row in rows if row["category"] in largest]
    folder = tmp_path / "luma"
    for row in rows:
        path = folder / row["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / row["path"], path)
    with (folder / "metadata.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    call_command("import_catalog", "luma", folder, "--metadata", folder / "metadata.csv", "--json")


def build_a_set(chief: Page) -> TemplateSet:
    """Ask for templates, look at the preview, and save."""
    chief.goto("/templates/")
    chief.get_by_role("link", name="Build a set").first.click()
    chief.get_by_label("Name", exact=True).fill("Another colour")
    chief.get_by_label("Catalog", exact=True).select_option(label="luma")
    chief.get_by_label("Same").fill("category path=/")
    chief.get_by_label("Asked for").fill("color unknown=bk,gr,br,lb,sa text=colour")
    chief.get_by_label("Templates at most").fill("40")
    preview = chief.locator("#preview article.template")
    expect(preview).to_have_count(4)
    expect(preview.first.get_by_text("target")).to_be_visible()
    assert serious_problems(chief) == []
    chief.get_by_role("button", name="Build and save").click()
    expect(chief.get_by_text("Build “Another colour”")).to_be_visible()
    build(str(Job.objects.get(task=BUILD_TASK).uid))
    chief.reload()
    chief.get_by_role("link", name="Another colour").click()
    expect(chief.locator("article.template")).to_have_count(10)
    return TemplateSet.objects.get()


def start_a_campaign(chief: Page, panel: list[User]) -> Campaign:
    chief.get_by_role("link", name="Start a campaign").click()
    for judge in panel:
        chief.get_by_label(judge.username).check()
    chief.get_by_label("How many templates").fill(str(N_ASKED))
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    expect(chief.get_by_role("heading", name="Progress of each judge")).to_be_visible()
    return Campaign.objects.get()


def key_for(page: Page, question: Question, number: int) -> str:
    """What a judge presses: of the ten, six pass, two fail, and the panel is split on two."""
    asked = sorted(question.campaign.questions.values_list("subject", flat=True))
    place = asked.index(question.subject)
    if place < 6:
        return KEYS[places_on(page, question).index(N_GALLERY)]
    if place < 8:
        return "b" if place == 6 else "n"
    return [KEYS[places_on(page, question).index(N_GALLERY)], "n", "s"][number]


def judge_all(page: Page, number_of_judge: int) -> None:
    """Answer every template by keyboard, taking the first answer back once."""
    page.goto("/judge/")
    page.get_by_role("link", name="Start").click()
    for number in range(N_ASKED):
        question = question_on(page)
        page.keyboard.press(key_for(page, question, number_of_judge))
        if number == 0:
            expect(page.locator("[data-part=count]")).to_have_text(f"1 of {N_ASKED}")
            page.keyboard.press("u")
            assert question_on(page) == question
            page.wait_for_timeout(250)
            page.keyboard.press(key_for(page, question, number_of_judge))
        page.wait_for_timeout(250)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.get_by_text("All answers saved")).to_be_visible()


@pytest.mark.daily
def test_luma_templates_are_built_judged_by_keyboard_and_pass_or_fail(
    luma: None, make_person: Callable[..., User], open_page: Callable[..., Page]
) -> None:
    panel = [make_person(name) for name in ("anna", "ben", "cleo")]
    chief = open_page(make_person("ada", Role.ADMIN))
    assert build_a_set(chief).templates.count() == 40
    campaign = start_a_campaign(chief, panel)
    for number, judge in enumerate(panel):
        judge_all(open_page(judge), number)
    assert Judgement.objects.count() == 3 * N_ASKED
    assert JudgementEvent.objects.count() == 3 * (N_ASKED + 2)
    chief.get_by_role("navigation", name="Campaign").get_by_role("link", name="Results").click()
    for words in ("To adjudicate (2)", "Fail (2)", "Pass (6)", "Waiting (0)"):
        expect(chief.get_by_role("link", name=words)).to_be_visible()
    expect(chief.locator(".tile", has_text="verified")).to_contain_text("6")
    expect(chief.get_by_text("Besides: 1 × none of them, 1 × several.").first).to_be_visible()
    results = chief.url
    chief.get_by_role("link", name="Adjudication").click()
    assert serious_problems(chief) == []
    chief.get_by_role("heading", name="Template 1 of 2").wait_for()
    chief.keyboard.press("j")
    expect(chief.get_by_text("The ruling is kept.")).to_be_visible()
    assert sum(one.passes is True for one in list_results(campaign)) == 7
    chief.goto(results)
    chief.get_by_role("link", name="Fail (2)").click()
    expect(chief.get_by_text("Besides: 3 × bad condition.")).to_be_visible()
    assert serious_problems(chief) == []


@in_themes
def test_arrows_and_touch_pick_too_and_pages_fit_a_phone(
    luma: None, make_person: Callable[..., User], open_page: Callable[..., Page], theme: str
) -> None:
    call_command(
        "build_templates", "Colours", "--catalog", "luma", "--task", "change_attribute", "--same",
        "category path=/", "--ask", "color unknown=bk,gr,br,lb,sa", "--n", "12", "--json",
    )  # fmt: skip
    judge, admin = make_person("anna"), make_person("ada", Role.ADMIN)
    chief = open_page(admin, size="phone", theme=theme)
    chief.goto("/templates/sets/colours/judge/")
    chief.get_by_label("anna").check()
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    for address in ("/templates/", "/templates/sets/colours/", "/templates/campaigns/colours/"):
        chief.goto(address)
        assert overflow(chief) <= 0, address
    page = open_page(judge, size="phone", theme=theme)
    page.goto("/judge/")
    page.get_by_role("link", name="Start").tap()
    places = places_on(page, question_on(page))
    page.locator("[data-pick='3']").tap()
    expect(page.locator("[data-part=count]")).to_have_text("1 of 12")
    expect(page.get_by_text("All answers saved")).to_be_visible()
    [first] = JudgementEvent.objects.all()
    assert (first.answer, first.device) == (f"pick:{places[3]}", "touch")
    places = places_on(page, question_on(page))
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("[data-part=count]")).to_have_text("2 of 12")
    expect(page.get_by_text("All answers saved")).to_be_visible()
    last = JudgementEvent.objects.last()
    assert last is not None
    assert (last.answer, last.device) == (f"pick:{places[2]}", "keyboard")
    assert overflow(page) <= 0
    assert serious_problems(page) == []
