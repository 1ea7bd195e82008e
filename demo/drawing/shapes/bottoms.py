"""Trousers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demo.drawing.parts import Crease, Groove, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import button, mirrored_part, sewn
from demo.drawing.shapes.outlines import outline, ribbon, smooth

CUFFS = {"slim": 0.10, "straight": 0.155, "wide": 0.24}


@dataclass(frozen=True)
class _Leg:
    """Measures of a right leg: x of its middle and half widths at knee and hem, y of both."""

    knee_x: float
    knee: float
    knee_y: float
    hem_x: float
    hem: float
    low: float


def _measures(b: Build, waist: float, low: float) -> _Leg:
    thigh = (waist + 0.1) / 2
    hem = CUFFS[b.product.cut] + b.vary("cuff", 0.02)
    knee = 0.55 * thigh + 0.45 * hem
    if b.product.detail == "shorts":
        hem, knee = thigh * 1.08 + 0.3 * (hem - 0.155), thigh * 1.02
    out = 0.06 + 0.035 * b.posture.spread
    # The legs may touch at the knee, but do not cross.
    return _Leg(
        knee_x=max(thigh + out * 0.6 - 0.02, knee + 0.012),
        knee=knee,
        knee_y=0.5 * (-0.3 + low),
        hem_x=max(thigh + out * 0.9 - 0.03, hem + 0.02 + 0.02 * b.posture.spread),
        hem=hem,
        low=low,
    )


def _leg(b: Build, waist: float, low: float) -> Part:
    """The right leg from the waist down."""
    m = _measures(b, waist, low)
    knee, left, right = m.knee_y, m.hem_x - m.hem, m.hem_x + m.hem
    shape = outline(
        (-0.02, -0.83, "c"), (waist, -0.83, "c"), (waist + 0.075, -0.6), (waist + 0.085, -0.4),
        (m.knee_x + m.knee, knee), (right, low, "c"), (m.hem_x, low + 0.012), (left, low, "c"),
        (m.knee_x - m.knee, knee), (0.035, -0.22), (0.0, -0.3, "c"),
    )  # fmt: skip
    side = smooth([
        (waist - 0.015, -0.8), (waist + 0.057, -0.6), (waist + 0.067, -0.4),
        (m.knee_x + m.knee - 0.018, knee), (right - 0.018, low),
    ])  # fmt: skip
    hem = np.array([(left + 0.01, low - 0.045), (right - 0.01, low - 0.045)])
    lines = [Groove((side,), width=0.008, depth=0.005), sewn(b, hem)]
    if b.product.detail == "pressed crease":
        press = smooth([(waist * 0.55, -0.55), (m.knee_x, knee), (m.hem_x, low)])
        lines.append(Groove((press,), width=0.014, depth=-0.014))
    folds = _leg_creases(b, waist, m)
    return Part(
        shape,
        b.main,
        Relief(edge=0.022, bulge=0.13, spread=0.085, wrinkles=0.005, creases=folds),
        grooves=tuple(lines),
        angle=-4 - 3 * b.posture.spread,
        lift=0.014,
    )


def _leg_creases(b: Build, waist: float, m: _Leg) -> tuple[Crease, ...]:
    """Folds from the crotch, around the knee and above the hem."""
    rng = b.posture.rng
    folds = []
    for _ in range(4):
        start = (0.02, -0.3 + rng.uniform(-0.02, 0.05))
        stop = (waist + rng.uniform(-0.1, 0.05), -0.4 + rng.uniform(-0.12, 0.2))
        folds.append(Crease(start, stop, rng.uniform(0.012, 0.02), rng.uniform(0.010, 0.02)))
    for around in (m.knee_y, m.low - 0.12):
        for _ in range(3):
            y = around + rng.uniform(-0.09, 0.09)
            reach = m.knee * rng.choice([-1.0, 1.0])
            start = (m.knee_x + reach, y)
            stop = (m.knee_x - reach * 0.3, y + rng.uniform(-0.08, 0.08))
            folds.append(Crease(start, stop, rng.uniform(0.012, 0.02), rng.uniform(0.006, 0.015)))
    return tuple(folds)


def _waistband(b: Build, waist: float) -> list[Part]:
    band = outline(
        (-waist, -0.9, "c"), (0, -0.875), (waist, -0.9, "c"), (waist + 0.008, -0.8, "c"),
        (0, -0.775), (-waist - 0.008, -0.8, "c"),
    )  # fmt: skip
    inner = outline(
        (-waist + 0.012, -0.9, "c"), (0, -0.925), (waist - 0.012, -0.9, "c"), (0, -0.85)
    )
    edge = smooth([(-waist, -0.818), (0, -0.793), (waist, -0.818)])
    stitches = sewn(b, edge)
    paint = b.accent
    parts = [
        Part(inner, b.inside, thin(0.01), lift=0.0, shade=0.5),
        Part(
            band, paint, Relief(edge=0.013, bulge=0.03, spread=0.06), grooves=(stitches,), lift=0.01
        ),
    ]
    for x in (-0.72, -0.36, 0.36, 0.72):
        loop = np.array([(x * waist, -0.905 + 0.02 * (1 - abs(x))), (x * waist, -0.775)])
        parts.append(Part(ribbon(loop, 0.022), paint, thin(0.008), lift=0.008))
    return [*parts, *button(b, 0.0, -0.828, 0.026, b.of("metal", "#a98b5b"))]


def _fly_and_pockets(b: Build, waist: float) -> Groove:
    fly = smooth([(0.055, -0.78), (0.06, -0.5), (0.045, -0.4), (0.0, -0.36)])
    middle = np.array([(0.0, -0.78), (0.0, -0.3)])
    sides = [
        smooth(
            [
                (s * waist * 0.55, -0.785),
                (s * (waist + 0.01) * 0.72, -0.66),
                (s * (waist + 0.06), -0.56),
            ]
        )
        for s in (-1, 1)
    ]
    return Groove((fly, middle, *sides), width=0.008, depth=0.006, thread=b.thread)


def _cargo_pockets(b: Build, waist: float) -> list[Part]:
    x, y = waist * 0.82, -0.12
    body = outline(
        (x - 0.1, y, "c"), (x + 0.11, y, "c"), (x + 0.12, y + 0.25, "c"), (x - 0.09, y + 0.25, "c")
    )
    flap = outline(
        (x - 0.11, y - 0.03, "c"), (x + 0.12, y - 0.03, "c"), (x + 0.12, y + 0.05, "c"),
        (x + 0.005, y + 0.08, "c"), (x - 0.11, y + 0.05, "c"),
    )  # fmt: skip
    parts = [
        Part(body, b.main, Relief(edge=0.014, bulge=0.03, spread=0.05), lift=0.014),
        Part(flap, b.main, thin(0.012), lift=0.012),
    ]
    both = [p for part in parts for p in (part, mirrored_part(part))]
    snaps = [
        p
        for s in (-1, 1)
        for p in button(b, s * (x + 0.005), y + 0.04, 0.018, b.of("metal", "#8f8a80"))
    ]
    return [*both, *snaps]


def trousers(b: Build) -> Built:
    """Trousers laid flat, or shorts."""
    detail = b.product.detail
    waist = 0.30 + b.vary("waist", 0.02)
    low = (0.02 if detail == "shorts" else 0.88) + b.vary("length", 0.05)
    leg = _leg(b, waist, low)
    cloth = [mirrored_part(leg), leg]
    bottom = _seat(b, waist)
    parts = [*cloth, bottom, *_waistband(b, waist)]
    if detail == "cuffed":
        cuff = [_cuff(b, leg, low)]
        parts += [*cuff, *(mirrored_part(c) for c in cuff)]
    if detail == "cargo pockets":
        parts += _cargo_pockets(b, waist)
    return Built(tuple(parts), focus=((0.0, -0.65), (0.2, -0.1), (0.15, -0.5)))


def _seat(b: Build, waist: float) -> Part:
    """The flat piece below the waistband that joins the legs, with fly and pockets."""
    shape = outline(
        (-waist * 0.98, -0.83, "c"), (waist * 0.98, -0.83, "c"), (waist + 0.05, -0.6),
        (waist * 0.7, -0.45), (0.0, -0.27, "c"), (-waist * 0.7, -0.45), (-waist - 0.05, -0.6),
    )  # fmt: skip
    return Part(
        shape,
        b.main,
        Relief(edge=0.0, bulge=0.02, spread=0.1, wrinkles=0.003),
        grooves=(_fly_and_pockets(b, waist),),
        lift=0.0,
    )


def _cuff(b: Build, leg: Part, low: float) -> Part:
    """The turned-up end of a leg."""
    at = leg.outline[leg.outline[:, 1] > low - 0.012]
    left, right = float(at[:, 0].min()), float(at[:, 0].max())
    shape = outline(
        (left - 0.008, low - 0.1, "c"), (right + 0.008, low - 0.1, "c"),
        (right + 0.012, low + 0.012, "c"), (left - 0.012, low + 0.012, "c"),
    )  # fmt: skip
    paint = b.trim if b.product.trim == "contrast" else b.inside
    return Part(shape, paint, Relief(edge=0.016, bulge=0.06, spread=0.06), lift=0.012)
