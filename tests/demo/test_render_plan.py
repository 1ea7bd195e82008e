"""Which products there are: all categories and colours, lookalikes, recoloured copies."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from demo.drawing.colours import DYES, PARTNERS
from demo.drawing.kinds import KINDS
from demo.drawing.plan import products, shot
from demo.drawing.product import Product
from demo.drawing.textures import MATERIALS, SCALES, TEXTURES

LOOKS = (
    "category",
    "colour",
    "second_colour",
    "texture",
    "pattern_scale",
    "cut",
    "detail",
    "trim",
    "material",
)


@pytest.fixture(scope="module")
def planned() -> list[Product]:
    return products(150, np.random.default_rng([0, 0]))


def unlike(a: Product, b: Product) -> set[str]:
    return {name for name in LOOKS if getattr(a, name) != getattr(b, name)}


def test_each_product_has_known_attributes_that_its_category_can_have(planned):
    assert len(planned) == 150
    assert len({p.product_id for p in planned}) == 150
    for p in planned:
        kind = KINDS[p.category]
        assert p.detail in kind.cuts[p.cut]
        assert p.material in kind.materials
        assert p.material in MATERIALS
        assert p.texture in (*kind.textures, "plain")
        assert p.texture in TEXTURES
        assert (p.pattern_scale == "none") == (p.texture == "plain")
        assert p.pattern_scale in (*SCALES, "none")
        assert p.second_colour in PARTNERS[p.colour]


def test_the_colours_are_the_17_keywords_of_css_2_1_and_all_of_them_occur(planned):
    css = "aqua black blue fuchsia gray green lime maroon navy olive orange purple red silver teal"
    assert set(DYES) == {*css.split(), "white", "yellow"}
    assert {p.colour for p in planned} == set(DYES)


def test_categories_take_turns(planned):
    assert set(Counter(p.category for p in planned).values()) == {21, 22}
    assert len(KINDS) == 7


def test_some_products_are_recoloured_copies_of_others(planned):
    pairs = [(a, b) for a, b in combinations(planned, 2) if a.design == b.design]
    assert len(pairs) >= 15
    for a, b in pairs:
        assert a.colour != b.colour
        assert unlike(a, b) <= {"colour", "second_colour"}
        assert (a.family, a.own) == (b.family, b.own)


def test_there_are_many_lookalikes(planned):
    close = [
        (a, b)
        for a, b in combinations(planned, 2)
        if (a.category, a.colour, a.texture) == (b.category, b.colour, b.texture)
    ]
    assert len(close) >= 40
    assert all(a.design != b.design for a, b in close)


def test_no_two_products_are_the_same(planned):
    assert len({tuple(getattr(p, n) for n in (*LOOKS, "own")) for p in planned}) == 150


def test_a_plan_depends_on_its_seed_alone():
    again, other = (products(20, np.random.default_rng(s)) for s in (5, 6))
    assert products(20, np.random.default_rng(5)) == again
    assert again != other


def test_views_come_in_turn_and_a_detail_is_taken_from_close_by():
    kind = KINDS["shirt"]
    taken = [shot(kind, n, np.random.default_rng(n)) for n in range(8)]
    assert [t.view for t in taken] == ["front", "angled", "detail", "in place"] * 2
    assert all((t.closeness > 1.5) == (t.view == "detail") for t in taken)
    assert all("laid flat" in t.pose for t in taken)
