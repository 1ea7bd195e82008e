"""What people do and see in a browser."""

from __future__ import annotations

import csv
import subprocess
import sys
from os import environ
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import (
    Browser,
    Error,
    Page,
    ViewportSize,
    expect,
)

from accounts.models import User
from annotation.models import Question
from annotation.picture_keys import open_place
from annotation.question_names import open_question
from demo.drawing.catalog import render_catalog
from tests.clients import PASSWORD, session_of
from tests.paths import SHARED_DATA
from tests.site import Site

MAKE_PEOPLE = f"""
from accounts.models import User
for name, role in [("chief", "admin"), ("ann", "annotator"), ("reader", "researcher")]:
    User.objects.create_user(name, password={PASSWORD!r}, role=role)
"""
MINUTES = 60_000
# What keeps a judge's vote from counting: a picture of the question that is not on screen.
NOT_HERE = (
    ":is(.pair, .choice):not([hidden]):not([data-ready]), "
    ".sheet:not([hidden]):not(:has([data-sheet-query] img)), "
    ".sheet:not([hidden]) .cell[aria-current]:not(:has(img))"
)
# A judging page that does not know yet what it shows: its answers are enabled, faint or neither.
BEGINNING = (
    ".judge:not(:has(:is("
    "dialog[open], [data-view]:not([hidden]), "
    "[data-part=state]:not([hidden]) [data-part|=state]:is(a, button):not([hidden]))))"
)
SIZES: dict[str, ViewportSize] = {
    "desktop": {"width": 1280, "height": 850},
    "phone": {"width": 390, "height": 844},
}
AXE = {
    "runOnly": {
        "type": "tag",
        "values": [
            *("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"),
        ],
    },
    "rules": {"target-size": {"enabled": True}},  # switched off unless it is asked for
    "resultTypes": ["violations"],  # the rest in one word each: most of a run went into telling it
}
AXE_SCRIPT = Axe().axe_script
# The window that is most easily forgotten, once with each change; the others once a day.
in_windows = pytest.mark.parametrize(
    ("size", "theme"),
    [
        ("phone", "dark"),
        pytest.param("desktop", "light", marks=pytest.mark.daily),
        pytest.param("desktop", "dark", marks=pytest.mark.daily),
        pytest.param("phone", "light", marks=pytest.mark.daily),
    ],
)
in_themes = pytest.mark.parametrize(
    "theme", ["dark", pytest.param("light", marks=pytest.mark.daily)]
)


def sign_in(browser: Browser, site: Site, name: str) -> Page:
    page = browser.new_context(base_url=site.url, viewport=SIZES["desktop"]).new_page()
    page.goto("/")
    page.fill("input[name=login]", name)
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)
    return page


def photos_of(name: str, n: int, folder: Path) -> list[str]:
    """Lay so many pictures with a metadata.csv into a folder; return their paths in it."""
    source = SHARED_DATA / name
    if not source.exists():
        manifest = render_catalog(folder, n_products=n, views_per_product=1, seed=len(name))
        return [image.path for image in manifest.images]
    with (source / "metadata.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["product_id"] or "clothing" in name]
    chosen = rows[:: len(rows) // n][:n]
    folder.mkdir()
    with (folder / "metadata.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ["path", "product_id", "category"], extrasaction="ignore")
        table.writeheader()
        table.writerows(chosen)
    for row in chosen:
        path = folder / row["path"]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((source / row["path"]).read_bytes())
    return [row["path"] for row in chosen]


def run_command(site: Site, *arguments: object) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=settings.BASE_DIR,
        env={**environ, "LOOKALIKE_DATA": str(site.data_dir)},
        check=True,
        capture_output=True,
    )


def see_pair(page: Page) -> None:
    """Wait for a pair, and check that it can be seen."""
    expect(page.locator(".pair .frame img")).to_have_count(2)
    for image in page.locator(".pair .frame img").all():
        expect(image).to_be_in_viewport(ratio=1)
        box = image.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 150


def session_cookie(person: User, url: str) -> Any:
    """The cookie of somebody who has signed in."""
    return {"name": settings.SESSION_COOKIE_NAME, "value": session_of(person), "url": url}


def serious_problems(page: Page) -> list[str]:
    """What axe finds on a page: WCAG 2.2 AA, the size of targets too, and best practice."""
    expect(page.locator(BEGINNING)).to_have_count(0)
    expect(page.locator(".htmx-request")).to_have_count(0)  # its buttons are faint meanwhile
    for left in (2, 1, 0):
        try:
            found = _violations(page)
            break
        except Error as problem:  # a page loads itself anew when its job has ended
            if not left or "context was destroyed" not in str(problem):
                raise
            page.wait_for_load_state("networkidle")
    return [
        f"{problem['id']}: {node['html']} {node['failureSummary']}"
        for problem in found
        for node in problem["nodes"]
    ]


def _violations(page: Page) -> list[dict[str, Any]]:
    page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate("o => axe.run(o).then(of => of.violations)", AXE)
    return found


def overflow(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def see_pictures(page: Page) -> None:
    """Wait until the question on a judging page can be seen, so that it can be voted on."""
    expect(page.locator(NOT_HERE)).to_have_count(0)


def question_named(name: str) -> Question:
    """The question that some judge knows by a name."""
    people = User.objects.values_list("pk", flat=True)
    [uid] = filter(None, (open_question(person, name) for person in people))
    return Question.objects.get(uid=uid)


def question_on(page: Page) -> Question:
    """The question from whose images one is to be picked, once its pictures are seen."""
    shown = page.locator("[data-view=choice][data-ready]")
    expect(shown).to_be_visible()
    return question_named(str(shown.get_attribute("data-ready")))


def places_on(page: Page, question: Question) -> list[int | None]:
    """Which candidate stands where, by the keys of the pictures."""
    tiles = page.locator("[data-choice=images] [data-picture]").all()
    keys = [tile.get_attribute("data-picture") or "" for tile in tiles]
    name = str(page.locator("[data-view=choice]").get_attribute("data-ready"))
    return [open_place(question.campaign.uid, name, key) for key in keys]
