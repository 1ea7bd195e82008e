"""Rules on candidates, an index and a probe on the form of a new pool, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from catalog.images.blobs import read_blob, store_blobs
from catalog.models import Catalog, NearDuplicate
from jobs.models import Job
from lookalike.images.decode import read_picture
from lookalike.pooling.query_rule import QueryRule
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from pooling.tasks import probe, run_source
from tests.catalogs import MODELS, catalog_of_photos, filled
from tests.e2e.pages import in_windows, overflow, serious_problems

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def catalog(transactional_db: None, settings: Any, tmp_path: Path) -> Catalog:
    """Forty photos, two of which look the same, with the vectors of two models."""
    settings.DATA_DIR = tmp_path / "data"
    catalog = catalog_of_photos(40, slug="photos")
    for image in catalog.images.all():
        content = read_blob(image.sha256, "original")
        store_blobs(image.sha256, content, read_picture(content, "photo.jpg"))
    first, second, *_ = catalog.images.order_by("pk")
    NearDuplicate.objects.create(catalog=catalog, first=first, second=second, n_bits=1)
    request = PoolRequest(name="Before", catalog=catalog, specs=MODELS, k=3, rule=QueryRule(n=3))
    filled(create_pool(request=request, created_by=None))
    return catalog


def filled_in(page: Page) -> Page:
    """Fill the form of a new pool."""
    page.goto("/pools/new/")
    page.fill("#id_name", "Ruled")
    page.select_option("#id_catalog", label="Photos")
    page.get_by_text("Rules on candidates").click()
    page.fill("#id_same", "colour")
    page.fill("#id_different", "view")
    page.get_by_label("Take near-duplicates for one picture").check()
    page.fill("#id_models", "\n".join([*MODELS, "timm:resnet18 k=2"]))
    page.fill("#id_k", "3")
    page.select_option("#id_index", "ivf")
    page.fill("#id_n_queries", "12")
    page.fill("#id_hourly", "40")
    return page


@pytest.mark.daily
@in_windows
def test_the_form_states_its_rules_and_measures_what_each_model_adds(
    catalog: Catalog,
    make_person: Callable[..., User],
    open_page: Callable[..., Page],
    size: str,
    theme: Literal["light", "dark"],
) -> None:
    page = filled_in(open_page(make_person("chief", Role.ADMIN), size=size, theme=theme))
    expect(page.locator("#prediction")).to_contain_text("of the query’s own colour")
    page.get_by_role("button", name="Measure on a sample").click()
    expect(page.locator("#probe progress")).to_be_visible()
    probe(str(Job.objects.get(task="pooling.probe", state="queued").uid))
    added = page.locator("#probe ol")
    expect(added.get_by_role("listitem")).to_have_count(4)
    expect(added).to_contain_text("timm:resnet18 k = 2, estimate")
    expect(added).to_contain_text("new pairs")
    assert serious_problems(page) == []
    assert overflow(page) <= 0

    page.fill("#id_models", MODELS[0])
    page.get_by_role("button", name="Fill the pool").click()
    page.wait_for_url("**/pools/ruled/")
    pool = Pool.objects.get(slug="ruled")
    [source] = pool.sources.all()
    assert source.job is not None
    run_source(str(source.job.uid))
    page.goto("/pools/ruled/")
    expect(page.locator(".lead")).to_contain_text("of another view than the query’s")
    expect(page.locator(".lead")).to_contain_text("one of each group of near-duplicates")
    expect(page.locator("#progress")).to_contain_text("of the 3 exact candidates")
    for tab in ("Models", "Figures", "Proposals", "History"):
        page.get_by_label("Pool").get_by_role("link", name=tab).click()
        expect(page.locator(".tabs [aria-current=page]")).to_have_text(tab)
        assert serious_problems(page) == []
        assert overflow(page) <= 0


def test_nothing_moves_from_under_a_pointer_while_the_form_loads_and_a_name_is_typed(
    catalog: Catalog, make_person: Callable[..., User], open_page: Callable[..., Page]
) -> None:
    page = open_page(make_person("chief", Role.ADMIN))
    page.goto("/pools/new/")
    last = page.get_by_role("button", name="Fill the pool")
    place = last.bounding_box()
    page.wait_for_load_state("networkidle")
    assert last.bounding_box() == place
    page.fill("#id_name", "Ruled")
    expect(page.locator("#name-check")).to_contain_text("ruled")
    assert last.bounding_box() == place
    expect(page.locator("#attributes")).to_contain_text("Attributes in this catalog")


def test_an_attribute_that_nobody_has_is_named_beside_its_field(
    catalog: Catalog, make_person: Callable[..., User], open_page: Callable[..., Page]
) -> None:
    page = filled_in(open_page(make_person("chief", Role.ADMIN)))
    page.fill("#id_same", "size")
    page.get_by_role("button", name="Measure on a sample").click()
    expect(page.locator("#probe")).to_contain_text("has the attribute 'size'")
    page.get_by_role("button", name="Fill the pool").click()
    expect(page.locator("#id_same_error")).to_contain_text("has the attribute 'size'")
    assert not Pool.objects.filter(slug="ruled").exists()
