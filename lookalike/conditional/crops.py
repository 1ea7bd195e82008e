"""The part of an image that a template shows: a dilated box, padded to a square with black."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from PIL import Image

from lookalike.conditional.types import Box

Dilation = Literal["paper", "symmetric"]
DILATIONS: tuple[Dilation, ...] = get_args(Dilation)
DILATION = 0.7


class PixelBox(NamedTuple):
    """A part of an image in whole pixels; right and bottom are outside of it."""

    left: int
    top: int
    right: int
    bottom: int


def crop_box(
    box: Box, size: tuple[int, int], how: Dilation = "paper", dilation: float = DILATION
) -> PixelBox:
    """Return which pixels to show of a box, with context around it.

    Source: the released code of GeneCIS (Vaze et al., CVPR 2023). It moves left and top by the
    dilation, and measures right and bottom from there: (1 + dilation) times the box's size. So
    the context lies only on the left and above, unless the image's edge is in the way.
    `symmetric` gives every side half of it, for the same area. Halves of pixels are rounded to
    even, as PIL does; a part narrower than a pixel keeps one.

    Args:
        box: in pixels, with an area, at least partly inside the image.
        size: width and height of the image.
        how: "paper" or "symmetric".
        dilation: share of the box's size that is added, at least 0.

    Raises:
        ValueError: a box without area or outside the image, or a negative dilation.
    """
    width, height = size
    if not (box.width > 0 and box.height > 0 and dilation >= 0):
        raise ValueError(f"the box {list(box)} has no area, or the dilation {dilation} is negative")
    if (
        box.left >= width
        or box.top >= height
        or box.left + box.width <= 0
        or box.top + box.height <= 0
    ):
        raise ValueError(f"the box {list(box)} is outside the {width} x {height} image")
    left, right = _span(box.left, box.width, width, how, dilation)
    top, bottom = _span(box.top, box.height, height, how, dilation)
    return PixelBox(left, top, right, bottom)


def crop_view(
    image: Image.Image, box: Box | None, how: Dilation = "paper", dilation: float = DILATION
) -> Image.Image:
    """Return the square picture that shows a view.

    Args:
        image: the whole image.
        box: as in `crop_box`; None shows all of the image, without padding.
        how: as in `crop_box`.
        dilation: as in `crop_box`.

    Returns:
        In the image's mode, RGB for palettes.

    Raises:
        ValueError: as `crop_box`.
    """
    if image.mode == "P":
        image = image.convert("RGB")
    if box is None:
        return image.copy()
    return padded_square(image.crop(crop_box(box, image.size, how, dilation)))


def padded_square(image: Image.Image) -> Image.Image:
    """Return an image in the middle of a black square; an odd rest goes to the right or below."""
    width, height = image.size
    side = max(width, height)
    if width == height:
        return image.copy()
    square = Image.new(image.mode, (side, side))
    square.paste(image, ((side - width) // 2, (side - height) // 2))
    return square


def _span(
    start: float, length: float, limit: int, how: Dilation, dilation: float
) -> tuple[int, int]:
    """Return first pixel and end of one axis."""
    if how == "paper":
        first = max(0.0, start - dilation * length)
        end = min(float(limit), first + (1 + dilation) * length)
    else:
        first = max(0.0, start - dilation / 2 * length)
        end = min(float(limit), start + (1 + dilation / 2) * length)
    low = min(round(first), limit - 1)
    return low, max(round(end), low + 1)
