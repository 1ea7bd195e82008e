"""The map of a catalog in a browser: what a drag does, keys and buttons do, too."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role
from catalog.maps.services import MAP_TASK, draw_map, map_subject
from catalog.models import CatalogMap
from jobs.services import run_here
from tests.catalogs import embedding_set_of, pool_over
from tests.e2e.pages import in_windows, overflow, serious_problems
from tests.e2e.pictures import make_images

N = 12  # laid out without a layout: its code takes seconds to compile


@pytest.fixture
def drawn(transactional_db: None) -> CatalogMap:
    catalog = make_images(N)[0].catalog
    angles = np.linspace(0, 2, N)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    made = embedding_set_of(catalog, vectors)
    run_here(
        task=MAP_TASK, subject=map_subject(made), title="Map", arguments={},
        work=lambda progress: draw_map(set_id=made.pk, progress=progress),
    )  # fmt: skip
    pool_over(catalog, [{0: {1: 0.9, 2: 0.5}}, {0: {3: 0.7}}])
    return CatalogMap.objects.get()


def selected(page: Page) -> int:
    words = page.locator(".map-selected").inner_text()
    found = re.match(r"\d+", words)
    return int(found[0]) if found else 0


@pytest.mark.daily
@in_windows
def test_what_a_drag_selects_keys_and_buttons_select(open_page, make_person, drawn, size, theme):
    page = open_page(make_person("reader", Role.RESEARCHER), size=size, theme=theme)
    catalog = drawn.embedding_set.catalog
    page.goto(f"/catalogs/{catalog.slug}/map/?pool=mine")
    expect(page.locator(".map[data-ready]")).to_be_visible()
    counts = page.locator(".map-legend .count").all_inner_texts()
    assert counts == ["8", "1", "0", "0", "3"]
    assert serious_problems(page) == []
    assert overflow(page) <= 0
    sheet = page.locator("canvas")
    sheet.scroll_into_view_if_needed()
    box = sheet.bounding_box()
    assert box is not None
    right, bottom = box["x"] + box["width"] - 2, box["y"] + box["height"] - 2
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(right, bottom, steps=3)
    page.mouse.up()
    expect(page.locator(".map-selected")).to_have_text("12 images are selected.")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".map-selected")).to_contain_text("Nothing is selected")
    expect(sheet).to_be_focused()
    for key in ("ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    assert selected(page) >= 1
    page.keyboard.press("Escape")
    assert selected(page) == 0
    for name in ("Zoom in", "Zoom in", "Zoom in", "Move left", "Move right", "Move up"):
        page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="Select what is in view").click()
    part = selected(page)
    assert part < N
    page.get_by_role("button", name="Whole map").click()
    page.get_by_role("button", name="Select what is in view").click()
    assert selected(page) == N
    assert serious_problems(page) == []
    page.get_by_role("link", name="Show in the catalog").click()
    expect(page.get_by_text("selected on the map")).to_be_visible()
    expect(page.get_by_text("1–12 of 12")).to_be_visible()
    assert serious_problems(page) == []
