"""Vases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Paint, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.outlines import Points, ellipse, outline, ribbon, smooth
from demo.drawing.shapes.round import lathed, mouth, profile


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
