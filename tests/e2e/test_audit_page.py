"""The audit log and the site's state in a real browser: readable, filtered, by keyboard."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page, expect

from accounts.models import Role
from accounts.services import invite_person
from audit.actions import Action
from audit.services import record
from tests.e2e.pages import in_windows, overflow, serious_problems


def looks_right(page: Page, name: str) -> None:
    assert serious_problems(page) == []
    assert overflow(page) <= 0
    if folder := os.environ.get("LOOKALIKE_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


@in_windows
def test_an_admin_finds_what_was_done(open_page, make_person, size, theme):
    admin = make_person("ada", Role.ADMIN)
    person = invite_person(
        actor=admin, username="pia", email="", first_name="", last_name="", role=Role.ANNOTATOR
    )
    for number in range(60):
        record(admin, Action.PERSON_CHANGED, person, changed=["first name", number])
    page = open_page(admin, size=size, theme=theme)
    page.goto("/audit/")
    looks_right(page, f"audit-{size}-{theme}")
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("cell", name="Person invited")).to_be_visible()
    page.get_by_label("What", exact=True).select_option("person_invited")
    page.get_by_label("Who").fill("ada")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    looks_right(page, f"audit-found-{size}-{theme}")
    page.goto("/audit/?actor=nobody")
    expect(page.get_by_role("heading", name="No such entry")).to_be_visible()
    page.goto("/jobs/")
    expect(page.get_by_text("Disk free")).to_be_visible()
    looks_right(page, f"work-{size}-{theme}")
