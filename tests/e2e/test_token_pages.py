"""Access tokens and the API's reference in a real browser: made, used, revoked; readable."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role
from tests.clients import PASSWORD
from tests.e2e.pages import in_windows, overflow, serious_problems


def looks_right(page: Page, name: str) -> None:
    assert serious_problems(page) == []
    assert overflow(page) <= 0
    if folder := os.environ.get("LOOKALIKE_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


@in_windows
def test_a_token_is_made_shown_once_and_revoked(open_page, make_person, size, theme):
    page = open_page(make_person("ada", Role.ADMIN), size=size, theme=theme)
    page.goto("/profile/")
    page.get_by_role("link", name="Manage tokens").click()
    looks_right(page, f"no-tokens-{size}")
    page.get_by_role("link", name="New token").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    looks_right(page, f"new-token-{size}")
    page.get_by_label("Name").fill("notebook")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_label("Access token", exact=True)).to_have_value(re.compile("^lkl_"))
    looks_right(page, f"made-token-{size}")
    page.goto("/profile/tokens/")
    expect(page.get_by_text("usable")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke notebook").click()
    expect(page.get_by_text("revoked")).to_be_visible()


@pytest.mark.daily
@in_windows
def test_the_reference_of_the_api_is_accessible(open_page, make_person, size, theme):
    page = open_page(make_person("rosa", Role.RESEARCHER), size=size, theme=theme)
    page.goto("/api/")
    expect(page.get_by_role("heading", name="List catalogs")).to_be_visible()
    looks_right(page, f"reference-{size}")
