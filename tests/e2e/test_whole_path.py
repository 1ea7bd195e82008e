"""The main job in a browser, on a whole site: zip, pool, campaign, judging, results, export.

Each role signs in for its part. Workers, broker and database are real, and one of the models
has real ImageNet weights.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from demo.drawing.catalog import render_catalog
from tests.e2e.pages import MAKE_PEOPLE, MINUTES, see_pair, sign_in
from tests.site import Site

MODELS = "descriptor:colour-histogram\ndescriptor:hog-shape\ntimm:tf_efficientnet_lite0"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "var")
    try:
        site.start()
        site.run(MAKE_PEOPLE)
        yield site
    finally:
        site.end()


@pytest.fixture
def pictures(tmp_path: Path) -> tuple[Path, Path]:
    """A zip of 24 pictures of 12 products, and their metadata."""
    folder = tmp_path / "pictures"
    manifest = render_catalog(folder, n_products=12, views_per_product=2, size=128)
    archive = tmp_path / "pictures.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for image in manifest.images:
            packed.write(folder / image.path, image.path)
        packed.writestr("broken.jpg", b"not a picture")
    return archive, manifest.metadata


@pytest.mark.daily
def test_each_role_does_its_part_from_a_zip_to_downloaded_labels(
    browser: Browser, site: Site, pictures: tuple[Path, Path], tmp_path: Path
) -> None:
    chief = sign_in(browser, site, "chief")
    import_zip(chief, *pictures)
    fill_pool(chief)
    n_pairs = open_campaign(chief)

    ann = sign_in(browser, site, "ann")
    judge(ann, n_pairs)

    reader = sign_in(browser, site, "reader")
    labels = see_results(reader, tmp_path)
    assert len(labels) == n_pairs
    assert {entry["value"] for entry in labels} == {0, 1}
    assert all(entry["key"][0].endswith((".jpg", ".png", ".webp")) for entry in labels)


def import_zip(chief: Page, archive: Path, metadata: Path) -> None:
    chief.goto("/catalogs/new/")
    chief.fill("#id_name", "Autumn")
    chief.set_input_files("#id_upload", archive)
    chief.set_input_files("#id_metadata", metadata)
    chief.get_by_role("button", name="Make and import").click()
    chief.wait_for_url("**/catalogs/autumn/**", timeout=MINUTES)
    expect(chief.get_by_text("24 images").first).to_be_visible(timeout=2 * MINUTES)


def fill_pool(chief: Page) -> None:
    chief.goto("/pools/new/")
    chief.fill("#id_name", "Autumn pool")
    chief.select_option("#id_catalog", label="Autumn")
    chief.fill("#id_models", MODELS)
    chief.fill("#id_k", "2")
    chief.fill("#id_n_queries", "5")
    chief.get_by_role("button", name="Fill the pool").click()
    chief.wait_for_url("**/pools/autumn-pool/")
    settled = chief.locator("#progress:not([hx-get], [data-job-ended])")  # loads itself no more
    expect(settled.locator(".badge-good")).to_have_count(3, timeout=4 * MINUTES)


def open_campaign(chief: Page) -> int:
    chief.goto("/pools/autumn-pool/")
    chief.get_by_role("link", name="Start a campaign").click()
    chief.get_by_label("ann").check()
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    expect(chief.get_by_text("is opened")).to_be_visible()
    chief.goto("/pools/autumn-pool/")
    shown = chief.locator(".tile", has_text="pairs to judge").locator("dd").first.inner_text()
    return int(shown.replace(",", ""))


def judge(ann: Page, n_pairs: int) -> None:
    """Answer everything by keyboard, similar and different in turn."""
    ann.goto("/")
    ann.get_by_role("link", name="Start judging").click()
    for number in range(n_pairs):
        expect(ann.locator("[data-part=count]")).to_have_text(f"{number} of {n_pairs}")
        see_pair(ann)  # an answer to pictures that are not on screen is not taken
        ann.wait_for_timeout(250)  # nor is a double strike
        ann.keyboard.press("j" if number % 2 else "f")
    expect(ann.locator("[data-part=count]")).to_have_text(f"{n_pairs} of {n_pairs}")
    expect(ann.locator("[data-part=saved]")).to_have_text("All answers saved", timeout=MINUTES)


def see_results(reader: Page, folder: Path) -> list[dict[str, Any]]:
    reader.goto("/")
    reader.get_by_role("link", name="Autumn pool").click()
    reader.get_by_role("button", name="Evaluate", exact=True).click()
    expect(reader.get_by_text("timm:tf_efficientnet_lite0").first).to_be_visible(
        timeout=2 * MINUTES
    )
    with reader.expect_download() as download:
        reader.get_by_role("link", name="VSD JSON").click()
    download.value.save_as(folder / "labels.json")
    loaded: list[dict[str, Any]] = json.loads((folder / "labels.json").read_text())
    return loaded
