"""Skirts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from demo.drawing.parts import Drape, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import button, sewn
from demo.drawing.shapes.outlines import Points, outline, ribbon, smooth

FLARES = {"a-line": 0.20, "flared": 0.40, "pencil": -0.02, "pleated": 0.22}


def _hem_wave(b: Build, half: float, y: float, depth: float) -> list[tuple[float, float]]:
    """The lower edge of hanging cloth, from right to left, waved by its folds."""
    phase = b.posture.rng.uniform(0, 6)
    waves = 2.2 + 5 * half
    xs = np.linspace(half, -half, 25)[1:-1]
    sag = 0.045 * (1 - (xs / half) ** 2)
    return [
        (float(x), float(y + d + depth * np.sin(x / half * waves * 2.6 + phase)))
        for x, d in zip(xs, sag, strict=True)
    ]


@dataclass(frozen=True)
class _Hang:
    """Measures of hanging cloth: half widths at waist, hip and hem; y of waist and hem."""

    waist: float
    hip: float
    hem: float
    top: float
    low: float


def _skirt_shape(b: Build, hang: _Hang) -> Points:
    """Outline of a skirt from its waist to its waved hem."""
    waist, hip, hem, top, low = hang.waist, hang.hip, hang.hem, hang.top, hang.low
    lean = 0.035 * b.posture.sway
    drop = 0.25 * (low - top)
    wave = 0.004 + 0.022 * max(0.0, hem - 0.35)
    return outline(
        (-waist, top, "c"), (0.0, top + 0.02), (waist, top, "c"), (hip, top + drop),
        ((hip + hem) / 2 + 0.012, top + 2.2 * drop), (hem + lean, low, "c"),
        *_hem_wave(b, hem, low, wave), (-hem + lean, low, "c"),
        (-(hip + hem) / 2 - 0.012, top + 2.2 * drop), (-hip, top + drop),
    )  # fmt: skip


def _hanging(b: Build, hang: _Hang) -> Drape:
    """Folds that fit the width of a hem."""
    waist, hem, top, low = hang.waist, hang.hem, hang.top, hang.low
    pressed = b.product.cut == "pleated"
    apex = top - waist * (low - top) / max(hem - waist, 0.06)
    radians = 2 * np.arctan2(hem, low - apex)
    folds = (9 if pressed else 3.2 + 7 * max(0.0, hem - waist)) * 2 * np.pi
    return Drape(
        apex=(0.0, apex),
        count=folds / radians,
        top=top - (0.25 if pressed else -0.02),
        bottom=low,
        height=(0.035 if pressed else 0.03 + 0.06 * max(0.0, hem - waist)),
        phase=float(b.posture.rng.uniform(0, 6)),
        sharp=0.85 if pressed else 0.0,
    )


def _fan(hang: _Hang) -> tuple[float, float] | None:
    """Where the threads of a flared skirt meet; None for one that hangs straight."""
    if hang.hem - hang.waist < 0.16:
        return None
    return 0.0, hang.top - hang.waist * (hang.low - hang.top) / (hang.hem - hang.waist)


def _hanging_cloth(b: Build, hang: _Hang) -> Part:
    """The cloth of a skirt: its silhouette, its folds, its threads."""
    relief = Relief(edge=0.016, bulge=0.1, spread=0.1, wrinkles=0.004, drape=_hanging(b, hang))
    return Part(_skirt_shape(b, hang), b.main, relief, fan=_fan(hang), lift=0.0)


def _belt(b: Build, half: float, y: float) -> list[Part]:
    """A belt with its buckle."""
    band = outline(
        (-half, y - 0.028, "c"), (0, y - 0.015), (half, y - 0.028, "c"), (half, y + 0.03, "c"),
        (0, y + 0.043), (-half, y + 0.03, "c"),
    )  # fmt: skip
    leather = replace(b.trim, material=b.dyed("leather").material)
    frame = outline(
        (-0.045, y - 0.035, "c"), (0.045, y - 0.035, "c"), (0.045, y + 0.06, "c"),
        (-0.045, y + 0.06, "c"),
    )  # fmt: skip
    hole = outline(
        (-0.028, y - 0.014, "c"), (0.028, y - 0.014, "c"), (0.028, y + 0.039, "c"),
        (-0.028, y + 0.039, "c"),
    )  # fmt: skip
    metal = b.of("metal", "#c9a55a" if b.pick("metal", 2) else "#b9bcc0")
    return [
        Part(band, leather, Relief(edge=0.014, bulge=0.03, spread=0.1), lift=0.012),
        Part(frame, metal, thin(0.008), holes=(hole,), lift=0.008),
    ]


def skirt(b: Build) -> Built:
    """A skirt on an invisible figure."""
    detail, flare = b.product.detail, FLARES[b.product.cut]
    waist = 0.33 + b.vary("waist", 0.02)
    low = 0.66 + b.vary("length", 0.13)
    hem = waist + 0.13 + flare * 1.15 + b.vary("hem", 0.03)
    if b.product.cut == "pencil":
        hem = waist + 0.03
    top = -0.62
    hang = _Hang(waist, waist + 0.09 + flare * 0.4, hem, top, low)
    body = _hanging_cloth(b, hang)
    inside, band = _skirt_band(b, waist, top)
    parts = [inside, body, band]
    if detail == "button front":
        parts += _front_buttons(b, top, low)
    if detail == "belted":
        parts += _belt(b, waist + 0.006, top - 0.035)
    if detail == "pockets":
        parts += _pockets(b, hang)
    return Built(tuple(parts), focus=((0.0, -0.5), (0.15, 0.1), (-0.2, 0.35)))


def _pockets(b: Build, hang: _Hang) -> list[Part]:
    """The edges of two slanted pockets."""
    parts = []
    for s in (-1, 1):
        line = smooth([
            (s * hang.waist * 0.6, hang.top + 0.05),
            (s * (hang.waist + 0.02) * 0.8, hang.top + 0.2),
            (s * (hang.hip - 0.01), hang.top + 0.26),
        ])  # fmt: skip
        parts.append(Part(ribbon(line, 0.024), b.trim, thin(0.01), lift=0.01))
    return parts


def _skirt_band(b: Build, waist: float, top: float) -> tuple[Part, Part]:
    """The inside of the back, and the waistband in front of it."""
    inner = outline(
        (-waist + 0.01, top - 0.1, "c"), (0, top - 0.125), (waist - 0.01, top - 0.1, "c"),
        (0, top - 0.04),
    )  # fmt: skip
    band = outline(
        (-waist - 0.004, top - 0.1, "c"), (0, top - 0.072), (waist + 0.004, top - 0.1, "c"),
        (waist + 0.012, top + 0.015, "c"), (0, top + 0.045), (-waist - 0.012, top + 0.015, "c"),
    )  # fmt: skip
    xs = np.linspace(-waist, waist, 20)
    edge = np.stack([xs, top + 0.017 - 0.03 * (xs / waist) ** 2], axis=1)
    relief = Relief(edge=0.014, bulge=0.04, spread=0.06)
    return (
        Part(inner, b.inside, thin(0.01), shade=0.5, lift=0),
        Part(band, b.accent, relief, grooves=(sewn(b, edge),), lift=0.01),
    )


def _front_buttons(b: Build, top: float, low: float) -> list[Part]:
    strip = outline(
        (-0.045, top + 0.04, "c"), (0.045, top + 0.04, "c"), (0.05, low + 0.04, "c"),
        (-0.05, low + 0.04, "c"),
    )  # fmt: skip
    parts = [Part(strip, b.main, thin(0.012), lift=0.01)]
    shell = b.of("plastic", "#efe6d2" if b.pick("shell", 2) else "#4b3a2e")
    for y in np.linspace(top + 0.12, low - 0.1, 7):
        parts += button(b, 0.0, float(y), 0.027, shell)
    return parts
