"""Mugs and vases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Paint, Part, Relief, thin
from demo.drawing.product import WHITE, Build, Built
from demo.drawing.shapes.outlines import Points, ellipse, outline, ribbon, smooth
from demo.drawing.shapes.round import Space, lathed, mouth, profile


def _mug_profile(b: Build) -> Points:
    wide = 0.43 + b.vary("width", 0.04)
    top = -0.48 + b.vary("height", 0.09)
    foot = 0.52
    if b.product.cut == "tapered":
        return profile(
            (wide * 1.06, top), (wide * 0.97, -0.1), (wide * 0.84, 0.3), (wide * 0.72, foot)
        )
    if b.product.cut == "round":
        return profile(
            (wide * 0.84, top), (wide * 0.93, -0.25), (wide * 1.08, 0.08), (wide * 1.0, 0.36),
            (wide * 0.68, foot),
        )  # fmt: skip
    return profile(
        (wide, top), (wide, -0.1), (wide, 0.25), (wide * 0.985, foot - 0.07), (wide * 0.9, foot)
    )


def _handle(b: Build, shape: Points, space: Space) -> tuple[Part, bool]:
    """A mug's handle, and whether it is on the side of the viewer."""
    turn = 14 - space.turn * 1.5 + b.posture.spread * 12
    y0, y1 = float(shape[0, 1]) + 0.16, 0.30
    wall = float(np.interp(0.5 * (y0 + y1), shape[:, 1], shape[:, 0])) - 0.02
    reach = 0.30 + b.vary("handle", 0.04)
    if b.product.detail == "square handle":
        path = [
            (0, y0),
            (reach * 0.75, y0 - 0.01),
            (reach * 0.95, y0 + 0.04),
            (reach * 0.95, y1 - 0.06),
            (reach * 0.75, y1),
            (0, y1),
        ]
    else:
        path = [
            (0, y0),
            (reach * 0.55, y0 - 0.07),
            (reach, y0 + 0.10),
            (reach * 0.9, y1 - 0.22),
            (reach * 0.5, y1 - 0.04),
            (0, y1 + 0.03),
        ]
    radii = [
        float(np.interp(y, shape[:, 1], shape[:, 0])) - 0.02 if x == 0 else wall + x
        for x, y in path
    ]
    line = smooth([(r, y) for r, (_, y) in zip(radii, path, strict=True)])
    a = np.radians(turn)
    points = np.column_stack([line[:, 0] * np.cos(a), line[:, 1], line[:, 0] * np.sin(a)])
    level = float(np.sqrt(1 - space.tilt**2))
    flat = np.stack([points[:, 0], points[:, 1] * 1.0 + points[:, 2] * space.tilt * level], axis=1)
    paint = b.trim if b.product.trim == "contrast" else b.plain
    thick = 0.085 + b.vary("thick", 0.015)
    part = Part(ribbon(flat, thick), paint, thin(thick * 0.42), lift=0.02)
    return part, turn > 20


def mug(b: Build) -> Built:
    """A mug with its handle to the right."""
    tilt = 0.14 + b.posture.tilt * 0.55
    shape = _mug_profile(b)
    handle, in_front = _handle(b, shape, Space(b.posture.turn, tilt))
    body = lathed(shape, b.main, tilt=tilt)
    detail, half, top = b.product.detail, float(shape[0, 0]), float(shape[0, 1])
    inside = b.contrast if b.product.trim == "contrast" else b.of("ceramic", WHITE)
    rim = b.contrast if detail == "contrast rim" else b.plain
    parts = [body] if in_front else [handle, body]
    if detail == "contrast rim":
        parts.append(lathed(_slice(shape, top, top + 0.06), b.contrast, tilt=tilt, lift=0))
    if detail == "bare foot":
        clay = Paint(
            colour=b.of("stoneware", "#c79a72").colour, material=b.of("stoneware", WHITE).material
        )
        parts.append(lathed(_slice(shape, 0.34, 0.52), clay, tilt=tilt, lift=0))
    parts += mouth(half, top, tilt, rim, inside)
    if b.pick("coffee", 3) == 0:
        level = ellipse(0, top + half * tilt * 0.42, (half - 0.045), (half - 0.045) * tilt * 0.62)
        parts.append(Part(level, b.of("enamel", "#3b2416"), thin(0.0), lift=0.0))
    if in_front:
        parts.append(handle)
    return Built(tuple(parts), focus=((0.1, -0.2), (0.25, 0.1), (0.0, 0.15)), ground=0.52)


def _slice(shape: Points, top: float, bottom: float) -> Points:
    """The part of a profile between two heights, a hair wider than the body it lies on."""
    ys = np.linspace(top, bottom, 14)
    return np.stack([np.interp(ys, shape[:, 1], shape[:, 0]) + 0.003, ys], axis=1)


def _vase_profile(b: Build) -> Points:
    w, lip = 0.36 + b.vary("width", 0.05), 0.13 + b.vary("lip", 0.03)
    top = -0.5 + b.vary("height", 0.1)
    if b.product.cut == "bottle":
        return profile(
            (lip, top), (lip * 0.72, top + 0.14), (lip * 0.85, -0.12), (w * 0.8, 0.16),
            (w, 0.42), (w * 0.9, 0.64), (w * 0.58, 0.78),
        )  # fmt: skip
    if b.product.cut == "urn":
        return profile(
            (lip * 1.5, top), (lip * 1.2, top + 0.1), (w * 0.98, top + 0.36),
            (w * 1.12, -0.02 + 0.1), (w * 0.85, 0.48), (w * 0.5, 0.74), (w * 0.52, 0.78),
        )  # fmt: skip
    return profile(
        (w * 0.66, top), (w * 0.68, -0.2), (w * 0.72, 0.2), (w * 0.74, 0.6), (w * 0.66, 0.78)
    )


def _branch(b: Build, lip: float, top: float) -> list[Part]:
    """Stems with leaves that stand in a vase."""
    rng = np.random.default_rng(b.product.family)
    leaf_paint = b.of("cotton", ("#6f8a5a", "#b08a4e", "#8c5a4a", "#4f7160")[b.pick("leaf", 4)])
    stem_paint = b.of("wood", "#6b553b")
    parts = []
    for i in range(3):
        lean = (i - 1) * 0.24 + rng.uniform(-0.07, 0.07) + 0.05 * b.posture.sway
        height = rng.uniform(0.22, 0.3)
        stem = smooth([
            (lip * 0.4 * (i - 1), top + 0.05), (lean * 0.5, top - height * 0.5),
            (lean * 1.2, top - height),
        ])  # fmt: skip
        parts.append(Part(ribbon(stem, 0.016, 0.008), stem_paint, thin(0.005), lift=0.004))
        for j, at in enumerate(np.linspace(6, len(stem) - 1, 6)):
            x, y = stem[int(at)]
            side = (-1) ** j
            tip = (x + side * 0.11 + lean * 0.2, y - 0.075)
            blade = outline(
                (x, y, "c"), (x + side * 0.035, y - 0.068), (*tip, "c"),
                (x + side * 0.08, y - 0.008),
            )  # fmt: skip
            vein = np.array([(x, y), tip])
            parts.append(
                Part(
                    blade,
                    leaf_paint,
                    Relief(edge=0.012, bulge=0.02, spread=0.03),
                    lift=0.006,
                    angle=float(np.degrees(np.arctan2(vein[1, 1] - y, vein[1, 0] - x))),
                )
            )
    return parts


def vase(b: Build) -> Built:
    """A vase, empty or with a branch in it."""
    tilt = 0.09 + b.posture.tilt * 0.5
    shape = _vase_profile(b)
    lip, top = float(shape[0, 0]), float(shape[0, 1])
    detail = b.product.detail
    rings = tuple(np.linspace(top + 0.12, 0.66, 13)) if detail == "ribbed" else ()
    body = lathed(shape, b.main, tilt=tilt, rings=rings, ring=0.012)
    inside = replace(b.plain, colour=b.inside.colour)
    opening = mouth(lip, top, tilt, b.trim, inside, wall=0.022)
    parts = []
    if detail == "handles":
        for side in (-1, 1):
            y = top + 0.1
            wall = [float(np.interp(at, shape[:, 1], shape[:, 0])) for at in (y, 0.12)]
            line = smooth([
                (side * (wall[0] - 0.01), y), (side * (wall[0] + 0.16), y - 0.01),
                (side * (max(wall) + 0.07), y + 0.2), (side * (wall[1] - 0.02), 0.12),
            ])  # fmt: skip
            parts.append(Part(ribbon(line, 0.055), b.trim, thin(0.024)))
    parts += [body, *opening]
    if detail == "branch":
        parts += [*_branch(b, lip, top), _front_lip(lip, top, tilt, b.trim)]
    return Built(tuple(parts), focus=((0.0, -0.1), (0.1, 0.3), (0.0, -0.3)), ground=0.78)


def _front_lip(lip: float, top: float, tilt: float, paint: Paint) -> Part:
    """The near edge of the mouth, in front of what stands in it."""
    front = ellipse(0, top, lip - 0.008, (lip - 0.008) * tilt)
    line = front[(front[:, 1] >= top - 1e-9)]
    return Part(ribbon(line, 0.02), paint, thin(0.008), lift=0.0)
