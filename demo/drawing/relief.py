"""Heights of surfaces: rounded rims, bulges, folds and wrinkles."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from demo.drawing.parts import Crease, Drape, Relief, Turned
from demo.drawing.textures import Plane


def resized(plane: Plane, height: int, width: int) -> Plane:
    """Scale a plane smoothly to another shape."""
    picture = Image.fromarray(plane).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(picture, dtype=np.float32)


def blurred(plane: Plane, sigma: float) -> Plane:
    """Smooth a plane with a Gaussian, its border repeated outwards.

    Wide blurs work on a reduced copy, which nobody can tell apart.

    Args:
        plane: shape (height, width).
        sigma: in pixels; below 0.3 the plane comes back as it is.
    """
    if sigma < 0.3:
        return plane
    height, width = plane.shape
    factor = min(max(1, int(sigma / 2)), max(1, min(height, width) // 4))
    small = plane
    if factor > 1:
        small = np.asarray(Image.fromarray(plane).reduce(factor), dtype=np.float32)
    radius = max(1, int(np.ceil(2.6 * sigma / factor)))
    kernel = np.exp(-0.5 * (np.arange(-radius, radius + 1) * factor / sigma) ** 2)
    kernel = (kernel / kernel.sum()).astype(np.float32)
    for axis in (0, 1):
        pad = [(radius, radius) if a == axis else (0, 0) for a in (0, 1)]
        padded = np.pad(small, pad, mode="edge")
        length = small.shape[axis]
        total = np.zeros_like(small)
        for i, weight in enumerate(kernel):
            piece = padded[i : i + length] if axis == 0 else padded[:, i : i + length]
            total += weight * piece
        small = total
    if factor == 1:
        return small
    # The last reduced pixel may stand for fewer than `factor` pixels: leave out what is missing.
    picture = Image.fromarray(small).resize(
        (width, height), Image.Resampling.BICUBIC, box=(0, 0, width / factor, height / factor)
    )
    return np.asarray(picture, dtype=np.float32)


def _dome(share: Plane) -> Plane:
    """Round a ramp from 0 to 1 into a quarter circle."""
    return np.asarray(np.sqrt(np.clip(1.0 - (1.0 - share) ** 2, 0.0, 1.0)), dtype=np.float32)


def _swollen(mask: Plane, relief: Relief, per_unit: float) -> Plane:
    height = np.zeros_like(mask)
    if relief.edge:
        ramp = np.clip(2.0 * blurred(mask, relief.edge * per_unit) - 1.0, 0.0, 1.0)
        height += np.float32(relief.edge) * _dome(ramp)
    if relief.bulge:
        # From half cover at the rim to full cover inside, with no step anywhere.
        ramp = np.clip(blurred(mask, relief.spread * per_unit), 0.0, 1.0)
        height += np.float32(relief.bulge) * ramp * ramp * (3.0 - 2.0 * ramp)
    return height


def lathe(turned: Turned, x: Plane, y: Plane) -> tuple[Plane, Plane, Plane]:
    """Unroll a body of revolution.

    Returns:
        Its height above the axis' plane, the distance around it (s) and the height on it at
        which each point lies (t), each of the shape of `x`.
    """
    half = np.interp(y, turned.y, turned.half_width).astype(np.float32)
    rough = half * np.sqrt(np.clip(1.0 - (x / np.maximum(half, 1e-3)) ** 2, 0, 1))
    level = y - np.float32(turned.tilt) * rough
    half = np.interp(level, turned.y, turned.half_width).astype(np.float32)
    across = np.clip(x / np.maximum(half, 1e-3), -0.995, 0.995)
    height = half * np.sqrt(1.0 - across**2)
    around = half * np.arcsin(across)
    return height, around, y - np.float32(turned.tilt) * height


def _creased(crease: Crease, x: Plane, y: Plane) -> Plane:
    (x0, y0), (x1, y1) = crease.start, crease.stop
    length = max(math.hypot(x1 - x0, y1 - y0), 1e-6)
    ux, uy = np.float32((x1 - x0) / length), np.float32((y1 - y0) / length)
    from_x, from_y = x - np.float32(x0), y - np.float32(y0)
    along = (from_x * ux + from_y * uy) / np.float32(length)
    bend = np.float32(0.12 * length) * np.sin(np.float32(np.pi) * along)
    aside = from_y * ux - from_x * uy + bend
    inverse = np.where(aside > 0, np.float32(1 / crease.width), np.float32(1 / crease.width / 2.2))
    fade = np.clip(along * 5, 0, 1) * np.clip((1 - along) * np.float32(1.6), 0, 1)
    ridge = np.float32(crease.height) * fade * np.exp(-((aside * inverse) ** 2))
    return np.asarray(ridge, dtype=np.float32)


def _draped(drape: Drape, x: Plane, y: Plane) -> Plane:
    angle = np.arctan2(x - np.float32(drape.apex[0]), y - np.float32(drape.apex[1]))
    count, phase = float(drape.count), float(drape.phase)
    sway = 0.5 * np.sin(angle * (count * 0.37) + phase * 2.3)
    wave = angle * count + phase + sway
    round_fold = 0.5 + 0.5 * np.cos(wave + 0.45 * np.sin(wave))
    pleat = wave / (2 * np.pi)
    pressed = pleat - np.floor(pleat)
    fold = (1 - drape.sharp) * round_fold + drape.sharp * pressed
    opened = np.clip(
        (y - np.float32(drape.top)) / np.float32(max(drape.bottom - drape.top, 1e-6)), 0, 1
    )
    return np.asarray(drape.height * opened**0.8 * fold, dtype=np.float32)


def _wrinkled(relief: Relief, x: Plane, y: Plane, rng: np.random.Generator) -> Plane:
    rows = int(np.clip(np.ptp(y) / relief.grid[1], 2, 40)) + 2
    columns = int(np.clip(np.ptp(x) / relief.grid[0], 2, 40)) + 2
    knots = rng.standard_normal((rows, columns)).astype(np.float32)
    return np.float32(relief.wrinkles) * resized(knots, *x.shape)


def folds(relief: Relief, x: Plane, y: Plane, rng: np.random.Generator) -> Plane | None:
    """Add up the creases, hanging folds and wrinkles of a surface, or None if it has none."""
    if not (relief.creases or relief.drape or relief.wrinkles):
        return None
    coarse_x, coarse_y = np.ascontiguousarray(x[::2, ::2]), np.ascontiguousarray(y[::2, ::2])
    height = np.zeros_like(coarse_x)
    for crease in relief.creases:
        height += _creased(crease, coarse_x, coarse_y)
    if relief.drape:
        height += _draped(relief.drape, coarse_x, coarse_y)
    if relief.wrinkles:
        height += _wrinkled(relief, coarse_x, coarse_y, rng)
    return resized(height, *x.shape)


def surface(
    relief: Relief, mask: Plane, x: Plane, y: Plane, *, per_unit: float, rng: np.random.Generator
) -> Plane:
    """Height of a surface over the picture plane.

    Args:
        relief: what it is made of.
        mask: coverage in [0, 1], shape (height, width).
        x: product coordinate of each pixel, same shape.
        y: likewise.
        per_unit: pixels per product unit.
        rng: for the wrinkles, new in each picture.

    Returns:
        Same shape, in product units.
    """
    if relief.turned:
        height = lathe(relief.turned, x, y)[0]
    else:
        height = _swollen(mask, relief, per_unit)
    extra = folds(relief, x, y, rng)
    return height if extra is None else height + extra
