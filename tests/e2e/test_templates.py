"""Luma templates are built and verified by keyboard; they pass, fail or are ruled on."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from conditional.models import RetrievalTemplate, TemplateSet, Verification, VerifierAnswer
from conditional.tasks import build
from conditional.template_sets.services import BUILD_TASK
from conditional.verification.queries import (
    current_answers,
    find_verifier,
    list_results,
    seen_order,
)
from jobs.models import Job
from tests.e2e.pages import overflow, see_pictures, serious_problems

N_ASKED = 10
KEYS = "1234567890qwert"


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


def open_a_verification(chief: Page, panel: list[User]) -> Verification:
    chief.get_by_role("link", name="Have it verified").click()
    for judge in panel:
        chief.get_by_label(judge.username).check()
    chief.get_by_label("How many templates").fill(str(N_ASKED))
    chief.get_by_role("button", name="Open the verification").click()
    expect(chief.get_by_role("heading", name="Panel")).to_be_visible()
    return Verification.objects.get()


def key_for(template: RetrievalTemplate, verification: Verification, judge: User) -> str:
    """What a judge presses: of the ten, six pass, two fail, and the panel is split on two."""
    positions = list(verification.templates.order_by("position").values_list("pk", flat=True))
    place = positions.index(template.pk)
    verifier = find_verifier(verification.uid, judge.pk)
    target = len(template.gallery)
    order = seen_order(verifier, template)
    if place < 6:
        return KEYS[order.index(target)]
    if place < 8:
        return "b" if place == 6 else "n"
    return [KEYS[order.index(target)], "n", "s"][verifier.number]


def judge_all(page: Page, verification: Verification, judge: User) -> None:
    """Answer every template by keyboard, taking the first answer back once."""
    page.goto("/judge/")
    page.get_by_role("link", name="Start").click()
    for number in range(N_ASKED):
        template = template_on(page)
        page.keyboard.press(key_for(template, verification, judge))
        if number == 0:
            expect(page.locator("[data-part=count]")).to_have_text(f"1 of {N_ASKED}")
            page.keyboard.press("u")
            expect(page.locator(f"[data-part=reference][src*='{template.uid}']")).to_be_visible()
            page.wait_for_timeout(250)
            see_pictures(page)
            page.keyboard.press(key_for(template, verification, judge))
        page.wait_for_timeout(250)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()


def template_on(page: Page) -> RetrievalTemplate:
    shown = page.locator("[data-part=reference]")
    expect(shown).to_be_visible()
    see_pictures(page)
    found = re.search(r"/images/\d+/([0-9a-f-]{36})/reference/", shown.get_attribute("src") or "")
    assert found is not None
    return RetrievalTemplate.objects.get(uid=found[1])


def test_luma_templates_are_built_verified_by_keyboard_and_pass_or_fail(
    luma: None, make_person: Callable[..., User], open_page: Callable[..., Page]
) -> None:
    panel = [make_person(name) for name in ("anna", "ben", "cleo")]
    chief = open_page(make_person("ada", Role.ADMIN))
    assert build_a_set(chief).templates.count() == 40
    verification = open_a_verification(chief, panel)
    for judge in panel:
        judge_all(open_page(judge), verification, judge)
    assert len(current_answers(verification)) == 3 * N_ASKED
    assert VerifierAnswer.objects.count() == 3 * (N_ASKED + 2)
    chief.reload()
    for words in ("To adjudicate (2)", "Fail (2)", "Pass (6)", "Waiting (0)"):
        expect(chief.get_by_role("link", name=words)).to_be_visible()
    expect(chief.locator(".tile", has_text="verified")).to_contain_text("6")
    expect(chief.get_by_text("Besides: 1 × none of them, 1 × several.").first).to_be_visible()
    chief.get_by_role("button", name="It passes").first.click()
    expect(chief.get_by_text("Your ruling is kept.")).to_be_visible()
    assert sum(one.passes is True for one in list_results(verification)) == 7
    chief.get_by_role("link", name="Fail (2)").click()
    expect(chief.get_by_text("Besides: 3 × bad condition.")).to_be_visible()
    assert serious_problems(chief) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_arrows_and_touch_pick_too_and_pages_fit_a_phone(
    luma: None, make_person: Callable[..., User], open_page: Callable[..., Page], theme: str
) -> None:
    call_command(
        "build_templates", "Colours", "--catalog", "luma", "--task", "change_attribute", "--same",
        "category path=/", "--ask", "color unknown=bk,gr,br,lb,sa", "--n", "12", "--json",
    )  # fmt: skip
    judge, admin = make_person("anna"), make_person("ada", Role.ADMIN)
    chief = open_page(admin, size="phone", theme=theme)
    chief.goto("/templates/sets/colours/verify/")
    chief.get_by_label("anna").check()
    chief.get_by_role("button", name="Open the verification").click()
    for address in ("/templates/", "/templates/sets/colours/", "/templates/verifications/colours/"):
        chief.goto(address)
        assert overflow(chief) <= 0, address
    page = open_page(judge, size="phone", theme=theme)
    page.goto("/judge/")
    page.get_by_role("link", name="Start").tap()
    template = template_on(page)
    page.locator("[data-pick='3']").tap()
    expect(page.locator("[data-part=count]")).to_have_text("1 of 12")
    [first] = VerifierAnswer.objects.all()
    verifier = find_verifier(Verification.objects.get().uid, judge.pk)
    assert (first.picked, first.device) == (seen_order(verifier, template)[3], "touch")
    second = template_on(page)
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("[data-part=count]")).to_have_text("2 of 12")
    last = VerifierAnswer.objects.last()
    assert last is not None
    assert (last.picked, last.device) == (seen_order(verifier, second)[2], "keyboard")
    assert overflow(page) <= 0
    assert serious_problems(page) == []
