"""Pages of images and facets agree with a slow look at every image."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from django.utils import timezone

from catalog.browsing.browse import image_page
from catalog.browsing.facets import facets, list_attributes
from catalog.browsing.filters import ImageFilter, Likeness, Place, parse_filter
from catalog.models import Catalog, Image
from catalog.queries import product_page

pytestmark = pytest.mark.django_db

SOME = [
    {},
    {"color": ("red",)},
    {"color": ("red", "blue")},
    {"color": ("red",), "view": ("back", "main")},
    {"color": ("gold",)},
    {"n": ("3",)},
]


@pytest.fixture
def catalog() -> Catalog:
    return filled("one", 200)


def filled(slug: str, n: int) -> Catalog:
    rng = random.Random(slug)
    catalog = Catalog.objects.create(slug=slug, name=slug)
    Image.objects.bulk_create(
        Image(
            catalog=catalog,
            sha256=f"{rng.getrandbits(256):064x}",
            product_id=rng.choice(["", "P1", "P2", "p12", "X"]),
            attributes={
                **({"color": rng.choice(["red", "blue", "green"])} if rng.random() < 0.8 else {}),
                "view": rng.choice(["main", "back"]),
                "n": str(i),
                "price": str(i % 20),
                "size": str(38 + i % 4),
                "name": f"Thing {i}",
                "always": "same",
            },
            width=1,
            height=1,
            image_format="PNG",
            n_bytes=1,
            perceptual_hash="0" * 16,
        )
        for i in range(n)
    )
    return catalog


def expected(catalog: Catalog, asked: ImageFilter) -> list[Image]:
    return [
        image
        for image in catalog.images.order_by("id")
        if all(
            any(
                word.lower() in text.lower()
                for text in [image.product_id, *image.attributes.values()]
            )
            for word in asked.search.split()
        )
        and (not asked.product or image.product_id == asked.product)
        and all(image.attributes.get(name) in values for name, values in asked.attributes)
    ]


def filter_of(
    attributes: dict[str, tuple[str, ...]], search: str = "", product: str = ""
) -> ImageFilter:
    return ImageFilter(search, product, tuple(sorted(attributes.items())))


@pytest.mark.parametrize("attributes", SOME)
@pytest.mark.parametrize(
    "rest",
    [{}, {"search": "p1"}, {"search": "THING 7 blue"}, {"search": "color"}, {"product": "P1"}],
)
def test_paging_forth_and_back_shows_every_image_once(
    catalog: Catalog, attributes: dict[str, tuple[str, ...]], rest: dict[str, str]
):
    filled("two", 50)
    asked = filter_of(attributes, **rest)
    wanted = expected(catalog, asked)
    page = image_page(catalog, asked, Place(), size=7)
    forth = list(page.images)
    assert page.previous is None
    while page.next is not None:
        page = image_page(catalog, asked, Place(after=page.next.uid), size=7)
        assert page.first_number == len(forth) + 1
        forth += page.images
    assert forth == wanted
    assert page.n_all == page.last_number == len(wanted)
    back = list(page.images)
    while page.previous is not None:
        page = image_page(catalog, asked, Place(before=page.previous.uid), size=7)
        back = [*page.images, *back]
    assert back == wanted


def test_a_place_in_another_catalog_is_the_beginning(catalog: Catalog):
    stranger = filled("two", 3).images.last()
    assert stranger is not None
    page = image_page(catalog, ImageFilter(), Place(after=stranger.uid), size=5)
    assert page.images == list(catalog.images.order_by("id")[:5])


def test_images_that_arrive_meanwhile_do_not_shift_the_pages(catalog: Catalog):
    first = image_page(catalog, ImageFilter(), Place(), size=50)
    assert first.next is not None
    expected_next = image_page(catalog, ImageFilter(), Place(after=first.next.uid), size=50)
    Image.objects.filter(pk=first.images[3].pk).delete()
    again = image_page(catalog, ImageFilter(), Place(after=first.next.uid), size=50)
    assert again.images == expected_next.images


@pytest.mark.parametrize("attributes", SOME)
def test_counts_of_facets_are_what_choosing_them_would_give(
    catalog: Catalog, attributes: dict[str, tuple[str, ...]]
):
    filled("two", 50)
    asked = filter_of(attributes, search="p")
    found = facets(catalog, asked)
    assert [facet.name for facet in found] == ["view", "color", "size"]
    for facet in found:
        counts = Counter(
            image.attributes.get(facet.name)
            for image in expected(catalog, asked.without(facet.name))
        )
        del counts[None]
        shown = {value.text: value.n_images for value in facet.values if value.n_images}
        assert shown == dict(counts)
        chosen = {value.text for value in facet.values if value.is_chosen}
        assert chosen == set(asked.values_of(facet.name))
        for value in facet.values:
            assert value.query == asked.toggled(facet.name, value.text).query()


def test_names_numbers_and_constants_are_attributes_but_no_facets(catalog: Catalog):
    found = {attribute.name: attribute for attribute in list_attributes(catalog)}
    assert sorted(found) == ["always", "color", "n", "name", "price", "size", "view"]
    assert found["price"].n_values == 20
    assert [name for name, a in sorted(found.items()) if a.is_facet] == ["color", "size", "view"]


def test_facets_follow_a_change_of_the_catalog(catalog: Catalog):
    before = list_attributes(catalog)
    Image.objects.filter(catalog=catalog).update(attributes={})
    assert list_attributes(catalog) == before  # remembered
    catalog.changed_at = timezone.now()
    assert list_attributes(catalog) == []


def test_counting_does_not_ask_the_database_twice(
    catalog: Catalog, django_assert_num_queries: Callable[..., AbstractContextManager[object]]
):
    asked = parse_filter({"a.color": ["red"]}, ["color"])
    facets(catalog, asked)
    with django_assert_num_queries(0):
        facets(catalog, asked)
        facets(catalog, replace(asked, like=Likeness(uuid.uuid4(), 1)))  # only ordered


def test_a_products_page_tells_what_is_shared_and_what_is_not(catalog: Catalog):
    Image.objects.filter(product_id="X").exclude(
        pk__in=list(catalog.images.filter(product_id="X").values_list("pk", flat=True)[:2])
    ).delete()
    one, two = catalog.images.filter(product_id="X").order_by("id")
    one.attributes, two.attributes = {"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}
    one.save()
    two.save()
    found = product_page(catalog, "X")
    assert found is not None
    assert found.common == [("a", "1")]
    assert found.images == [(one, [("b", "2")]), (two, [("b", "3"), ("c", "4")])]
    for nothing in ("", "nope", "X\0"):
        assert product_page(catalog, nothing) is None
