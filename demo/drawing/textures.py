"""Patterns drawn from surface coordinates, and the fine grain of materials.

A pattern answers, for each point (s, t) of a surface, how much of the second colour shows
there. Edges are softened over one pixel, so nothing flickers at any size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]

TEXTURES: Final = (
    "plain",
    "striped",
    "pinstriped",
    "checked",
    "tartan",
    "dotted",
    "zigzag",
    "floral",
    "colour-block",
)
SCALES: Final = {"fine": 0.075, "medium": 0.135, "bold": 0.24}


def _inside(distance: Plane, pixel: float) -> Plane:
    """Turn a signed distance (negative inside) into coverage in [0, 1]."""
    return np.asarray(np.clip(0.5 - distance / pixel, 0.0, 1.0), dtype=np.float32)


def _band(x: Plane, period: float, share: float, pixel: float) -> Plane:
    """Repeat a band that covers `share` of each period along x."""
    away = np.abs(x / period - np.floor(x / period) - 0.5) * period
    return _inside(away - period * share / 2, pixel)


def _striped(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    return _band(t, period, 0.42, pixel)


def _pinstriped(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    return _band(s, period * 0.8, 0.13, pixel) * np.float32(0.85)


def _checked(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    return (_band(s, period, 0.5, pixel) + _band(t, period, 0.5, pixel)) * np.float32(0.5)


def _tartan(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    wide = period * 1.9
    warp = 0.55 * _band(s, wide, 0.36, pixel) + 0.9 * _band(s + wide / 2, wide, 0.045, pixel)
    weft = 0.55 * _band(t, wide, 0.36, pixel) + 0.9 * _band(t + wide / 2, wide, 0.045, pixel)
    return np.asarray(warp + weft - warp * weft, dtype=np.float32)


def _dotted(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    row = np.floor(t / period)
    x = s / period + 0.5 * (row % 2)
    dx = (x - np.floor(x) - 0.5) * period
    dy = (t / period - row - 0.5) * period
    return _inside(np.hypot(dx, dy) - np.float32(0.27 * period), pixel)


def _zigzag(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    x = s / (period * 0.9)
    tooth = np.abs(x - np.floor(x) - 0.5) * 2 * period * 0.45
    return _band(t + tooth, period * 0.85, 0.45, pixel)


def _scatter(column: Plane, row: Plane, salt: float) -> Plane:
    """Give each cell of a grid its own number in [0, 1)."""
    x = np.sin(column * 12.9898 + row * 78.233 + salt) * 43758.547
    return np.asarray(x - np.floor(x), dtype=np.float32)


def _floral(s: Plane, t: Plane, period: float, pixel: float) -> Plane:
    cell = period * 1.35
    row = np.floor(t / cell)
    x = s / cell + 0.5 * (row % 2)
    column = np.floor(x)
    size = 0.26 + 0.13 * _scatter(column, row, 2.0)
    dx = (x - column - 0.5 - 0.2 * (_scatter(column, row, 0.0) - 0.5)) * cell
    dy = (t / cell - row - 0.5 - 0.2 * (_scatter(column, row, 1.0) - 0.5)) * cell
    radius = np.hypot(dx, dy)
    angle = np.arctan2(dy, dx) + 6.283 * _scatter(column, row, 3.0)
    reach = size * cell * (0.72 + 0.28 * np.cos(5 * angle))
    petals = _inside(radius - reach, pixel)
    heart = _inside(radius - 0.22 * size * cell, pixel)
    return np.asarray(petals * (1.0 - 0.85 * heart), dtype=np.float32)


_PATTERNS: Final[dict[str, Callable[[Plane, Plane, float, float], Plane]]] = {
    "striped": _striped,
    "pinstriped": _pinstriped,
    "checked": _checked,
    "tartan": _tartan,
    "dotted": _dotted,
    "zigzag": _zigzag,
    "floral": _floral,
}


def second_colour_share(
    texture: str, s: Plane, t: Plane, *, period: float, pixel: float
) -> Plane | None:
    """Say how much of the second colour shows at each surface point.

    Args:
        texture: one of `TEXTURES`.
        s: across the surface, any shape, in product units.
        t: down the surface, same shape.
        period: how often the pattern repeats, in product units, > 0. For "colour-block" the
            t at which the second colour starts.
        pixel: the size of a pixel in product units, > 0.

    Returns:
        Shape of `s`, in [0, 1]; None for "plain", which has no second colour.

    Raises:
        KeyError: if the texture is unknown.
    """
    if texture == "plain":
        return None
    if texture == "colour-block":
        return _inside(np.float32(period) - t, pixel)
    return _PATTERNS[texture](s, t, period, pixel)


@dataclass(frozen=True)
class Material:
    """How a surface takes the light.

    Attributes:
        gloss: strength of the mirror-like highlight, 0 to 1.
        sharpness: exponent of the highlight; higher is smaller and harder.
        sheen: brightening at grazing angles, as on wool or velvet.
        grain: strength of the surface's own fine structure.
        weave: which fine structure: "fine", "knit", "twill", "wood", "pebble" or "none".
    """

    gloss: float = 0.0
    sharpness: float = 20.0
    sheen: float = 0.0
    grain: float = 0.05
    weave: str = "fine"


MATERIALS: Final = {
    "cotton": Material(grain=0.05),
    "linen": Material(grain=0.10, weave="linen"),
    "denim": Material(grain=0.14, weave="twill"),
    "wool": Material(sheen=0.25, grain=0.10, weave="pebble"),
    "knit": Material(sheen=0.15, grain=0.16, weave="knit"),
    "silk": Material(gloss=0.22, sharpness=9, sheen=0.1, grain=0.015),
    "leather": Material(gloss=0.22, sharpness=22, grain=0.07, weave="pebble"),
    "suede": Material(sheen=0.3, grain=0.09, weave="fine"),
    "canvas": Material(grain=0.10, weave="linen"),
    "velvet": Material(sheen=0.55, gloss=0.05, sharpness=6, grain=0.03),
    "felt": Material(sheen=0.2, grain=0.06),
    "straw": Material(gloss=0.05, grain=0.22, weave="linen"),
    "ceramic": Material(gloss=0.6, sharpness=60, grain=0.01, weave="none"),
    "stoneware": Material(gloss=0.16, sharpness=16, grain=0.08, weave="pebble"),
    "enamel": Material(gloss=0.45, sharpness=90, grain=0.0, weave="none"),
    "glass": Material(gloss=0.85, sharpness=90, grain=0.0, weave="none"),
    "rubber": Material(gloss=0.06, sharpness=12, grain=0.03),
    "metal": Material(gloss=0.8, sharpness=35, grain=0.0, weave="none"),
    "wood": Material(gloss=0.10, sharpness=18, grain=0.22, weave="wood"),
    "paper": Material(grain=0.05, weave="linen"),
    "plastic": Material(gloss=0.3, sharpness=30, grain=0.0, weave="none"),
}

_GRAIN_RNG = np.random.default_rng(20_240_601)
_NOISE: Final = _GRAIN_RNG.standard_normal((1024, 1024)).astype(np.float32)


def noise(height: int, width: int, row: int, column: int) -> Plane:
    """Cut a piece of a fixed field of white noise, shape (height, width), standard deviation 1."""
    rows = np.arange(row, row + height) % len(_NOISE)
    columns = np.arange(column, column + width) % len(_NOISE)
    return _NOISE[np.ix_(rows, columns)]


def _soft(field: Plane) -> Plane:
    """Average each value with its neighbours below and to the right."""
    return (field + np.roll(field, 1, 0) + np.roll(field, 1, 1)) * np.float32(0.58)


def grain(material: Material, s: Plane, t: Plane, pixel: float, *, start: tuple[int, int]) -> Plane:
    """Draw a material's fine structure as a factor around 1 for its colour.

    Args:
        material: which structure and how strong.
        s: across the surface, shape (height, width), in product units.
        t: down the surface, same shape.
        pixel: the size of a pixel in product units; structure too fine to be seen fades out.
        start: row and column at which the piece is cut from the noise field.

    Returns:
        Shape of `s`.
    """
    row, column = start
    height, width = s.shape
    field = noise(height, width, row, column)
    if material.weave == "knit":
        visible = min(1.0, 0.011 / pixel)
        stitch = np.abs(s / 0.034 - np.floor(s / 0.034) - 0.5)
        rows = t / 0.026 + stitch * 1.5
        field = 0.4 * field + visible * (3.2 * np.abs(rows - np.floor(rows) - 0.5) - 2.4 * stitch)
    elif material.weave == "twill":
        visible = min(1.0, 0.008 / pixel)
        line = (s + t) / 0.017
        field = 0.7 * field + visible * (2 * np.abs(line - np.floor(line) - 0.5) - 0.5)
    elif material.weave == "linen":
        field = 0.5 * field + 0.6 * (noise(height, 1, row, 3) + noise(1, width, 5, column))
    elif material.weave == "wood":
        ring = s * 9 + 0.8 * np.sin(t * 2.2 + s * 5) + 0.25 * np.sin(t * 9 + s * 31)
        field = 0.25 * field + 0.9 * np.sin(ring * 6.283) * np.sin(ring * 2.1 + 1)
    elif material.weave == "pebble":
        field = _soft(_soft(field))
    return np.asarray(1.0 + material.grain * 0.5 * field, dtype=np.float32)
