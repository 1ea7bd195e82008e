"""Rules for choosing queries: reading them, storing them, drawing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.pooling.query_rule import (
    QueryRule,
    QueryRuleError,
    draw,
    draw_evenly,
    one_of_each,
    parse_filters,
    parse_names,
)


def test_a_rule_is_the_same_after_it_was_stored():
    for rule in (
        QueryRule(n=5, filters={"colour": ("red", "blue"), "cut": ("slim",)}),
        QueryRule(names=("b.jpg", "a.jpg")),
        QueryRule(),
    ):
        assert QueryRule.from_json(rule.as_json()) == rule


def test_a_rule_says_in_words_what_it_chooses():
    assert QueryRule(n=5).describe() == "a random sample of 5"
    assert QueryRule().describe() == "every image"
    assert QueryRule(names=("a", "b")).describe() == "a list of 2"
    rule = QueryRule(n=5, filters={"colour": ("red", "blue"), "cut": ("slim",)})
    assert rule.describe() == "a random sample of 5, only colour = red or blue, cut = slim"


def test_a_number_and_a_list_together_are_refused():
    with pytest.raises(QueryRuleError, match="not both"):
        QueryRule(n=1, names=("a",))


@pytest.mark.parametrize("n", [0, -3])
def test_fewer_than_one_query_is_refused(n):
    with pytest.raises(QueryRuleError, match="at least 1"):
        QueryRule(n=n)


def test_a_name_listed_twice_is_refused_by_name():
    with pytest.raises(QueryRuleError, match="'b' twice"):
        QueryRule(names=("a", "b", "b"))


def test_filters_of_one_name_widen_and_blank_lines_are_nothing():
    lines = ["colour=red", "", " colour = dark blue ", "cut=slim"]
    assert parse_filters(lines) == {"colour": ("red", "dark blue"), "cut": ("slim",)}


def test_a_filter_value_may_hold_an_equals_sign():
    assert parse_filters(["note=a=b"]) == {"note": ("a=b",)}


@pytest.mark.parametrize("line", ["red", "=red", "colour="])
def test_a_filter_without_name_or_value_is_refused_by_its_text(line):
    with pytest.raises(QueryRuleError, match=line):
        parse_filters([line])


def test_a_list_keeps_its_order_without_blank_lines_and_comments():
    assert parse_names("b.jpg\n\n# chosen by hand\n a.jpg \r\n") == ("b.jpg", "a.jpg")


@given(st.integers(1, 200), st.data())
def test_a_draw_is_distinct_and_in_range(n_available, data):
    n = data.draw(st.integers(1, n_available))
    drawn = draw(n_available, n, np.random.default_rng(0))
    assert len(set(drawn.tolist())) == n
    assert drawn.min() >= 0
    assert drawn.max() < n_available


@given(st.integers(2, 200), st.integers(0, 2**32))
def test_a_smaller_draw_of_the_same_seed_is_the_start_of_a_larger_one(n_available, seed):
    all_drawn = draw(n_available, n_available, np.random.default_rng(seed))
    some = draw(n_available, n_available // 2, np.random.default_rng(seed))
    assert all_drawn[: len(some)].tolist() == some.tolist()


@pytest.mark.parametrize("n", [0, 6])
def test_a_draw_out_of_range_is_refused(n):
    with pytest.raises(ValueError, match=f"{n} of 5"):
        draw(5, n, np.random.default_rng(0))


VALUES = st.lists(st.sampled_from(["red", "green", "blue", ""]), min_size=1, max_size=60)


@given(VALUES, st.data())
def test_an_even_draw_takes_of_each_value_as_many_as_of_any_other_or_all_there_are(values, data):
    n = data.draw(st.integers(1, len(values)))
    drawn = draw_evenly(values, n, np.random.default_rng(data.draw(st.integers(0, 9)))).tolist()
    assert len(set(drawn)) == n
    there, taken = Counter(values), Counter(values[position] for position in drawn)
    most = max(taken.values())
    for value, n_there in there.items():
        assert taken[value] >= min(n_there, most - 1)


def test_an_even_draw_begins_with_one_of_each_and_a_smaller_one_is_its_start():
    values = ["red"] * 50 + ["green"] * 3 + ["blue"]
    drawn = draw_evenly(values, 20, np.random.default_rng(4)).tolist()
    assert {values[position] for position in drawn[:3]} == {"red", "green", "blue"}
    assert Counter(values[position] for position in drawn) == {"red": 16, "green": 3, "blue": 1}
    assert drawn[:7] == draw_evenly(values, 7, np.random.default_rng(4)).tolist()
    others = draw_evenly(values, 20, np.random.default_rng(5)).tolist()
    assert drawn != others
    with pytest.raises(ValueError, match="55 of 54"):
        draw_evenly(values, 55, np.random.default_rng(0))


def test_one_of_each_product_is_drawn_uniformly_and_unknown_products_are_all_kept():
    products = ["a", "a", "a", "", "b", ""]
    chosen: Counter[int] = Counter()
    for seed in range(600):
        kept = one_of_each(products, np.random.default_rng(seed)).tolist()
        assert kept == sorted(kept)
        assert {3, 4, 5} < set(kept)
        assert len(kept) == 4
        chosen.update(kept)
    assert all(abs(chosen[position] - 200) < 60 for position in range(3))


def test_a_list_is_neither_spread_nor_thinned_and_a_spread_needs_a_number():
    for given_too in ({"strata": "colour"}, {"one_per_product": True}):
        with pytest.raises(QueryRuleError, match="nothing is drawn"):
            QueryRule(names=("a",), **given_too)
    with pytest.raises(QueryRuleError, match="how many"):
        QueryRule(strata="colour")


def test_a_spread_rule_survives_storage_and_says_itself_in_words():
    rule = QueryRule(n=9, strata="colour", one_per_product=True)
    assert QueryRule.from_json(rule.as_json()) == rule
    assert rule.describe() == (
        "a random sample of 9 spread evenly over colour, one of each product"
    )
    assert QueryRule.from_json({"n": 3, "names": [], "filters": {}}) == QueryRule(n=3)
