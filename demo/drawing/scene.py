"""Backgrounds, the shadow of the product on them, and the final grading of a picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from PIL import Image

from demo.drawing.colours import linear, to_bytes
from demo.drawing.light import Light
from demo.drawing.relief import blurred, resized
from demo.drawing.textures import Plane, noise

Picture = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def _even(size: int, hex_code: str) -> Picture:
    colour = np.array(linear(hex_code), dtype=np.float32)
    return np.broadcast_to(colour[:, None, None], (3, size, size)).copy()


def _grid(size: int) -> tuple[Plane, Plane]:
    """Picture coordinates in [0, 1]: across (1, size) and down (size, 1)."""
    line = ((np.arange(size) + 0.5) / size).astype(np.float32)
    return line[None, :], line[:, None]


def _clouds(size: int, cells: int, rng: np.random.Generator) -> Plane:
    knots = rng.standard_normal((cells + 2, cells + 2)).astype(np.float32)
    return resized(knots, size, size)


def _pool_of_light(size: int, light: Light, strength: float) -> Plane:
    """Fall-off of the key light over a surface: brighter on the side it comes from."""
    x, y = _grid(size)
    lx, ly, _ = light.direction
    return np.float32(1.0) + np.float32(strength) * (lx * (x - 0.5) + ly * (y - 0.5)) * 2


def _horizon(size: int, ground: float, softness: float) -> Plane:
    """0 on the wall, 1 on the floor, with the edge a little above where things stand."""
    _, y = _grid(size)
    edge = ground - 0.10
    ramp = np.clip((y - edge) / softness + 0.5, 0.0, 1.0)
    return np.asarray(np.broadcast_to(ramp, (size, size)), dtype=np.float32)


def _studio(size: int, ground: float | None, light: Light, rng: np.random.Generator) -> Picture:
    picture = _even(size, "#f4f4f3")
    picture *= _pool_of_light(size, light, 0.05)
    if ground is not None:
        picture *= 1.0 - 0.10 * _horizon(size, ground, 0.22)
    return picture


def _grey(size: int, ground: float | None, light: Light, rng: np.random.Generator) -> Picture:
    x, y = _grid(size)
    lx, ly, _ = light.direction
    away = (x - 0.5 - 0.12 * lx) ** 2 + (y - 0.45 - 0.12 * ly) ** 2
    tone = rng.choice(["#b9bcc0", "#a9adb3", "#c5c3bf"])
    picture = _even(size, str(tone)) * (1.15 - 1.1 * away)
    if ground is not None:
        picture *= 1.0 - 0.16 * _horizon(size, ground, 0.16)
    return np.asarray(picture, dtype=np.float32)


_WOODS: Final = ("#b58a5e", "#9c7049", "#c9a67c", "#7d5a3c", "#a99478")


def _planks(across: Plane, along: Plane, tone: str, pixel: Plane | float) -> Picture:
    """Boards that run along the second coordinate, one unit wide."""
    board = np.floor(across)
    seed = np.abs(np.sin(board * 12.99) * 43758.5)
    seed = (seed - np.floor(seed)).astype(np.float32)
    shifted = along + seed * 37.0
    warp = 0.35 * np.sin(shifted * 0.9 + board) + 0.12 * np.sin(shifted * 2.3 + across * 3)
    rings = (across - board - 0.5 + 0.3 * (seed - 0.5)) * 7 + warp
    figure = 0.6 * np.sin(rings * 3.1) + 0.4 * np.sin(rings * 8.3 + shifted * 0.4)
    light = (0.86 + 0.3 * (seed - 0.5)) * (1.0 + 0.10 * figure)
    gap = np.abs(across - np.floor(across + 0.5))
    joint = np.abs(shifted / 5.0 - np.floor(shifted / 5.0 + 0.5)) * 5.0
    dark = np.clip(gap / (0.012 + pixel), 0, 1) * np.clip(joint / (0.014 + pixel), 0, 1)
    light = light * (0.35 + 0.65 * dark)
    red, green, blue = linear(tone)
    return np.stack([red * light, green * light**1.1, blue * light**1.25]).astype(np.float32)


def _wood(size: int, ground: float | None, light: Light, rng: np.random.Generator) -> Picture:
    tone = str(rng.choice(_WOODS))
    x, y = _grid(size)
    offset, start = (float(v) for v in rng.uniform(0, 50, 2))
    pixel = 1.5 / size
    if ground is None:
        angle = float(rng.choice([0.0, 0.06, -0.1, 1.57]))
        cos, sin = math.cos(angle), math.sin(angle)
        u = (x - 0.5) * cos + (y - 0.5) * sin
        v = (y - 0.5) * cos - (x - 0.5) * sin
        across = np.asarray(u * 4.2 + offset, dtype=np.float32)
        along = np.asarray(v * 4.2 + start, dtype=np.float32)
        picture = _planks(across, along, tone, pixel * 4.2)
    else:
        picture = _room_with_floor(size, ground, tone, (offset, start), rng)
    streak = noise(size, size, int(offset * 9), int(start * 9))
    picture *= 1.0 + 0.025 * blurred(streak, 0.6)
    return picture * _pool_of_light(size, light, 0.16)


def _floor(size: int, edge: float, tone: str, start: tuple[float, float]) -> tuple[Picture, Plane]:
    """Boards that run away from the camera, and where they show."""
    x, y = _grid(size)
    depth = np.clip(y - edge + 0.10, 0.10, None)
    near = 0.38 / depth
    across = np.asarray((x - 0.5) * near * 4.5 + start[0], dtype=np.float32)
    along = np.asarray(near * 3.2 + start[1] + 0 * x, dtype=np.float32)
    shows = np.clip((y - edge) * size * 0.7, 0, 1) * np.ones((1, size), dtype=np.float32)
    return _planks(across, along, tone, near * 3.0 / size), shows


_WALLS: Final = ("#d9d4c8", "#c3cdc9", "#cbbfb4", "#b9c3cf", "#d8c9b6", "#a8b5a6")


def _window_light(size: int, light: Light, rng: np.random.Generator) -> Plane:
    """Daylight through a window, slanted across a wall."""
    x, y = _grid(size)
    side = 1.0 if light.direction[0] > 0 else -1.0
    lean = (x - 0.5) * side + (y - 0.5) * 0.75
    bar = np.abs(lean / 0.52 + rng.uniform(0, 1) - np.floor(lean / 0.52 + 0.5) - 0.5)
    beam = np.clip((bar % 1.0 - 0.06) * 14, 0, 1) * np.clip((0.42 - np.abs(lean)) * 12, 0, 1)
    return blurred(np.ascontiguousarray(beam, dtype=np.float32), size * 0.012)


def _room_with_floor(
    size: int, ground: float, tone: str, start: tuple[float, float], rng: np.random.Generator
) -> Picture:
    edge = max(0.3, ground - 0.14)
    wall = _even(size, str(rng.choice(_WALLS)))
    floor, shows = _floor(size, edge, tone, start)
    _, y = _grid(size)
    skirting = np.clip((y - edge + 0.045) * size, 0, 1) * np.clip((edge - y) * size, 0, 1)
    wall += skirting * (0.82 - wall) * 0.8
    wall *= 1.0 - 0.25 * np.clip(1 - (edge - y) / 0.25, 0, 1) ** 2
    return np.asarray(wall + shows * (floor - wall), dtype=np.float32)


def _wall(size: int, ground: float | None, light: Light, rng: np.random.Generator) -> Picture:
    if ground is None:
        picture = _even(size, str(rng.choice(_WALLS)))
        rough = blurred(noise(size, size, *(int(v) for v in rng.integers(0, 900, 2))), 1.2)
        picture *= 0.9 + 0.03 * rough
    else:
        tone = str(rng.choice(_WOODS))
        start = (float(rng.uniform(0, 50)), float(rng.uniform(0, 50)))
        picture = _room_with_floor(size, ground, tone, start, rng)
    picture *= 0.86 + 0.26 * _window_light(size, light, rng)
    return picture * _pool_of_light(size, light, 0.15)


def _linen(size: int, ground: float | None, light: Light, rng: np.random.Generator) -> Picture:
    picture = _even(size, str(rng.choice(["#e6e0d4", "#d5d9d8", "#e2d5cc"])))
    height = 0.5 * _clouds(size, 4, rng) + 0.22 * _clouds(size, 9, rng)
    slope_y, slope_x = np.gradient(height * np.float32(size * 0.05))
    lx, ly, _ = light.direction
    picture *= np.clip(0.94 - 0.32 * (slope_x * lx + slope_y * ly), 0.5, 1.2)
    row, column = (int(v) for v in rng.integers(0, 900, 2))
    weave = noise(size, 1, row, 0) + noise(1, size, 0, column) + 0.7 * noise(size, size, 7, 9)
    picture *= 1.0 + 0.03 * weave
    if ground is not None:
        picture *= 1.0 - 0.12 * _horizon(size, ground, 0.1)
    return picture


_SCENERY: Final = (
    ("#5d7a3c", "#9fb76a", "#e9e3b0"),
    ("#3f5f5a", "#7fa39a", "#dfe9dd"),
    ("#8a6a44", "#c99a5a", "#f3dba6"),
    ("#4a5d7a", "#93a9bf", "#f0d9c4"),
)


def _bokeh(size: int, ground: float | None, light: Light, rng: np.random.Generator) -> Picture:
    """A garden out of focus: soft colours and discs of light."""
    dark, middle, bright = _SCENERY[int(rng.integers(len(_SCENERY)))]
    x, y = _grid(size)
    mix = np.clip(0.45 + 0.28 * _clouds(size, 3, rng) + 0.12 * _clouds(size, 6, rng), 0, 1)
    picture = _even(size, dark) + mix * (_even(size, middle) - _even(size, dark))
    glow = np.array(linear(bright), dtype=np.float32)[:, None, None]
    for _ in range(16):
        cx, cy = float(rng.uniform(0, 1)), float(rng.uniform(0, 0.8))
        radius, strength = float(rng.uniform(0.025, 0.085)), float(rng.uniform(0.12, 0.5))
        reach = radius + 4 / size
        rows = slice(max(0, int((cy - reach) * size)), int((cy + reach) * size) + 1)
        columns = slice(max(0, int((cx - reach) * size)), int((cx + reach) * size) + 1)
        away = np.hypot(x[:, columns] - cx, y[rows] - cy)
        disc = np.clip((radius - away) * size * 0.18 + 0.5, 0, 1) * (0.75 + 0.25 * away / radius)
        picture[:, rows, columns] += strength * disc * (glow - picture[:, rows, columns])
    if ground is not None:
        start = (float(rng.uniform(0, 50)), float(rng.uniform(0, 50)))
        floor, shows = _floor(size, max(0.4, ground - 0.10), str(rng.choice(_WOODS)), start)
        picture += shows * (floor - picture)
    return np.asarray(picture, dtype=np.float32)


_BACKDROPS: Final[dict[str, Callable[[int, float | None, Light, np.random.Generator], Picture]]] = {
    "studio white": _studio,
    "grey gradient": _grey,
    "wooden floor": _wood,
    "room wall": _wall,
    "linen": _linen,
    "outdoors": _bokeh,
}
BACKGROUNDS: Final = tuple(_BACKDROPS)


def backdrop(
    name: str, size: int, ground: float | None, light: Light, rng: np.random.Generator
) -> Picture:
    """Draw a background.

    Args:
        name: one of `BACKGROUNDS`.
        size: side of the picture in pixels.
        ground: height at which the product stands, as a share of the picture from the top;
            None for a product that lies flat or hangs.
        light: the light of the picture.
        rng: for tones, boards and leaves.

    Returns:
        Linear light, shape (3, size, size).
    """
    return np.ascontiguousarray(_BACKDROPS[name](size, ground, light, rng), dtype=np.float32)


def shadow(cover: Plane, ground: float | None, light: Light, unit: float) -> Plane:
    """How much light the product keeps from the background.

    Args:
        cover: opacity of the product, shape (size, size).
        ground: as for `backdrop`; with it the shadow lies on the floor, else on what is behind.
        light: the light of the picture.
        unit: pixels per product unit.

    Returns:
        Factor for the background, shape (size, size), 1 where no shadow falls.
    """
    lx, ly, _ = light.direction
    blur = unit * (0.10 - 0.06 * light.hardness)
    if ground is None:
        far = _moved(blurred(cover, blur), -lx * unit * 0.12, -ly * unit * 0.12)
        near = _moved(blurred(cover, unit * 0.02), -lx * unit * 0.02, -ly * unit * 0.02)
        dark = 1.0 - (0.34 + 0.2 * light.hardness) * far
        return np.asarray(dark * (1.0 - 0.35 * near), dtype=np.float32)
    size = cover.shape[0]
    line = ground * size
    lean = -lx * 1.1
    squash = 0.30
    # Image.transform asks, for each pixel of the shadow, where it lies in the product.
    terms = (1.0, lean / squash, -lean / squash * line, 0.0, 1 / squash, line - line / squash)
    lying = Image.fromarray(cover).transform(
        (size, size), Image.Transform.AFFINE, terms, Image.Resampling.BILINEAR
    )
    flat = np.asarray(lying, dtype=np.float32)
    far = _moved(blurred(flat, blur), 0, unit * 0.02)
    _, y = _grid(size)
    foot = cover * np.clip((y - ground) * size / (0.05 * unit) + 1.0, 0.0, 1.0)
    touch = _moved(
        blurred(np.ascontiguousarray(foot), unit * 0.022), -lx * unit * 0.01, unit * 0.02
    )
    dark = 1.0 - (0.40 + 0.15 * light.hardness) * far
    return np.asarray(dark * (1.0 - 0.75 * touch), dtype=np.float32)


def _moved(plane: Plane, dx: float, dy: float) -> Plane:
    """Shift a plane by whole pixels, its border repeated."""
    size = plane.shape[0]
    rows = np.clip(np.arange(size) - round(dy), 0, size - 1)
    columns = np.clip(np.arange(size) - round(dx), 0, size - 1)
    return plane[np.ix_(rows, columns)]


def finished(picture: Picture, size: int, rng: np.random.Generator) -> Image.Image:
    """Grade linear light into an sRGB picture of the wanted size: vignette and film grain."""
    x, y = _grid(picture.shape[1])
    vignette = 1.0 - 0.22 * ((x - 0.5) ** 2 + (y - 0.5) ** 2)
    light = np.asarray(picture * vignette, dtype=np.float32)
    pixels = np.ascontiguousarray(np.moveaxis(to_bytes(light), 0, -1))
    small = Image.fromarray(pixels).resize((size, size), Image.Resampling.LANCZOS)
    row, column = (int(v) for v in rng.integers(0, 1024, 2))
    film = noise(size, size, row, column)[..., None] * np.float32(1.1)
    grained = np.asarray(small, dtype=np.float32) + film
    return Image.fromarray(np.clip(np.rint(grained), 0, 255).astype(np.uint8))
