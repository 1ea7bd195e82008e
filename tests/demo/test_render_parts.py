"""Cameras, heights, light and shadows, each against what can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from demo.drawing.camera import Camera, Stand
from demo.drawing.canvas import Canvas
from demo.drawing.colours import linear, mixed, scaled, to_bytes
from demo.drawing.light import LIGHTS, shaded
from demo.drawing.parts import Groove, Paint, Part, Relief, Turned, thin
from demo.drawing.relief import blurred, lathe
from demo.drawing.scene import BACKGROUNDS, backdrop, shadow
from demo.drawing.shapes.outlines import ellipse, outline
from demo.drawing.textures import MATERIALS

SQUARE = outline((-0.5, -0.5, "c"), (0.5, -0.5, "c"), (0.5, 0.5, "c"), (-0.5, 0.5, "c"))
GREY = Paint(colour=(0.2, 0.2, 0.2), material=replace(MATERIALS["cotton"], grain=0.0))


def test_a_camera_maps_the_focus_to_the_middle_and_units_to_pixels():
    camera = Camera(Stand(zoom=0.5, focus=(0.2, -0.1)), 100)
    points = np.array([[0.2, -0.1], [1.2, -0.1], [0.2, 0.9]])
    assert camera.project(points) == pytest.approx(np.array([[50, 50], [75, 50], [50, 75]]))


def test_a_mirrored_camera_swaps_left_and_right():
    camera = Camera(Stand(zoom=0.5, flip=True), 100)
    assert camera.project(np.array([[1.0, 0.0]])) == pytest.approx(np.array([[25.0, 50.0]]))


def test_coordinates_undo_the_projection_also_in_perspective():
    stand = Stand(zoom=0.7, focus=(0.1, 0.2), roll=12, squeeze=0.8, recede=0.1, tip=0.05)
    camera = Camera(stand, 64)
    x, y = camera.coordinates((10, 20, 30, 50))
    back = camera.project(np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float64))
    columns, rows = np.meshgrid(np.arange(10, 30) + 0.5, np.arange(20, 50) + 0.5)
    assert back == pytest.approx(np.stack([columns.ravel(), rows.ravel()], axis=1), abs=1e-3)


def test_a_receding_side_gets_smaller():
    camera = Camera(Stand(recede=0.2), 100)
    far, near = (camera.project(np.array([[x, -0.5], [x, 0.5]])) for x in (0.5, -0.5))
    assert np.ptp(far[:, 1]) < np.ptp(near[:, 1])


@pytest.mark.parametrize("sigma", [0.8, 1.5, 4.0, 11.0])
def test_a_blur_is_a_gaussian(sigma):
    plane = np.zeros((96, 96), dtype=np.float32)
    plane[30:70, 40:60] = 1.0
    expected = gaussian_filter(plane, sigma, mode="nearest")
    assert np.abs(blurred(plane, sigma) - expected).max() < 0.06
    assert blurred(plane, sigma).mean() == pytest.approx(expected.mean(), rel=0.02)


def test_a_blur_leaves_an_even_plane_and_a_tiny_sigma_leaves_any():
    even = np.full((40, 30), 0.3, dtype=np.float32)
    assert blurred(even, 9.0) == pytest.approx(even, abs=1e-5)
    assert blurred(even, 0.1) is even


def test_a_turned_cylinder_is_half_a_circle_high_and_unrolls_to_its_girth():
    turned = Turned(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), tilt=0.2)
    x = np.array([[0.0, 0.3, 0.4]], dtype=np.float32)
    y = np.array([[0.0, 0.0, 0.1]], dtype=np.float32)
    height, around, along = lathe(turned, x, y)
    assert height == pytest.approx(np.array([[0.5, 0.4, 0.3]]), abs=1e-6)
    assert around == pytest.approx(0.5 * np.arcsin([[0.0, 0.6, 0.8]]), abs=1e-6)
    assert along == pytest.approx(np.array([[-0.1, -0.08, 0.04]]), abs=1e-6)


def test_a_slope_towards_the_light_is_brighter_than_one_away_from_it():
    part = Part(SQUARE, GREY, thin(0.02))
    for name, light in LIGHTS.items():
        slope = np.array([[-0.4, 0.0, 0.4]], dtype=np.float32)
        albedo = (np.full((1, 3), 0.2, dtype=np.float32),) * 3
        level = np.zeros((1, 3), dtype=np.float32)
        red = shaded(light, part, slope, level, albedo)[0][0]
        # A surface that rises to the right faces left.
        faces_light = red[2] - red[0] if light.direction[0] < 0 else red[0] - red[2]
        assert faces_light > 0, name


def test_a_part_covers_its_outline_but_not_its_holes():
    canvas = Canvas(Camera(Stand(zoom=1.0), 100), LIGHTS["soft top"], np.random.default_rng(0))
    hole = ellipse(0.0, 0.0, 0.2, 0.2)
    canvas.paint(Part(SQUARE, GREY, thin(0.02), holes=(hole,)))
    assert canvas.cover[50, 50] == 0.0
    assert canvas.cover[50, 30] == 1.0
    assert canvas.cover[10, 10] == 0.0
    assert canvas.cover.mean() == pytest.approx(0.25 - np.pi * 0.01, abs=0.006)


def test_a_part_throws_a_shadow_on_the_parts_below_it_and_on_nothing_else():
    light = LIGHTS["soft left"]

    def canvas(lift: float) -> Canvas:
        board = Canvas(Camera(Stand(zoom=1.0), 100), light, np.random.default_rng(0))
        board.paint(Part(SQUARE * 1.6, GREY, Relief(edge=0.0, bulge=0.0)))
        board.paint(Part(SQUARE * 0.6, GREY, Relief(edge=0.0, bulge=0.0), lift=lift))
        return board

    flat, lifted = canvas(0.0), canvas(0.05)
    darker = flat.light_planes[0] - lifted.light_planes[0]
    assert darker[50, 67] > 0.01  # beside it, on the side away from the light
    assert darker[50, 50] == pytest.approx(0.0, abs=1e-6)  # on it
    assert darker[50, 67] > darker[50, 33]
    assert np.array_equal(flat.cover, lifted.cover)


def test_a_thread_shows_its_colour_and_a_dashed_one_less_of_it():
    line = np.array([[-0.4, 0.0], [0.4, 0.0]])
    red = []
    for dash in (None, (0.05, 0.05)):
        canvas = Canvas(Camera(Stand(zoom=1.0), 200), LIGHTS["soft top"], np.random.default_rng(0))
        thread = Groove((line,), width=0.03, depth=0.0, dash=dash, thread=(0.9, 0.0, 0.0))
        canvas.paint(Part(SQUARE, GREY, Relief(edge=0.0, bulge=0.0), grooves=(thread,)))
        red.append(float((canvas.light_planes[0] > 2 * canvas.light_planes[1]).sum()))
    assert red[0] == pytest.approx(80 * 3, rel=0.25)
    assert red[1] == pytest.approx(red[0] / 2, rel=0.25)


@pytest.mark.parametrize("ground", [None, 0.8])
def test_a_shadow_falls_away_from_the_light_and_fades_with_distance(ground):
    cover = np.zeros((120, 120), dtype=np.float32)
    cover[40:96, 50:70] = 1.0
    right = shadow(cover, ground, LIGHTS["warm right"], unit=50.0)
    left = shadow(cover, ground, LIGHTS["warm left"], unit=50.0)
    row = 70 if ground is None else 93
    assert right[row, 44] < right[row, 76]
    assert left[row, 76] < left[row, 44]
    assert right[5, 115] == pytest.approx(1.0, abs=1e-3)
    assert 0.0 < min(right.min(), left.min()) < 0.7


@pytest.mark.parametrize("name", BACKGROUNDS)
@pytest.mark.parametrize("ground", [None, 0.8])
def test_backgrounds_are_reproducible_light_planes(name, ground):
    light = LIGHTS["warm right"]
    one, two = (backdrop(name, 80, ground, light, np.random.default_rng(4)) for _ in range(2))
    assert one.shape == (3, 80, 80)
    assert one.dtype == np.float32
    assert np.array_equal(one, two)
    assert one.min() >= 0.0
    assert 0.02 < one.mean() < 1.1


def test_colours_survive_the_way_to_linear_light_and_back():
    code = "#26335c"
    light = np.array(linear(code), dtype=np.float32)
    assert to_bytes(light).tolist() == [0x26, 0x33, 0x5C]
    assert to_bytes(np.array([-1.0, 0.0, 1.0, 7.0], dtype=np.float32)).tolist() == [0, 0, 255, 255]


def test_colours_mix_and_scale_in_linear_light():
    assert mixed((0.0, 0.2, 1.0), (1.0, 0.4, 0.0), 0.25) == pytest.approx((0.25, 0.25, 0.75))
    assert scaled((0.2, 0.5, 0.9), 1.5) == pytest.approx((0.3, 0.75, 1.0))
