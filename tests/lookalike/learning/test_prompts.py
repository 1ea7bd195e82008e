"""Prompts, and what is no notion."""

from __future__ import annotations

import pytest

from lookalike.core.errors import Refused
from lookalike.learning.notions.prompts import (
    MOST,
    TEMPLATES,
    prompts_from_list,
    prompts_from_values,
    prompts_from_words,
)


def test_a_template_is_filled_with_each_word():
    found = prompts_from_words(["red", " blue ", ""], TEMPLATES["car colour"])
    assert found.texts == ("a red car", "a blue car")


def test_the_ten_templates_of_the_paper_have_one_gap_each():
    assert len(set(TEMPLATES.values())) == 10
    assert all(template.count("{}") == 1 for template in TEMPLATES.values())


def test_the_values_of_an_attribute_count_once():
    found = prompts_from_values(["red", "blue", "red", " ", "blue "], "a {} car")
    assert found.texts == ("a blue car", "a red car")


def test_other_prompts_have_another_hash():
    a, b = prompts_from_list(["x", "y"]), prompts_from_list(["y", "x"])
    assert a.sha256 == prompts_from_list(["x ", "", "y"]).sha256
    assert a.sha256 != b.sha256


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([], "prompts: 0 are given; from 2"),
        (["one", " "], "prompts: 1 is given; from 2"),
        (["same", "other", " same"], "prompts: 'same' is there twice"),
        (["x" * 501, "y"], "longer than 500 characters"),
        ([f"p{n}" for n in range(MOST + 1)], "prompts: 5,001 are given"),
    ],
)
def test_what_says_no_notion_is_refused_with_its_field(texts, reason):
    with pytest.raises(Refused, match=reason):
        prompts_from_list(texts)


def test_an_attribute_with_one_value_is_refused():
    with pytest.raises(Refused, match="attribute: its one value is 'red'"):
        prompts_from_values(["red", "red "], "a {} car")
    with pytest.raises(Refused, match="attribute: it has no value"):
        prompts_from_values(["", " "], "a {} car")


@pytest.mark.parametrize("template", ["a car", "{} on {}"])
def test_a_template_without_one_gap_is_refused(template):
    with pytest.raises(Refused, match=r"template: .* must have \{\} once"):
        prompts_from_words(["red", "blue"], template)
