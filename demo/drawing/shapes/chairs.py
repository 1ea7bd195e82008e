"""Chairs, built in space and turned before the camera."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Groove, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import button
from demo.drawing.shapes.outlines import Points, hull, ribbon, smooth
from demo.drawing.shapes.round import Space

FLOOR = 0.86
SEAT = 0.12  # y of the seat's upper face


def _ring(w: float, d: float, corner: float) -> Points:
    """A level rounded rectangle (x, z), half width w and half depth d."""
    a = np.radians(np.arange(0, 360, 7.5))
    power = 2.0 / (2.0 + 6.0 * (1 - corner))
    x = np.sign(np.cos(a)) * np.abs(np.cos(a)) ** power * w
    z = np.sign(np.sin(a)) * np.abs(np.sin(a)) ** power * d
    return np.stack([x, z], axis=1)


def _level(ring: Points, y: float) -> Points:
    """Put a ring (x, z) at a height."""
    return np.stack([ring[:, 0], np.full(len(ring), y), ring[:, 1]], axis=1)


def _legs(b: Build, space: Space, w: float, d: float) -> list[Part]:
    """Four legs, the far ones first, and the bars between them."""
    metal = b.product.detail == "metal legs"
    wood = b.of("wood", ("#a8784a", "#77502f", "#caa478", "#4d3526")[b.pick("wood", 4)])
    paint = b.of("metal", "#3a3d40" if b.pick("steel", 2) else "#b4b7ba") if metal else wood
    splay = 0.05 + b.vary("splay", 0.03)
    feet = []
    for sx, sz in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        head = (sx * w * 0.8, SEAT + 0.05, sz * d * 0.8)
        foot = (sx * (w * 0.8 + splay), FLOOR, sz * (d * 0.8 + splay))
        feet.append((head, foot))
    flat = [space.projected(np.array(pair)) for pair in feet]
    order = np.argsort([line[1, 1] for line in flat])
    top, end = (0.034, 0.03) if metal else (0.068, 0.04)
    return [
        Part(ribbon(flat[i], top, end), paint, thin(0.016), angle=85.0, lift=0.01) for i in order
    ]


def _seat(b: Build, space: Space, ring: Points, thick: float) -> list[Part]:
    """A level slab: its sides, then its upper face."""
    upper, lower = space.projected(_level(ring, SEAT)), space.projected(_level(ring, SEAT + thick))
    middle = upper.mean(axis=0)
    return [
        Part(hull(np.vstack([upper, lower])), b.inside, thin(0.025), lift=0.03, shade=0.86),
        Part(
            upper,
            b.main,
            Relief(edge=0.035, bulge=0.07, spread=0.09, wrinkles=0.002),
            lift=0.0,
            origin=(float(middle[0]), float(middle[1])),
        ),
    ]


def _back_outline(b: Build, w: float) -> Points:
    """The backrest's outline (x, y), seen from the front."""
    top = -0.78 + b.vary("back", 0.06)
    low = SEAT - 0.03
    if b.product.cut == "round back":
        half = [
            (w * 0.62, low),
            (w * 0.98, low - 0.2),
            (w * 1.0, (top + low) / 2 - 0.05),
            (w * 0.7, top + 0.08),
        ]
        right = smooth([*half, (0.0, top)])
    elif b.product.cut == "wing back":
        right = smooth([
            (w * 1.0, low), (w * 1.06, low - 0.3), (w * 1.02, top + 0.25),
            (w * 0.86, top + 0.04), (w * 0.5, top), (0.0, top + 0.015),
        ])  # fmt: skip
    else:
        right = smooth([
            (w * 0.9, low), (w * 0.92, low - 0.3), (w * 0.92, top + 0.12),
            (w * 0.84, top + 0.02), (w * 0.6, top), (0.0, top - 0.005),
        ])  # fmt: skip
    return np.vstack([right, (right * (-1, 1))[::-1][1:]])


def _standing(outline: Points, depth: float, lean: float, curve: float, w: float) -> Points:
    """Stand a backrest up in space: leaning back, and curved around the sitter."""
    x, y = outline[:, 0], outline[:, 1]
    z = depth - lean * (SEAT - y) + curve * (x / w) ** 2
    return np.stack([x, y, z], axis=1)


def _back(b: Build, space: Space, w: float, d: float) -> list[Part]:
    outline = _back_outline(b, w)
    curve = {"round back": 0.12, "wing back": 0.2}.get(b.product.cut, 0.03)
    front = space.projected(_standing(outline, -d + 0.03, 0.12, curve, w))
    rear = space.projected(_standing(outline, -d - 0.05, 0.12, curve, w))
    centre = front.mean(axis=0)
    lines = []
    if b.product.detail == "channelled":
        for share in np.linspace(-0.72, 0.72, 6):
            column = np.array([(share * w, SEAT - 0.05), (share * w, -0.7 + 0.12 * abs(share))])
            lines.append(space.projected(_standing(column, -d + 0.03, 0.12, curve, w)))
    shell = Part(hull(np.vstack([front, rear])), b.inside, thin(0.03), lift=0.03, shade=0.8)
    face = Part(
        front,
        b.main,
        Relief(edge=0.045, bulge=0.09, spread=0.09, wrinkles=0.003),
        lift=0.0,
        grooves=(Groove(tuple(lines), width=0.03, depth=0.03),) if lines else (),
        origin=(float(centre[0]), float(centre[1])),
    )
    parts = [shell, face]
    if b.product.detail == "buttoned":
        for x, y in ((-0.45, -0.5), (0.45, -0.5), (0.0, -0.5), (-0.24, -0.26), (0.24, -0.26)):
            at = space.projected(_standing(np.array([[x * w, y]]), -d + 0.04, 0.12, curve, w))[0]
            parts += button(b, float(at[0]), float(at[1]), 0.026, replace(b.main.plain()))
    return parts


def _arms(b: Build, space: Space, w: float, d: float) -> list[Part]:
    """Armrests: a rail on each side, from the back to a post in front."""
    paint = b.of("wood", ("#a8784a", "#77502f", "#caa478", "#4d3526")[b.pick("wood", 4)])
    if b.product.cut == "wing back":
        paint = b.main
    parts = []
    for side in (-1, 1):
        x = side * (w + 0.02)
        rail = smooth_space([(x * 0.96, -0.2, -d), (x * 1.02, -0.17, 0.0), (x, -0.15, d * 0.72)])
        post = np.array([(x, -0.15, d * 0.66), (x * 0.97, SEAT + 0.06, d * 0.7)])
        thick = 0.11 if b.product.cut == "wing back" else 0.05
        parts += [
            Part(ribbon(space.projected(post), thick * 0.8), paint, thin(0.02), angle=88.0),
            Part(ribbon(space.projected(rail), thick), paint, thin(0.022)),
        ]
    return parts


def smooth_space(points: list[tuple[float, float, float]]) -> Points:
    """A smooth curve through points in space."""
    xyz = np.array(points)
    flat = smooth(xyz[:, :2])
    depth = smooth(np.column_stack([xyz[:, 2], xyz[:, 1]]))
    return np.column_stack([flat, depth[:, 0]])


def chair(b: Build) -> Built:
    """A chair, turned a little aside."""
    space = Space(turn=16 + b.posture.turn * 0.8, tilt=0.2 + b.posture.tilt * 0.5)
    w, d = 0.40 + b.vary("width", 0.04), 0.36 + b.vary("depth", 0.03)
    ring = _ring(w, d, 1.0 if b.product.cut == "round back" else 0.35)
    thick = 0.17 if b.product.cut == "wing back" else 0.08
    seat = _seat(b, space, ring, thick)
    parts = [*_legs(b, space, w, d), *_back(b, space, w, d), *seat]
    if b.product.detail == "armrests":
        parts += _arms(b, space, w, d)
    feet = FLOOR * float(np.sqrt(1 - space.tilt**2)) + 0.06
    return Built(tuple(parts), focus=((0.0, -0.4), (0.1, 0.1), (-0.1, -0.2)), ground=feet)
