"""Patterns: how much of the second colour they show, where, and how softly."""

from __future__ import annotations

import numpy as np
import pytest

from demo.drawing.textures import MATERIALS, TEXTURES, Material, Plane, grain, second_colour_share


def patch(n: int = 400, side: float = 4.0) -> tuple[Plane, Plane]:
    line = ((np.arange(n) + 0.5) / n * side).astype(np.float32)
    s, t = np.meshgrid(line, line)
    return s, t


def share(texture: str, *, pixel: float = 0.001, shift: tuple[float, float] = (0.0, 0.0)) -> Plane:
    s, t = patch()
    shown = second_colour_share(texture, s + shift[0], t + shift[1], period=0.4, pixel=pixel)
    assert shown is not None
    return shown


def test_a_plain_surface_shows_no_second_colour():
    s, t = patch()
    assert second_colour_share("plain", s, t, period=0.4, pixel=0.001) is None


@pytest.mark.parametrize("texture", [t for t in TEXTURES if t != "plain"])
def test_every_pattern_stays_between_none_and_all_and_shows_some(texture):
    shown = share(texture)
    assert shown.min() >= 0.0
    assert shown.max() <= 1.0
    assert 0.02 < shown.mean() < 0.98


def test_stripes_cover_their_share_and_run_across():
    shown = share("striped")
    assert shown.mean() == pytest.approx(0.42, abs=0.03)
    assert np.ptp(shown, axis=1).max() == 0.0


def test_pinstripes_run_down():
    assert np.ptp(share("pinstriped"), axis=0).max() == 0.0


def test_checks_are_half_stripes_across_and_half_down():
    shown = share("checked")
    values, counts = np.unique(np.round(shown, 3), return_counts=True)
    common = dict(zip(values.tolist(), (counts / shown.size).tolist(), strict=True))
    assert common[0.0] == pytest.approx(0.25, abs=0.02)
    assert common[0.5] == pytest.approx(0.5, abs=0.02)
    assert common[1.0] == pytest.approx(0.25, abs=0.02)


def test_dots_cover_the_area_of_their_circles():
    assert share("dotted").mean() == pytest.approx(np.pi * 0.27**2, rel=0.02)


def test_dots_stand_in_the_gaps_of_the_row_above():
    a, b = share("dotted", pixel=0.05), share("dotted", pixel=0.05, shift=(0.2, 0.4))
    assert np.abs(a - b).max() < 0.01


def test_a_colour_block_begins_where_it_is_told():
    s, t = patch()
    shown = second_colour_share("colour-block", s, t, period=1.5, pixel=0.001)
    assert shown is not None
    assert np.array_equal(shown > 0.5, t > 1.5)


@pytest.mark.parametrize("texture", ["striped", "checked", "dotted", "zigzag"])
def test_a_pattern_repeats_after_its_period(texture):
    period = {"zigzag": (0.36, 0.34), "dotted": (0.4, 0.8)}.get(texture, (0.4, 0.4))
    a, b = share(texture, pixel=0.05), share(texture, pixel=0.05, shift=period)
    assert np.abs(a - b).max() < 0.01


def test_a_coarser_pixel_softens_edges_and_keeps_the_mean():
    fine, coarse = share("dotted", pixel=0.002), share("dotted", pixel=0.06)
    assert ((coarse > 0.01) & (coarse < 0.99)).mean() > ((fine > 0.01) & (fine < 0.99)).mean()
    assert coarse.mean() == pytest.approx(fine.mean(), abs=0.01)


def test_an_unknown_pattern_is_refused():
    with pytest.raises(KeyError):
        share("paisley")


@pytest.mark.parametrize("name", list(MATERIALS))
def test_grain_varies_around_one_as_strongly_as_the_material_says(name):
    s, t = patch(200, 1.0)
    factor = grain(MATERIALS[name], s, t, 0.005, start=(3, 1000))
    assert factor.shape == s.shape
    assert factor.mean() == pytest.approx(1.0, abs=0.12)
    assert factor.std() <= 1.2 * MATERIALS[name].grain
    assert (factor.std() > 0) == (MATERIALS[name].grain > 0)


def test_a_material_without_grain_is_even():
    s, t = patch(20, 1.0)
    assert np.array_equal(
        grain(Material(grain=0.0), s, t, 0.01, start=(0, 0)), np.ones((20, 20), dtype=np.float32)
    )
