"""Duplicates: an image left out of new pools, two products that are one, and both taken back."""

from __future__ import annotations

import pytest
from django.urls import reverse

from accounts.models import Role, User
from catalog.curation.services import (
    join_products,
    leave_out,
    omitted_ids,
    part_products,
    take_back,
)
from catalog.models import Catalog, Image, NearDuplicate, ProductMerge
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule
from pooling.new_pool.requests import PoolRequest, choose_queries
from pooling.pools.services import create_pool
from pooling.sources.admission import n_admissible
from tests.catalogs import catalog_of_photos
from tests.clients import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def shoes(data_dir) -> Catalog:
    return catalog_of_photos(8)


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", role=Role.ADMIN)


def products(catalog: Catalog) -> list[str]:
    return list(catalog.images.order_by("pk").values_list("product_id", flat=True))


def test_a_pool_keeps_to_what_was_left_out_when_it_was_made(shoes, ada):
    first, *_, last = shoes.images.order_by("pk")
    request = PoolRequest(
        "p", shoes, ["random:1"], k=2, rule=QueryRule(), exclude_same_product=False
    )
    before = create_pool(request=request, created_by=ada)
    leave_out(image=last, reason="cut off", by=ada)
    assert last.pk not in choose_queries(request)
    assert n_admissible(before, before.query_ids).tolist() == [7] * 8
    assert n_admissible(request, before.query_ids[:3]).tolist() == [6] * 3
    listed = PoolRequest("q", shoes, ["random:1"], k=2, rule=QueryRule(names=(str(last.uid),)))
    with pytest.raises(Refused, match="left out of pools"):
        choose_queries(listed)
    meanwhile = create_pool(request=PoolRequest("m", shoes, ["random:1"], 2, QueryRule(n=3)),
                            created_by=ada)  # fmt: skip
    take_back(image=last, by=ada)
    assert omitted_ids(shoes) == set()
    assert omitted_ids(shoes, meanwhile.created_at) == {last.pk}
    assert omitted_ids(shoes, before.created_at) == set()
    with pytest.raises(Refused, match="not left out"):
        take_back(image=last, by=ada)
    with pytest.raises(Refused, match="Say why"):
        leave_out(image=first, reason=" ", by=ada)


def test_two_products_become_one_and_come_apart_again_whatever_came_between(shoes, ada):
    images = list(shoes.images.order_by("pk"))
    as_imported = products(shoes)
    changed_at = shoes.changed_at
    one = join_products(first=images[0], second=images[2], by=ada)
    assert products(shoes)[:4] == ["product-0"] * 4
    two = join_products(first=images[4], second=images[3], by=ada)
    assert products(shoes)[:6] == ["product-2"] * 6
    with pytest.raises(Refused, match="already"):
        join_products(first=images[0], second=images[5], by=ada)
    shoes.refresh_from_db()
    assert shoes.changed_at > changed_at, "counts that are kept are counted anew"
    part_products(merge=two, by=ada)
    part_products(merge=one, by=ada)
    assert products(shoes) == as_imported
    with pytest.raises(Refused, match="taken back already"):
        part_products(merge=one, by=ada)
    Image.objects.filter(pk__in=[images[0].pk, images[2].pk]).update(product_id="")
    new = join_products(first=images[0], second=images[2], by=ada)
    assert products(shoes)[0] == products(shoes)[2] != ""
    Image.objects.filter(pk=images[2].pk).update(product_id="imported since")
    assert part_products(merge=new, by=ada) == 1
    assert products(shoes)[2] == "imported since"


def test_the_page_of_duplicates_does_and_undoes_both(shoes, ada):
    first, second, third = shoes.images.order_by("pk")[:3]
    NearDuplicate.objects.create(catalog=shoes, first=first, second=third, n_bits=2)
    browser, page = signed_in(ada), reverse("catalog:duplicates", args=[shoes.slug])
    joins = reverse("catalog:join", args=[shoes.slug, first.uid, third.uid])
    assert joins in browser.get(page).content.decode()
    reply = browser.post(joins, {"next": "https://elsewhere.example/"})
    assert reply["Location"] == "/catalogs/", "nobody is sent away"
    merge = ProductMerge.objects.get()
    undo = reverse("catalog:part", args=[shoes.slug, merge.pk])
    text = browser.get(page).content.decode()
    assert undo in text
    assert joins not in text
    assert browser.post(undo, {"next": page})["Location"] == page
    leaves = reverse("catalog:leave_out", args=[shoes.slug, first.uid])
    browser.post(leaves, {"next": page, "reason": "<i>copy</i>"})
    assert "&lt;i&gt;copy&lt;/i&gt;, by ada" in browser.get(page).content.decode()
    takes = reverse("catalog:take_back", args=[shoes.slug, first.uid])
    assert (
        takes
        in browser.get(reverse("catalog:image", args=[shoes.slug, first.uid])).content.decode()
    )
    assert browser.post(takes, {"next": "nan"})["Location"] == "/catalogs/", "no name of a page"
    assert "Left out" not in browser.get(page).content.decode()
    other = Catalog.objects.create(slug="other", name="Other")
    stray = reverse("catalog:join", args=[other.slug, first.uid, second.uid])
    assert browser.post(stray).status_code == 404
    for role in (Role.RESEARCHER, Role.ANNOTATOR):
        reader = signed_in(User.objects.create_user(role, role=role))
        for address in (joins, undo, leaves, takes):
            assert reader.post(address, {"reason": "x"}).status_code == 403
    assert (
        joins not in signed_in(User.objects.get(username="researcher")).get(page).content.decode()
    )
