"""Eight sources of every kind pool for wild queries, and a ninth tops the pool up, in a browser.

Shop photos and amateur photos come from ../shared/data where it is there, else they are drawn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.pages import (
    MAKE_PEOPLE,
    MINUTES,
    overflow,
    photos_of,
    run_command,
    see_pair,
    serious_problems,
    sign_in,
)
from tests.site import Site

N_PHOTOS, N_WILD, N_ANSWERS, K = 60, 10, 4, 3
PLUGIN = "plugin:tests.pooling.plugin_models.Brightness"
BACKBONES = [
    "descriptor:colour-histogram",
    "descriptor:colour-layout",
    "descriptor:hog-shape",
    "timm:tf_efficientnet_lite0",
    "timm:tf_efficientnet_lite1",
]
NINTH = "descriptor:lbp-texture"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("POOL_PLUGINS", PLUGIN.removeprefix("plugin:"))
    site = Site(tmp_path / "var")
    try:
        site.start()
        site.run(MAKE_PEOPLE)
        yield site
    finally:
        site.end()


@pytest.fixture
def files(site: Site, tmp_path: Path) -> tuple[Path, Path]:
    """Import a shop and wild queries; make embeddings and a run of them with our own hands."""
    vectors: dict[str, np.ndarray] = {}
    paths: dict[str, list[str]] = {}
    for slug, name, n in (
        ("shop", "luma_fashion", N_PHOTOS),
        ("wild", "clothing_cc0_mini", N_WILD),
    ):
        folder = tmp_path / slug
        paths[slug] = photos_of(name, n, folder)
        for path in paths[slug]:
            with Image.open(folder / path) as picture:
                small = np.asarray(picture.convert("RGB").resize((6, 6)), np.float32)
            vectors[path] = small.ravel() + 1
        run_command(site, "import_catalog", slug, folder, "--metadata", folder / "metadata.csv")
    embeddings = tmp_path / "pixels.npz"
    np.savez(embeddings, ids=np.array(list(vectors)), vectors=np.stack(list(vectors.values())))
    ranking = tmp_path / "distance.run"
    ranking.write_text(
        "\n".join(
            f"{query} Q0 {path} 0 {-np.abs(vectors[query] - vectors[path]).mean():.6f} distance"
            for query in paths["wild"]
            for path in paths["shop"]
        )
    )
    return embeddings, ranking


@pytest.mark.daily
def test_eight_sources_of_every_kind_pool_and_a_ninth_tops_up(
    browser: Browser, site: Site, files: tuple[Path, Path], tmp_path: Path
) -> None:
    chief = sign_in(browser, site, "chief")
    n_before = fill_pool(chief, *files)
    open_campaign(chief)
    ann = sign_in(browser, site, "ann")
    judge(ann, n_before)

    n_new = top_up(chief, n_before)
    ann.goto("/")
    ann.get_by_role("link", name=re.compile("judging", re.IGNORECASE)).first.click()
    expect(ann.locator("[data-part=count]")).to_have_text(f"{N_ANSWERS} of {n_before + n_new}")
    see_pair(ann)

    facts = tmp_path / "facts.json"
    site.run(FACTS.format(path=str(facts)))
    found = json.loads(facts.read_text())
    assert found["pairs"] == found["questions"] == n_before + n_new
    assert found["judgements"] == N_ANSWERS
    assert found["sources"] == 9
    assert found["proposals"] == 9 * N_WILD * K + N_WILD * 2


FACTS = """
import json
from annotation.models import Judgement, Question
from pooling.models import Pool, Proposal
from pooling.pools.queries import pool_pairs
pool = Pool.objects.get()
facts = {{"pairs": len(pool_pairs(pool)), "questions": Question.objects.count(),
         "judgements": Judgement.objects.count(), "sources": pool.sources.count(),
         "proposals": Proposal.objects.count()}}
open({path!r}, "w").write(json.dumps(facts))
"""


def fill_pool(chief: Page, embeddings: Path, ranking: Path) -> int:
    """Ask for eight sources on one form; return how many pairs they make."""
    chief.goto("/pools/new/")
    chief.fill("#id_name", "Wild pool")
    chief.select_option("#id_catalog", label="shop")
    chief.select_option("#id_query_catalog", label="wild")
    chief.fill("#id_models", "\n".join([*BACKBONES, PLUGIN]))
    chief.fill("#id_k", str(K))
    chief.get_by_label("Every image").check()
    chief.get_by_text("Upload embeddings", exact=True).click()
    chief.fill("#id_embeddings_name", "pixels")
    chief.set_input_files("#id_embeddings_file", ranking)  # the wrong file
    chief.get_by_text("Upload a ranking", exact=True).click()
    chief.fill("#id_ranking_name", "distance")
    chief.set_input_files("#id_ranking_file", ranking)
    chief.get_by_role("button", name="Fill the pool").click()
    expect(chief.get_by_text("distance.run: not a .npy, .npz or parquet file")).to_be_visible()
    chief.set_input_files("#id_embeddings_file", embeddings)
    chief.set_input_files("#id_ranking_file", ranking)
    chief.get_by_role("button", name="Fill the pool").click()
    chief.wait_for_url("**/pools/wild-pool/")
    wait_until_settled(chief, 8)
    return pairs_shown(chief)


def wait_until_settled(chief: Page, n_models: int) -> None:
    """Wait until all models are done and the page, loaded anew by itself, asks no more."""
    settled = chief.locator("#progress:not([hx-get], [data-job-ended])")
    expect(settled.locator(".badge-good")).to_have_count(n_models, timeout=4 * MINUTES)


def pairs_shown(chief: Page) -> int:
    shown = figure(chief, "pairs to judge")
    expect(shown).to_have_text(re.compile(r"^[1-9][\d,]*$"))
    return int(shown.inner_text().replace(",", ""))


def figure(chief: Page, term: str) -> Locator:
    return chief.locator(".tile", has=chief.get_by_text(term, exact=True)).first.locator("dd")


def open_campaign(chief: Page) -> None:
    chief.get_by_role("link", name="Start a campaign").click()
    chief.get_by_label("ann").check()
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    expect(chief.get_by_text("is opened")).to_be_visible()
    chief.goto("/pools/wild-pool/")


def judge(ann: Page, n_pairs: int) -> None:
    """Answer the first few."""
    ann.goto("/")
    ann.get_by_role("link", name="Start judging").click()
    for done in range(N_ANSWERS):
        expect(ann.locator("[data-part=count]")).to_have_text(f"{done} of {n_pairs}")
        see_pair(ann)
        ann.wait_for_timeout(250)
        ann.keyboard.press("j" if done % 2 else "f")
    expect(ann.locator("[data-part=saved]")).to_have_text("All answers saved", timeout=MINUTES)


def top_up(chief: Page, n_before: int) -> int:
    """Add a ninth source and let one go deeper; return the new pairs that the history shows."""
    chief.goto("/pools/wild-pool/top-up/")
    assert serious_problems(chief) == []
    chief.fill("#id_models", NINTH)
    chief.get_by_label(BACKBONES[0]).fill(str(K + 2))
    chief.get_by_role("button", name="Top up the pool").click()
    chief.wait_for_url("**/pools/wild-pool/")
    wait_until_settled(chief, 9)
    n_new = pairs_shown(chief) - n_before
    assert 0 < n_new <= N_WILD * (K + 2)
    expect(chief.get_by_text("not asked yet")).to_have_count(0)
    chief.get_by_role("link", name="History").click()
    history = chief.locator("#changes li.change").first
    expect(history).to_contain_text("Top-up 1")
    expect(history).to_contain_text(f"{BACKBONES[0]} from k = {K} to {K + 2}")
    for term, n in {
        "pairs before": n_before,
        "pairs after": n_before + n_new,
        "new pairs": n_new,
        "questions opened": n_new,
    }.items():
        expect(figure(chief, term)).to_have_text(f"{n:,}")
    expect(history.locator("tbody tr")).to_have_count(2)
    expect(history).to_contain_text("chief")
    expect(chief.locator("#changes li.change").last).to_contain_text("Made")
    assert serious_problems(chief) == []
    chief.set_viewport_size({"width": 390, "height": 844})
    assert overflow(chief) == 0
    return n_new
