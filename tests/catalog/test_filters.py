"""Addresses of a catalog's page: read, changed and written without loss, and harmless."""

from __future__ import annotations

import uuid
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.browsing.filters import ImageFilter, parse_filter, parse_place

NAMES = ["color", "view", "a&b=c"]
texts = st.text(min_size=1, max_size=20).filter(lambda text: "\0" not in text)


def read(query: str, names: list[str] = NAMES) -> ImageFilter:
    return parse_filter(parse_qs(query), names)


def test_by_hand():
    asked = read("q=WH&product=WH01&a.color=red&a.color=blue&a.view=main&after=x&page=3")
    assert asked == ImageFilter("WH", "WH01", (("color", ("blue", "red")), ("view", ("main",))))
    assert asked.query() == "q=WH&product=WH01&a.color=blue&a.color=red&a.view=main"
    assert asked.conditions() == [
        (
            "contains “WH”",
            "product=WH01&a.color=blue&a.color=red&a.view=main",
        ),
        ("product is WH01", "q=WH&a.color=blue&a.color=red&a.view=main"),
        ("color: blue", "q=WH&product=WH01&a.color=red&a.view=main"),
        ("color: red", "q=WH&product=WH01&a.color=blue&a.view=main"),
        ("view: main", "q=WH&product=WH01&a.color=blue&a.color=red"),
    ]


@pytest.mark.parametrize(
    "name",
    ["size", "catalog__slug", "product_id__startswith", "color__contains", "", "COLOR", "id"],
)
def test_a_name_that_is_no_attribute_is_left_out_and_told(name: str):
    asked = read(f"a.{name}=x")
    assert not asked
    assert asked.ignored == (name,)


def test_parameters_without_the_prefix_are_no_conditions():
    assert not read("color=red&catalog__slug=x&password__startswith=a&id=3")


@given(
    st.dictionaries(st.sampled_from(NAMES), st.lists(texts, min_size=1, max_size=4), max_size=3),
    st.text(max_size=30),
)
def test_what_is_written_is_read_back(attributes: dict[str, list[str]], search: str):
    asked = parse_filter(
        {"q": [search], **{f"a.{name}": values for name, values in attributes.items()}}, NAMES
    )
    assert parse_filter(parse_qs(asked.query(), keep_blank_values=True), NAMES) == asked


@given(st.sampled_from(NAMES), texts)
def test_toggling_twice_changes_nothing(name: str, value: str):
    asked = read("a.color=red&a.view=main")
    once = asked.toggled(name, value)
    assert once != asked
    assert once.toggled(name, value) == asked


def test_values_are_bounded():
    asked = parse_filter({"q": ["x" * 5000], "a.color": [str(i) for i in range(999)]}, NAMES)
    assert len(asked.search) == 200
    assert len(asked.values_of("color")) == 50
    assert parse_filter({"a.color": ["\0", ""]}, NAMES) == ImageFilter()
    assert parse_filter({"q": ["a\0b"]}, NAMES).search == "ab"


@pytest.mark.parametrize("text", ["", "x", "1", "' or 1=1", "\0", "{}"])
def test_a_place_that_is_no_uid_is_the_beginning(text: str):
    assert parse_place({"after": [text]}) == parse_place({})
    uid = uuid.uuid4()
    assert parse_place({"after": [str(uid)]}).after == uid
