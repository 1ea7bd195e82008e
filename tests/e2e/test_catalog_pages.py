"""Catalog pages in a browser: uploading, filtering, looking, in every size and theme."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from catalog.importing.origins import Origin
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard
from catalog.services import create_catalog, import_job, import_work
from catalog.tasks import import_catalog
from catalog.vectors.embeddings import write_shard
from jobs.models import Job
from jobs.services import run_here
from tests.e2e.pages import in_windows, overflow, serious_problems
from tests.pictures import encoded, jpeg, picture, write_folder

OpenPage = Callable[..., Page]


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def shoes(transactional_db: None, data_dir: Path, tmp_path: Path) -> Catalog:
    files = {f"{i:03}.jpg": jpeg(i, (200, 260)) for i in range(70)}
    alike = {"000.png": encoded(picture(0, (200, 260)), "PNG"), "again.jpg": jpeg(5, (200, 260))}
    folder = write_folder(tmp_path / "p", {**files, **alike, "bad.gif": b"GIF89a"})
    sheet = tmp_path / "m.csv"
    rows = [f"{i:03}.jpg,P{i // 3},{('red', 'blue')[i % 2]},Thing {i}" for i in range(70)]
    sheet.write_text("path,product_id,color,name\n" + "\n".join(rows))
    catalog = create_catalog(slug="shoes", name="Shoes", description="Drawn for a test.")
    origin = Origin(
        path=str(folder), metadata_path=str(sheet), source_name="p", is_restricted=False
    )
    run_here(**import_job(catalog, origin), work=import_work)
    ids = list(catalog.images.order_by("id").values_list("id", flat=True))
    embedding_set = EmbeddingSet.objects.create(
        catalog=catalog, spec="descriptor:x", fingerprint="f", dim=4, is_complete=True
    )
    vectors = np.random.default_rng(0).normal(size=(len(ids), 4)).astype(np.float32)
    EmbeddingShard.objects.create(
        embedding_set=embedding_set,
        position=0,
        image_ids=ids,
        sha256=write_shard(vectors),
        dtype="float32",
    )
    return catalog


@pytest.fixture
def ada(make_person: Callable[..., User]) -> User:
    return make_person("ada", Role.ADMIN)


@pytest.mark.daily
@in_windows
def test_every_page_fits_and_can_be_used_by_everybody(
    size: str, theme: str, shoes: Catalog, ada: User, open_page: OpenPage
):
    page = open_page(ada, size=size, theme=theme)
    image = shoes.images.earliest("id")
    for path in (
        "/catalogs/",
        "/catalogs/new/",
        "/catalogs/shoes/?a.color=red",
        "/catalogs/shoes/import/",
        "/catalogs/shoes/report/",
        "/catalogs/shoes/duplicates/",
        "/catalogs/shoes/duplicates/?kind=exact",
        "/catalogs/shoes/delete/",
        "/catalogs/shoes/product/?id=P0",
        f"/catalogs/shoes/images/{image.uid}/",
    ):
        page.goto(path)
        assert overflow(page) <= 0, path
        assert serious_problems(page) == [], path


def test_an_upload_is_corrected_and_watched(
    ada: User, data_dir: Path, tmp_path: Path, open_page: OpenPage
):
    archive, text = tmp_path / "photos.zip", tmp_path / "m.csv"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a.jpg", jpeg(1))
        packed.writestr("bad.jpg", b"")
    text.write_text("path,product_id\na.jpg,P1\n")
    page = open_page(ada)
    page.goto("/catalogs/new/")
    page.get_by_label("Name", exact=True).fill("Autumn")
    page.get_by_label("Zip file of pictures").set_input_files(text)
    page.get_by_label("Metadata").set_input_files(text)
    page.get_by_role("button", name="Make and import").click()
    expect(page.get_by_text("m.csv is not a zip file")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Autumn")
    kept = "document.querySelector('[name=metadata]').files.length"
    assert page.evaluate(kept) == 1  # what was right need not be chosen again

    page.get_by_label("Zip file of pictures").set_input_files(archive)
    page.get_by_role("button", name="Make and import").click()
    page.wait_for_url("**/catalogs/autumn/")
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    import_catalog(str(Job.objects.get().uid))
    expect(page.get_by_text("1–1 of 1")).to_be_visible()  # it reloads by itself
    page.get_by_role("link", name="Import report").click()
    expect(page.get_by_role("row", name="bad.jpg The file is empty")).to_be_visible()


def test_browsing_by_attribute_page_and_picture(shoes: Catalog, ada: User, open_page: OpenPage):
    page = open_page(ada)
    page.goto("/catalogs/shoes/")
    expect(page.get_by_text("1–60 of 71")).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("61–71 of 71")).to_be_visible()
    page.locator(".facet").get_by_role("link", name="red").click()
    expect(page.get_by_text("1–35 of 35")).to_be_visible()
    page.get_by_role("searchbox").fill("p1")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("link", name="Drop the condition color: red")).to_be_visible()
    assert "a.color=red" in page.url  # can be shared
    page.locator(".images a").first.click()
    expect(page.get_by_role("heading", name="Product P1")).to_be_visible()
    expect(page.get_by_role("heading", name="Nearest by embedding")).to_be_attached()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")  # what comes replaces the place for it
    expect(page.locator(".neighbours .image-card")).to_have_count(12)
    broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).length"
    assert page.evaluate(broken) == 0


def test_filters_on_a_phone_are_folded_away(shoes: Catalog, ada: User, open_page: OpenPage):
    page = open_page(ada, size="phone")
    page.goto("/catalogs/shoes/")
    red = page.locator(".facet").get_by_role("link", name="red")
    expect(red).to_be_hidden()
    page.get_by_text("Filter by attribute").click()
    expect(red).to_be_visible()
    wide = open_page(ada)
    wide.goto("/catalogs/shoes/")
    expect(wide.locator(".facet").get_by_role("link", name="red")).to_be_visible()
