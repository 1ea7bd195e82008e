"""What is shown of an image."""

import numpy as np
import pytest
from PIL import Image

from lookalike.conditional.crops import crop_box, crop_view, padded_square
from lookalike.conditional.types import Box

SIZE = (640, 480)


@pytest.mark.parametrize(
    ("box", "shown"),
    [
        ((100, 80, 50, 40), (65, 52, 150, 120)),
        ((10, 5, 50, 40), (0, 0, 85, 68)),
        ((600, 450, 40, 30), (572, 429, 640, 480)),
    ],
)
def test_golden_crops_of_the_released_code(box, shown):
    assert crop_box(Box(*box), SIZE) == shown


@pytest.mark.parametrize(
    ("box", "shown"),
    [
        ((100, 80, 50, 40), (82, 66, 168, 134)),  # 82.5 and 167.5 go to even, as in PIL
        ((10, 5, 50, 40), (0, 0, 78, 59)),
        ((600, 450, 40, 30), (586, 440, 640, 480)),
    ],
)
def test_the_symmetric_variant_gives_every_side_the_same(box, shown):
    assert crop_box(Box(*box), SIZE, "symmetric") == shown


def test_without_dilation_both_show_the_box():
    box = Box(10, 20, 30, 40)
    assert (
        crop_box(box, SIZE, "paper", 0) == crop_box(box, SIZE, "symmetric", 0) == (10, 20, 40, 60)
    )


@pytest.mark.parametrize(
    "box", [(639.9, 479.9, 0.05, 0.05), (0, 0, 0.01, 0.01), (300, 200, 0.2, 0.2)]
)
def test_a_tiny_box_keeps_a_pixel_inside_the_image(box):
    for how in ("paper", "symmetric"):
        left, top, right, bottom = crop_box(Box(*box), SIZE, how)
        assert 0 <= left < right <= 640
        assert 0 <= top < bottom <= 480


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        ((0, 0, 0, 5), "no area"),
        ((640, 0, 5, 5), "outside the 640 x 480 image"),
        ((-9, 0, 9, 5), "outside the 640 x 480 image"),
    ],
)
def test_boxes_that_show_nothing_are_refused(box, reason):
    with pytest.raises(ValueError, match=reason):
        crop_box(Box(*box), SIZE)


def test_padding_is_black_and_centred_with_the_odd_rest_after():
    square = padded_square(Image.new("RGB", (5, 2), "white"))
    rows = np.asarray(square)[:, 0, 0].tolist()
    assert square.size == (5, 5)
    assert rows == [0, 255, 255, 0, 0]
    tall = np.asarray(padded_square(Image.new("L", (1, 4), 255)))
    assert tall[0].tolist() == [0, 255, 0, 0]


def test_the_crop_holds_the_pixels_of_its_box():
    pixels = np.arange(480 * 640, dtype=np.uint32).reshape(480, 640) % 251
    image = Image.fromarray(pixels.astype(np.uint8))
    shown = np.asarray(crop_view(image, Box(100, 80, 50, 40)))
    assert shown.shape == (85, 85)
    assert (shown[8:76] == pixels[52:120, 65:150]).all()
    assert not shown[:8].any()
    assert not shown[76:].any()


def test_a_view_without_box_shows_the_whole_image():
    image = Image.new("P", (6, 3))
    whole = crop_view(image, None)
    assert (whole.size, whole.mode) == ((6, 3), "RGB")
