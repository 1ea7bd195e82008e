"""A notion is typed, kept, pooled and judged; the board and the release say it."""

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
    see_pair,
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
def test_a_notion_is_said_seen_kept_pooled_judged_ranked_and_released(
    browser: Browser, site: Site
) -> None:
    chief = sign_in(browser, site, "chief")
    chief.goto("/catalogs/shop/words/")
    chief.get_by_role("link", name="Learn a text space").click()
    chief.fill("#id_columns", "colour, category")
    chief.get_by_role("button", name="Learn it").click()
    expect(chief.get_by_role("link", name="New notion")).to_be_visible(timeout=5 * MINUTES)
    chief.get_by_role("link", name="New notion").click()
    first = neighbours(chief)
    assert serious_problems(chief) == []

    chief.fill("#id_words", "red, green, blue, black, white, yellow")
    chief.fill("#id_template", "a photo of something whose colour is {}")
    chief.wait_for_function(OTHERS, arg=[AFTER, first], timeout=MINUTES)
    chief.fill("#id_words", "red")
    expect(chief.locator("#neighbours")).to_contain_text("1 is given; from 2 to 5,000 are needed")
    chief.fill("#id_words", "red, green, blue, black, white, yellow")
    neighbours(chief)

    chief.get_by_label("Name, to keep it").fill("Colour")
    chief.get_by_role("button", name="Keep this notion").click()
    chief.get_by_role("link", name="Colour", exact=True).click(timeout=2 * MINUTES)
    neighbours(chief)
    chief.set_viewport_size({"width": 390, "height": 844})
    assert overflow(chief) == 0
    chief.set_viewport_size({"width": 1280, "height": 850})
    chief.get_by_role("link", name="Make a pool with it").click()
    expect(chief.locator("#id_models")).to_have_value("learned:shop#colour")
    chief.fill("#id_name", "Colours")
    chief.fill("#id_k", "2")
    chief.fill("#id_n_queries", "5")
    chief.get_by_role("button", name="Fill the pool").click()
    chief.wait_for_url("**/pools/colours/")
    settled = chief.locator("#progress:not([hx-get], [data-job-ended])")
    expect(settled.locator(".badge-good")).to_have_count(1, timeout=2 * MINUTES)
    expect(settled).to_contain_text(re.compile("learned:shop#colour"))

    chief.get_by_role("link", name="Start a campaign").click()
    expect(chief.locator("#id_notion")).to_have_value("colour")
    expect(chief.locator("#id_notion_model")).to_have_value("learned:shop#colour")
    chief.get_by_label("ann").check()
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    expect(chief.get_by_text("is opened")).to_be_visible()
    judge_ten(sign_in(browser, site, "ann"))
    close(chief)
    board_says_it(chief)
    release_says_it(chief)


def judge_ten(ann: Page) -> None:
    expect(ann.get_by_text("similar in colour")).to_be_visible()
    ann.get_by_role("link", name="Start judging").click()
    expect(ann.locator(".judge-notion")).to_have_text("Similar in colour?")
    for number in range(10):
        expect(ann.locator("[data-part=count]")).to_have_text(f"{number} of 10")
        see_pair(ann)
        ann.wait_for_timeout(250)  # a double strike is not taken
        ann.keyboard.press("j" if number % 2 else "f")
    expect(ann.locator("[data-part=saved]")).to_have_text("All answers saved", timeout=MINUTES)
    assert serious_problems(ann) == []
    ann.set_viewport_size({"width": 390, "height": 844})
    assert overflow(ann) == 0


def close(chief: Page) -> None:
    chief.goto("/campaigns/colours/")
    expect(chief.get_by_text("similar in colour")).to_be_visible()
    chief.fill("#close-reason", "All pairs are judged.")
    chief.on("dialog", lambda dialog: dialog.accept())
    chief.get_by_role("button", name="Close", exact=True).click()
    expect(chief.get_by_role("button", name="Open again")).to_be_visible()


def board_says_it(chief: Page) -> None:
    chief.goto("/results/colours/")
    chief.get_by_role("button", name="Evaluate", exact=True).click()
    board = chief.get_by_role("row", name=re.compile("learned:shop#colour"))
    expect(board.first).to_be_visible(timeout=2 * MINUTES)
    expect(
        chief.get_by_text("Similar in colour, by the notion learned:shop#colour")
    ).to_be_visible()


def release_says_it(chief: Page) -> None:
    chief.goto("/campaigns/colours/")
    chief.get_by_role("link", name="Freeze a release").click()
    chief.fill("#id_title", "Colours")
    chief.fill("#id_authors", "The curators")
    chief.get_by_role("button", name="Freeze", exact=True).click()
    chief.get_by_role("link", name=re.compile("Colours")).first.click(timeout=2 * MINUTES)
    told = "Labels say what is similar in colour, the notion learned:shop#colour"
    expect(chief.get_by_text(told)).to_be_visible(timeout=2 * MINUTES)
    chief.get_by_role("link", name="Datasheet").click()
    expect(chief.get_by_text("asked what is similar in colour")).to_be_visible()
