"""A notion is typed, the neighbours change, it is kept, and a pool is made with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from demo.drawing.catalog import render_catalog
from tests.e2e.pages import (
    MAKE_PEOPLE,
    MINUTES,
    overflow,
    run_command,
    serious_problems,
    sign_in,
)
from tests.site import Site

AFTER = "[aria-label='Nearest after'] img"
OTHERS = """([selector, before]) => {
    const now = [...document.querySelectorAll(selector)];
    return now.length === 8 && now.some((image, at) => image.getAttribute("src") !== before[at]);
}"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "var")
    try:
        site.start()
        site.run(MAKE_PEOPLE)
        render_catalog(tmp_path / "shop", n_products=60, views_per_product=2, seed=3, size=64)
        run_command(
            site, "import_catalog", "shop", tmp_path / "shop",
            "--metadata", tmp_path / "shop" / "metadata.csv",
        )  # fmt: skip
        yield site
    finally:
        site.end()


def neighbours(chief: Page) -> list[str | None]:
    expect(chief.locator(AFTER)).to_have_count(8, timeout=3 * MINUTES)
    return [image.get_attribute("src") for image in chief.locator(AFTER).all()]


@pytest.mark.daily
def test_a_notion_is_said_seen_kept_and_pooled(browser: Browser, site: Site) -> None:
    chief = sign_in(browser, site, "chief")
    chief.goto("/catalogs/shop/words/")
    chief.get_by_role("link", name="Learn a text space").click()
    chief.fill("#id_columns", "colour, category")
    chief.get_by_role("button", name="Learn it").click()
    expect(chief.get_by_role("link", name="Say a notion")).to_be_visible(timeout=5 * MINUTES)
    chief.get_by_role("link", name="Say a notion").click()
    first = neighbours(chief)
    assert serious_problems(chief) == []

    chief.fill("#id_words", "red, green, blue, black, white, yellow")
    chief.fill("#id_template", "a photo of something whose colour is {}")
    chief.wait_for_function(OTHERS, arg=[AFTER, first], timeout=MINUTES)
    chief.fill("#id_words", "red")
    expect(chief.locator("#neighbours")).to_contain_text("1 is given; from 2 to 5,000 are needed")
    chief.fill("#id_words", "red, green, blue, black, white, yellow")
    neighbours(chief)

    chief.get_by_label("Name, to keep it").fill("By colour")
    chief.get_by_role("button", name="Keep this notion").click()
    chief.get_by_role("link", name="By colour").click(timeout=2 * MINUTES)
    neighbours(chief)
    chief.set_viewport_size({"width": 390, "height": 844})
    assert overflow(chief) == 0
    chief.set_viewport_size({"width": 1280, "height": 850})
    chief.get_by_role("link", name="Make a pool with it").click()
    expect(chief.locator("#id_models")).to_have_value("learned:shop#by-colour")
    chief.fill("#id_name", "Colours")
    chief.fill("#id_n_queries", "5")
    chief.get_by_role("button", name="Fill the pool").click()
    chief.wait_for_url("**/pools/colours/")
    settled = chief.locator("#progress:not([hx-get]):not(:has([hx-get]))")
    expect(settled.locator(".badge-good")).to_have_count(1, timeout=2 * MINUTES)
    expect(settled).to_contain_text(re.compile("learned:shop#by-colour"))
