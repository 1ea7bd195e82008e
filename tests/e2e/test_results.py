"""Results in a browser: charts are drawn and saved, an uploaded run reaches the leaderboard."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign
from catalog.images.blobs import blob_path
from catalog.models import Image
from evaluation.results.assessment import assess
from evaluation.results.leaderboard import model_key
from evaluation.results.services import EVALUATE_TASK, store_result
from evaluation.runs.services import ADD_RUN_TASK
from evaluation.tasks import add_run, evaluate
from jobs.models import Job
from tests.e2e.pages import in_windows, overflow, serious_problems
from tests.e2e.pictures import SIDE, _files
from tests.worlds import SPECS, World, build_world, judge_world

OUTSIDER = "descriptor:lbp-texture"


@pytest.fixture
def world(transactional_db: None) -> World:
    """A judged and evaluated campaign whose images have pictures."""
    made = judge_world(build_world())
    for number, image in enumerate(Image.objects.all()):
        for size, content in _files(number % 24, SIDE).items():
            path = blob_path(image.sha256, size)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    found = assess(made.campaign, n_bootstraps=100)
    store_result(campaign=made.campaign, assessment=found, job=None)
    return made


def pages_of(campaign: Campaign) -> list[str]:
    base = f"/results/{campaign.slug}/"
    a, b = model_key(SPECS[0]), model_key(OUTSIDER)
    return [base, f"{base}models/{a}/", f"{base}compare/?a={a}&b={b}", f"{base}bias/",
            f"{base}runs/", "/results/"]  # fmt: skip


def wait_for_charts(page: Page) -> None:
    """Unfold the page and wait until everything on it is drawn."""
    page.evaluate("for (const one of document.querySelectorAll('details.folded')) one.open = true")
    figures = page.locator("figure[data-chart]")
    for at in range(figures.count()):
        expect(figures.nth(at).locator("svg[role=img]")).to_be_visible()


@pytest.mark.daily
@in_windows
def test_pages_are_accessible_and_fit_their_windows(
    world: World,
    open_page: Callable[..., Page],
    make_person: Callable[..., User],
    size: str,
    theme: str,
) -> None:
    page = open_page(make_person("rhea", Role.RESEARCHER), size=size, theme=theme)
    for address in pages_of(world.campaign):
        page.goto(address)
        wait_for_charts(page)
        assert serious_problems(page) == [], address
        assert overflow(page) <= 0, address


def test_charts_have_marks_names_and_files(
    world: World,
    open_page: Callable[..., Page],
    make_person: Callable[..., User],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lookalike.metrics.leaderboard.LEAST_QUERIES", 1)  # this world has six
    page = open_page(make_person("rhea", Role.RESEARCHER))
    page.goto(f"/results/{world.campaign.slug}/")
    figure = page.locator("#leaderboard-chart")
    drawing = figure.locator("svg[role=img]")
    expect(drawing).to_be_visible()
    expect(drawing).to_have_accessible_name(re.compile("with 95 % intervals"))
    assert drawing.locator("g[data-mark=dot] path, g[data-mark=dot] circle").count() == 3
    saved: dict[str, bytes] = {}
    for kind in ("svg", "png", "csv"):
        with page.expect_download() as waiting:
            figure.locator(f"button[data-save={kind}]").click()
        assert waiting.value.suggested_filename.endswith(f".{kind}")
        saved[kind] = Path(waiting.value.path()).read_bytes()
    assert saved["png"].startswith(b"\x89PNG")
    assert len(saved["png"]) > 5_000
    svg = saved["svg"].decode()
    assert "<title>" in svg
    assert "var(" not in svg
    assert "currentColor" not in svg
    rows = list(csv.DictReader(io.StringIO(saved["csv"].decode())))
    assert {row["Model"] for row in rows} == {*SPECS, OUTSIDER}


@pytest.mark.daily
def test_an_uploaded_run_is_found_on_the_leaderboard(
    world: World,
    open_page: Callable[..., Page],
    make_person: Callable[..., User],
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.npz"
    vectors = np.random.default_rng(2).normal(size=(30, 4)).astype(np.float32)
    np.savez(path, ids=np.array([image.sha256 for image in world.images]), vectors=vectors)
    page = open_page(make_person("rhea", Role.RESEARCHER))
    page.goto(f"/results/{world.campaign.slug}/")
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_label("Name", exact=True).fill("My own network")
    page.get_by_label("Scores or embeddings").set_input_files(path)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("is being checked")).to_be_visible()
    # what a worker does
    add_run(str(Job.objects.get(task=ADD_RUN_TASK).uid))
    evaluate(str(Job.objects.get(task=EVALUATE_TASK).uid))
    expect(  # the page loads itself anew when its jobs have ended
        page.get_by_role("row", name=re.compile("My own network.*30 vectors of 4"))
    ).to_be_visible()
    page.get_by_role("link", name="Leaderboard").click()
    board = page.get_by_role("group", name="Leaderboard")
    expect(board.get_by_role("row", name=re.compile("My own network"))).to_contain_text("outsider")
    board.get_by_role("link", name="My own network").click()
    expect(page.get_by_role("heading", level=1, name="My own network")).to_be_visible()
    wait_for_charts(page)
