"""Names of colours, as the code of InDiReCT makes them of published data."""

from __future__ import annotations

import colorsys

import pytest

from lookalike.core.errors import Refused
from lookalike.images.named_colours import (
    CSS_COLOURS,
    colour_of_shift,
    nearest_colour,
)


@pytest.mark.parametrize("name", sorted(CSS_COLOURS))
def test_each_keyword_is_its_own_nearest_and_comes_back_from_its_shift(name):
    rgb = CSS_COLOURS[name]
    assert nearest_colour(rgb) == name
    hue, saturation, value = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    assert colour_of_shift(hue - 0.5, 2 * saturation, 2 * value) == name


def test_css_2_1_has_17_keywords_where_the_paper_counts_18():
    assert len(CSS_COLOURS) == 17


@pytest.mark.parametrize(
    ("shift", "name"),
    [
        ((0.5, 2, 2), "red"),
        ((0.5, 1, 1), "maroon"),  # half of both: (127, 63, 63)
        ((0.0, 0, 2), "white"),
        ((0.9, 0, 1), "gray"),
        ((0.5 + 2 / 3, 2, 2), "blue"),
        ((1.5 + 2 / 3, 2, 2), "blue"),
    ],
)
def test_a_shift_has_the_name_of_the_colour_it_makes(shift, name):
    assert colour_of_shift(*shift) == name


@pytest.mark.parametrize(
    ("shift", "field"),
    [((0, 2.1, 1), "saturation"), ((0, 1, -0.1), "value"), ((0, float("nan"), 1), "saturation"),
     ((float("nan"), 1, 1), "hue"), ((float("inf"), 1, 1), "hue")],
)  # fmt: skip
def test_numbers_out_of_range_are_refused_by_their_name(shift, field):
    with pytest.raises(Refused) as caught:
        colour_of_shift(*shift)
    assert caught.value.field == field
