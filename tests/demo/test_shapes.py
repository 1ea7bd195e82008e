"""Curves: through their points, sharp where asked, symmetric, of the right width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from demo.drawing.shapes.outlines import (
    arc,
    ellipse,
    flipped,
    hull,
    mirrored,
    outline,
    ribbon,
    smooth,
)
from demo.drawing.shapes.round import Space, profile


def contains(points, wanted) -> bool:
    return bool((np.linalg.norm(points - np.array(wanted), axis=1) < 1e-9).any())


def test_a_smooth_curve_passes_through_all_its_points():
    knots = [(0.0, 0.0), (1.0, 2.0), (3.0, 1.0), (4.0, 4.0)]
    curve = smooth(knots, steps=8)
    assert len(curve) == 3 * 8 + 1
    assert all(contains(curve, knot) for knot in knots)


def test_a_smooth_curve_through_points_on_a_line_stays_on_it():
    curve = smooth([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)])
    assert curve[:, 0] == pytest.approx(curve[:, 1])


def test_an_outline_of_corners_is_their_polygon():
    square = outline((0, 0, "c"), (1, 0, "c"), (1, 1, "c"), (0, 1, "c"))
    assert square.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_an_outline_starts_at_its_first_corner_and_keeps_every_vertex():
    shape = outline((0.0, 0.0), (1.0, 0.0, "c"), (1.0, 1.0), (0.0, 1.0, "c"))
    assert shape[0].tolist() == [1.0, 0.0]
    assert all(contains(shape, v) for v in [(0, 0), (1, 0), (1, 1), (0, 1)])


def test_an_outline_without_corners_turns_gently_everywhere():
    shape = outline((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
    step = np.diff(np.vstack([shape, shape[:2]]), axis=0)
    angle = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    assert np.abs(np.diff(angle)).max() < np.radians(30)


def test_a_mirrored_outline_is_its_own_mirror_image():
    shape = mirrored((0, -1), (0.5, -0.8), (0.7, 0.0, "c"), (0.4, 1.0, "c"), (0, 1.1))
    left = {tuple(np.round(p, 9)) for p in flipped(shape) + 0.0}
    assert left == {tuple(np.round(p, 9)) for p in shape + 0.0}


@given(
    start=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    angle=st.floats(0, 6.28),
    length=st.floats(0.1, 2),
    width=st.floats(0.01, 0.5),
)
def test_a_straight_ribbon_has_its_width_everywhere(start, angle, length, width):
    way = np.array([np.cos(angle), np.sin(angle)])
    line = np.array(start) + np.linspace(0, length, 5)[:, None] * way
    band = ribbon(line, width)
    across = band[:5] - band[::-1][:5]
    assert np.linalg.norm(across, axis=1) == pytest.approx(np.full(5, width))
    assert across @ way == pytest.approx(np.zeros(5), abs=1e-9)


def test_a_ribbon_can_taper_or_follow_given_widths():
    line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    for width, end in ((0.4, 0.2), (np.array([0.4, 0.3, 0.2]), None)):
        band = ribbon(line, width, end)
        thick = np.linalg.norm(band[:3] - band[::-1][:3], axis=1)
        assert thick == pytest.approx([0.4, 0.3, 0.2])


def test_ellipse_and_arc_lie_on_the_ellipse():
    for points in (ellipse(1, 2, 3, 0.5), arc(1, 2, 3, 0.5, start=10, stop=200, n=9)):
        assert ((points[:, 0] - 1) / 3) ** 2 + ((points[:, 1] - 2) / 0.5) ** 2 == pytest.approx(1)
    assert len(ellipse(0, 0, 1, 1, 12)) == 12
    assert arc(0, 0, 1, 1, start=0, stop=90, n=2)[-1] == pytest.approx([0, 1])


@given(st.integers(0, 10_000))
def test_a_hull_is_the_convex_hull(seed):
    points = np.random.default_rng(seed).standard_normal((25, 2))
    expected = points[ConvexHull(points).vertices]
    assert {tuple(p) for p in hull(points)} == {tuple(p) for p in expected}


def test_space_seen_from_the_front_keeps_x_and_lowers_what_is_near():
    points = np.array([[0.3, 0.5, 0.0], [0.3, 0.5, 1.0]])
    flat = Space(turn=0, tilt=0.6).projected(points)
    assert flat == pytest.approx(np.array([[0.3, 0.4], [0.3, 1.0]]))


def test_space_turned_by_a_quarter_shows_the_side():
    assert Space(turn=90, tilt=0.0).projected(np.array([[0.0, 0.0, 1.0]])) == pytest.approx(
        np.array([[1.0, 0.0]])
    )


def test_a_profile_passes_through_its_half_widths():
    shape = profile((0.3, -0.5), (0.5, 0.0), (0.2, 0.5))
    assert np.interp([-0.5, 0.0, 0.5], shape[:, 1], shape[:, 0]) == pytest.approx([0.3, 0.5, 0.2])
