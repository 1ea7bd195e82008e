"""Table lamps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Paint, Part, thin
from demo.drawing.product import WHITE, Build, Built
from demo.drawing.shapes.outlines import Points, ellipse, ribbon, smooth
from demo.drawing.shapes.round import Space, lathed, profile

GROUND = 0.84


def _shade_profile(b: Build) -> Points:
    low = 0.46 + b.vary("shade", 0.05)
    top, bottom = -0.82, -0.22 + b.vary("drop", 0.05)
    if b.product.cut == "cone":
        return np.linspace([low * 0.42, top], [low * 1.05, bottom], 12)
    if b.product.cut == "dome":
        return profile(
            (low * 0.3, top), (low * 0.72, top + 0.1), (low * 0.95, top + 0.28), (low, bottom)
        )
    return np.linspace([low * 0.86, top], [low * 0.9, bottom], 12)


def _tripod(b: Build, top: float, tilt: float) -> list[Part]:
    wood = b.of("wood", ("#a8784a", "#7a5233", "#c8a274")[b.pick("wood", 3)])
    space = Space(b.posture.turn + 20, tilt)
    parts = []
    for angle in (210, 330, 90):
        a = np.radians(angle)
        ends = np.array([[0, top, 0], [0.36 * np.cos(a), GROUND - 0.02, 0.36 * np.sin(a)]])
        ends[:, 1] /= np.sqrt(1 - tilt**2)
        leg = ribbon(space.projected(ends), 0.065, 0.038)
        parts.append(Part(leg, wood, thin(0.022), angle=80.0 if angle != 90 else 90.0))
    return parts


def _stem(brass: Paint, top: float, tilt: float) -> list[Part]:
    foot = profile((0.27, GROUND - 0.05), (0.285, GROUND - 0.03), (0.285, GROUND))
    stem = np.linspace([0.022, top - 0.02], [0.022, GROUND - 0.05], 8)
    lid = Part(ellipse(0, GROUND - 0.05, 0.27, 0.27 * tilt), brass, thin(0.02), lift=0)
    return [lathed(foot, brass, tilt=tilt), lid, lathed(stem, brass, tilt=tilt, lift=0.012)]


def _pole(b: Build, top: float, tilt: float) -> list[Part]:
    """Stem and foot of a lamp."""
    brass = b.of("metal", "#b9924f" if b.pick("metal", 2) else "#8d9196")
    if b.product.detail == "wooden tripod":
        return _tripod(b, top, tilt)
    if b.product.detail == "metal stem":
        return _stem(brass, top, tilt)
    glaze = replace(b.trim, material=b.of("ceramic", WHITE).material)
    if b.product.trim != "contrast":
        glaze = b.of("ceramic", (WHITE, "#39424c", "#c7a17a")[b.pick("glaze", 3)])
    fat = 0.24 + b.vary("belly", 0.04)
    if b.product.detail == "ceramic ball":
        shape = profile(
            (0.05, top + 0.1), (fat * 0.75, top + 0.22), (fat * 1.15, 0.32), (fat * 0.95, 0.62),
            (fat * 0.6, GROUND),
        )  # fmt: skip
    else:
        shape = profile(
            (0.05, top + 0.06), (0.09, top + 0.16), (fat * 0.95, 0.2), (fat * 0.55, 0.5),
            (fat * 0.45, 0.68), (fat * 0.85, GROUND),
        )  # fmt: skip
    neck = np.linspace([0.022, top - 0.02], [0.022, top + 0.14], 5)
    return [lathed(neck, brass, tilt=tilt), lathed(shape, glaze, tilt=tilt)]


def lamp(b: Build) -> Built:
    """A table lamp."""
    tilt = 0.07 + b.posture.tilt * 0.32
    shape = _shade_profile(b)
    half, top = float(shape[0, 0]), float(shape[0, 1])
    low, bottom = float(shape[-1, 0]), float(shape[-1, 1])
    parts = [*_pole(b, bottom - 0.05, tilt)]
    cloth = replace(b.main, material=b.of("paper", WHITE).material)
    shade_part = lathed(shape, cloth, tilt=tilt, lift=0.05, shade=1.12)
    parts.append(shade_part)
    inner = Part(
        ellipse(0, top, half, half * tilt),
        b.of("paper", "#fff3d6"),
        thin(0.008),
        lift=0,
        shade=1.05,
    )
    parts.append(inner)
    for y, w in ((top, half), (bottom, low)):
        a = np.radians(np.linspace(0, 180, 40))
        line = np.stack([w * np.cos(a), y + w * tilt * np.sin(a)], axis=1)
        parts.append(Part(ribbon(line, 0.024), b.trim, thin(0.01), lift=0.002))
    pull = smooth([(low * 0.45, bottom + 0.02), (low * 0.46, bottom + 0.15)])
    if b.pick("pull", 2):
        parts.append(Part(ribbon(pull, 0.008), b.of("metal", "#b9924f"), thin(0.003), lift=0))
    return Built(tuple(parts), focus=((0.1, -0.45), (0.0, -0.1), (-0.05, -0.3)), ground=GROUND)
