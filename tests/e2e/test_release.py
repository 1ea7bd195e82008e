"""A release in a browser, on a whole site: freeze, download signed out, verify, submit, see the
score. The photos are Luma's where ../shared/data is there, else they are drawn.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from config import settings
from tests.e2e.pages import (
    MINUTES,
    SIZES,
    overflow,
    photos_of,
    run_command,
    serious_problems,
    sign_in,
)
from tests.site import Site

PEOPLE = """
from accounts.models import User
from tests.clients import PASSWORD
for name, role in [("chief", "admin"), ("reader", "researcher"), ("ann", "annotator"),
                   ("ben", "annotator"), ("cleo", "annotator")]:
    User.objects.create_user(name, password=PASSWORD, role=role)
"""
JUDGE = """
from annotation.models import Campaign, Question
from annotation.services.campaigns import close_campaign
from annotation.services.imports import ImportedJudgement, import_judgements
campaign = Campaign.objects.get(slug="luma")
panel = list(campaign.panel.order_by("number").values_list("annotator_id", flat=True))
rows = []
for n, question in enumerate(campaign.questions.select_related("query", "candidate")):
    kinds = [image.attributes.get("category") for image in (question.query, question.candidate)]
    alike = kinds[0] == kinds[1]
    for judge, person in enumerate(panel):
        says = alike if (n + judge) % 7 else not alike
        rows.append(ImportedJudgement(question.query_id, question.candidate_id, person,
                                      "similar" if says else "different"))
import_judgements(campaign=campaign, rows=rows)
close_campaign(campaign=campaign, by=None, reason="All pairs are judged.")
"""
CLOSE = """
from annotation.models import Campaign
from annotation.services.campaigns import close_campaign
close_campaign(campaign=Campaign.objects.get(slug="again"), by=None, reason="Not judged here.")
"""
MODELS = "descriptor:colour-histogram,descriptor:hog-shape"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A site whose campaign “luma” three judges have finished."""
    site = Site(tmp_path / "var")
    try:
        site.start()
        site.run(PEOPLE)
        photos_of("luma_fashion", 60, tmp_path / "shop")
        run_command(site, "import_catalog", "shop", tmp_path / "shop", "--metadata",
                    tmp_path / "shop" / "metadata.csv")  # fmt: skip
        run_command(site, "fill_pool", "Luma", "--catalog", "shop", "--models", MODELS,
                    "-k", 4, "--queries", 24)  # fmt: skip
        run_command(site, "open_campaign", "Luma", "--pool", "luma", "--panel", "ann,ben,cleo")
        site.run(JUDGE)
        yield site
    finally:
        site.end()


@pytest.mark.daily
def test_a_release_is_frozen_downloaded_verified_and_scored_on(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    chief = sign_in(browser, site, "chief")
    freeze(chief)

    stranger = browser.new_context(base_url=site.url, viewport=SIZES["phone"]).new_page()
    archive = download(stranger, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", "verify", str(archive)],
        cwd=settings.BASE_DIR, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "luma 1.0.0 is right" in done.stdout

    import_back(chief, archive)
    stranger.reload()  # whoever judged on would read votes here
    expect(stranger.get_by_text("Withheld for now")).to_be_visible()
    site.run(CLOSE)

    reader = sign_in(browser, site, "reader")
    submit(reader, run_of(archive, tmp_path))
    stranger.reload()
    expect(stranger.get_by_role("row", name="My network")).to_be_visible()


def freeze(chief: Page) -> None:
    chief.goto("/")
    chief.get_by_role("link", name="Releases").click()
    chief.get_by_role("link", name="Freeze a release").click()
    chief.get_by_label("Luma").check()
    chief.get_by_label("Title").fill("Luma benchmark")
    chief.get_by_label("Short name").fill("luma")
    chief.get_by_label("Authors").fill("The curators")
    chief.get_by_label("Terms of the images").fill("OSL-3.0 / AFL-3.0, Magento sample data")
    chief.get_by_label("Include images").check()
    chief.get_by_label("Show it to everybody").check()
    assert serious_problems(chief) == []
    chief.get_by_role("button", name="Freeze", exact=True).click()
    card = chief.get_by_role("heading", name="Luma benchmark 1.0.0")
    expect(card).to_be_visible(timeout=2 * MINUTES)
    chief.get_by_role("link", name="Luma benchmark").click()
    expect(chief.get_by_role("heading", level=1)).to_contain_text("Luma benchmark")
    assert serious_problems(chief) == []


def download(stranger: Page, folder: Path) -> Path:
    stranger.goto("/releases/luma/")
    assert overflow(stranger) <= 0
    assert serious_problems(stranger) == []
    expect(stranger.get_by_role("img", name="Query")).to_be_visible()
    expect(stranger.get_by_role("link", name="Submit a run")).to_have_count(0)
    with stranger.expect_download() as waiting:
        stranger.get_by_role("link", name="Download everything").click()
    assert waiting.value.suggested_filename == "luma-1.0.0.zip"
    path = folder / "luma-1.0.0.zip"
    waiting.value.save_as(path)
    return path


def import_back(chief: Page, archive: Path) -> None:
    chief.goto("/releases/")
    chief.get_by_role("link", name="Import").click()
    assert serious_problems(chief) == []
    chief.get_by_label("Release, votes or labels").set_input_files(archive)
    chief.get_by_label("Catalog", exact=True).select_option(label="shop")
    chief.get_by_label("Short name").fill("again")
    chief.get_by_role("button", name="Import", exact=True).click()
    made = chief.get_by_role("region", name="Imported lately")
    expect(made.get_by_role("link", name="Luma")).to_be_visible(timeout=2 * MINUTES)
    assert serious_problems(chief) == []
    made.get_by_role("link", name="Luma").click()
    expect(chief).to_have_url(re.compile("/campaigns/again/$"))
    chief.get_by_role("link", name="Freeze a release").click()
    expect(chief.get_by_label("Short name")).to_have_value("again")


def run_of(archive: Path, folder: Path) -> Path:
    """Score every candidate of each query as a script of a researcher would."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "unpacked")
    tables = folder / "unpacked" / "luma-1.0.0" / "data"
    queries = pq.read_table(tables / "queries.parquet")["query_id"].to_pylist()
    images = pq.read_table(tables / "images.parquet")["image_id"].to_pylist()
    path = folder / "mine.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "candidate", "score"])
        for query in queries:
            for image in images:
                if image != query:
                    rows.writerow([query, image, int(image, 16) % 1000 / 1000])
    return path


def submit(reader: Page, run: Path) -> None:
    reader.goto("/releases/luma/")
    reader.get_by_role("link", name="Submit a run").click()
    reader.get_by_label("Name", exact=True).fill("My network")
    reader.get_by_label("Scores or embeddings").set_input_files(run)
    reader.get_by_role("button", name="Submit", exact=True).click()
    board = reader.get_by_role("group", name="Leaderboard")
    line = board.get_by_role("row", name="My network")
    for _ in range(60):
        if line.count():
            break
        reader.wait_for_timeout(1000)
        reader.reload()
    expect(line).to_contain_text("only you see it")
    expect(line.get_by_role("cell").nth(1)).to_contain_text("0.")
    reader.get_by_role("button", name="Publish").click()
    expect(reader.get_by_role("button", name="Remove")).to_be_visible()
