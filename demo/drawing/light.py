"""Lights, and how a surface answers them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from demo.drawing.colours import RGB
from demo.drawing.parts import Part
from demo.drawing.textures import Plane

Shaded = tuple[Plane, Plane, Plane]


@dataclass(frozen=True)
class Light:
    """One key light and the light of the room.

    Attributes:
        direction: towards the light, in the picture: x right, y down, z to the viewer; unit.
        key: colour and strength of the key light.
        room: colour and strength of the light from everywhere.
        hardness: 0 for a big soft source, 1 for a bare bulb; sets how sharp shadows are.
    """

    direction: tuple[float, float, float]
    key: RGB
    room: RGB
    hardness: float


def _light(towards: tuple[float, float, float], key: RGB, room: RGB, hardness: float) -> Light:
    length = math.hypot(*towards)
    x, y, z = towards
    return Light((x / length, y / length, z / length), key, room, hardness)


_NEUTRAL, _WARM, _COOL = (0.80, 0.80, 0.80), (0.92, 0.80, 0.65), (0.74, 0.80, 0.90)
_DIM, _DIM_WARM, _DIM_COOL = (0.36, 0.36, 0.37), (0.36, 0.34, 0.33), (0.33, 0.36, 0.40)

LIGHTS: Final[dict[str, Light]] = {
    "soft left": _light((-0.62, -0.55, 0.9), _NEUTRAL, _DIM, 0.25),
    "soft right": _light((0.62, -0.55, 0.9), _NEUTRAL, _DIM, 0.25),
    "soft top": _light((0.08, -0.85, 0.9), _NEUTRAL, _DIM, 0.3),
    "warm left": _light((-0.85, -0.45, 0.8), _WARM, _DIM_WARM, 0.6),
    "warm right": _light((0.85, -0.45, 0.8), _WARM, _DIM_WARM, 0.6),
    "cool window": _light((-0.8, -0.5, 0.85), _COOL, _DIM_COOL, 0.4),
}


def shaded(light: Light, part: Part, slope_x: Plane, slope_y: Plane, albedo: Shaded) -> Shaded:
    """Light the surface of a part.

    Diffuse light wraps a little around the body, as it does on cloth; gloss is Blinn's
    highlight; sheen brightens grazing angles.

    Args:
        light: the light of the picture.
        part: whose material answers, and whose shade dims all light that reaches it.
        slope_x: rise of the surface per step to the right, shape (height, width).
        slope_y: rise per step downwards, same shape.
        albedo: its own colour, three planes of that shape.

    Returns:
        Three planes of reflected light.
    """
    material = part.paint.material
    nz = 1.0 / np.sqrt(1.0 + slope_x**2 + slope_y**2)
    lx, ly, lz = light.direction
    facing = (lz - slope_x * lx - slope_y * ly) * nz
    wrap = 0.25
    diffuse = np.clip((facing + wrap) / (1.0 + wrap), 0.0, None)
    sky = 0.80 + 0.20 * (nz + slope_y * nz * 0.8)
    rim = material.sheen * (1.0 - nz) ** 2 if material.sheen else None
    spark = None
    if material.gloss:
        half = np.sqrt(2.0 + 2.0 * lz)
        mirror = np.clip((lz + 1.0 - slope_x * lx - slope_y * ly) * nz / half, 0.0, 1.0)
        spark = material.gloss * mirror**material.sharpness
        spark -= material.gloss * ((1.0 + lz) / half) ** material.sharpness * 0.8
        spark = np.maximum(spark, 0.0)
    out = []
    for own, key, room in zip(albedo, light.key, light.room, strict=True):
        plane = own * (np.float32(room) * sky + np.float32(key) * diffuse)
        if rim is not None:
            plane += (0.15 + own) * rim * np.float32(key)
        if spark is not None:
            plane += spark * np.float32(key)
        out.append((plane * np.float32(part.shade)).astype(np.float32))
    return out[0], out[1], out[2]
