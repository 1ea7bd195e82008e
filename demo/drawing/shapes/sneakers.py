"""Laced shoes: sneakers, low and high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demo.drawing.parts import Paint, Part, Relief, thin
from demo.drawing.product import WHITE, Build
from demo.drawing.shapes.outlines import Points, ellipse, outline, ribbon, smooth
from demo.drawing.shapes.soles import SOLE, sole, upper


def _laces(b: Build, line: Points, count: int, paint: Paint) -> list[Part]:
    """Laces across the line on which the eyelets lie."""
    at = np.linspace(0.06, 0.94, count) * (len(line) - 1)
    xs = np.interp(at, np.arange(len(line)), line[:, 0])
    ys = np.interp(at, np.arange(len(line)), line[:, 1])
    metal = b.of("metal", "#55585c")
    parts = []
    for x, y in zip(xs, ys, strict=True):
        lace = smooth([(x - 0.05, y + 0.085), (x, y + 0.015), (x + 0.045, y - 0.028)])
        eyelet = ellipse(x - 0.05, y + 0.088, 0.018, 0.018, 14)
        parts.append(Part(eyelet, metal, thin(0.006), lift=0))
        parts.append(Part(ribbon(lace, 0.034), paint, thin(0.013), lift=0.01))
    return parts


@dataclass(frozen=True)
class _Laced:
    """Silhouettes of a laced shoe's pieces."""

    upper: Points
    tongue: Points
    opening: Points
    stay: Points
    heel: Points
    eyes: Points


def _low_cut(top: float) -> _Laced:
    upper = outline(
        (-0.82, SOLE, "c"), (-0.845, 0.05), (-0.78, top + 0.12), (-0.75, top, "c"),
        (-0.55, top + 0.13), (-0.30, top + 0.02, "c"), (-0.08, top + 0.16), (0.16, -0.10),
        (0.42, 0.01), (0.68, 0.06), (0.87, 0.16), (0.92, SOLE - 0.03, "c"),
        (0.3, SOLE + 0.02), (-0.4, SOLE + 0.02),
    )  # fmt: skip
    tongue = outline(
        (-0.36, top + 0.12, "c"), (-0.34, top - 0.10), (-0.2, top - 0.10), (-0.12, top - 0.03),
        (0.25, -0.05, "c"), (0.05, 0.05, "c"),
    )  # fmt: skip
    opening = outline(
        (-0.745, top + 0.012, "c"), (-0.55, top + 0.135), (-0.3, top + 0.03, "c"),
        (-0.32, top - 0.03), (-0.55, top - 0.055), (-0.74, top - 0.02),
    )  # fmt: skip
    stay = outline(
        (-0.31, top + 0.03, "c"), (-0.08, top + 0.16), (0.16, -0.10), (0.42, 0.01, "c"),
        (0.38, 0.1), (0.1, 0.1), (-0.12, 0.02), (-0.3, top + 0.26), (-0.36, top + 0.14),
    )  # fmt: skip
    heel = outline(
        (-0.755, top + 0.01, "c"), (-0.79, top + 0.14), (-0.85, 0.05), (-0.83, SOLE, "c"),
        (-0.55, SOLE, "c"), (-0.56, 0.12), (-0.66, top + 0.18),
    )  # fmt: skip
    eyes = smooth([(-0.24, top + 0.08), (-0.06, top + 0.24), (0.16, -0.03), (0.34, 0.03)])
    return _Laced(upper, tongue, opening, stay, heel, eyes)


def _high_cut(top: float) -> _Laced:
    upper = outline(
        (-0.82, SOLE, "c"), (-0.835, 0.08), (-0.765, -0.2), (-0.77, top, "c"),
        (-0.52, top + 0.02), (-0.24, top - 0.04, "c"), (-0.2, -0.38), (-0.06, -0.2),
        (0.17, -0.07), (0.42, 0.01), (0.68, 0.06), (0.87, 0.16), (0.92, SOLE - 0.03, "c"),
        (0.3, SOLE + 0.02), (-0.4, SOLE + 0.02),
    )  # fmt: skip
    tongue = outline(
        (-0.34, top + 0.1, "c"), (-0.3, top - 0.1), (-0.17, top - 0.12), (-0.14, top + 0.02),
        (-0.08, -0.26), (0.25, -0.05, "c"), (0.05, 0.05, "c"),
    )  # fmt: skip
    opening = outline(
        (-0.765, top + 0.005, "c"), (-0.52, top + 0.03), (-0.25, top - 0.03, "c"),
        (-0.5, top - 0.06),
    )  # fmt: skip
    stay = outline(
        (-0.245, top - 0.03, "c"), (-0.2, -0.38), (-0.06, -0.2), (0.17, -0.07),
        (0.42, 0.01, "c"), (0.36, 0.1), (0.1, 0.08), (-0.16, -0.04), (-0.32, -0.3),
        (-0.36, top, "c"),
    )  # fmt: skip
    heel = outline(
        (-0.8, -0.06, "c"), (-0.835, 0.08), (-0.82, SOLE, "c"), (-0.52, SOLE, "c"),
        (-0.55, 0.1), (-0.66, -0.02),
    )  # fmt: skip
    eyes = smooth([(-0.22, top + 0.05), (-0.17, -0.36), (0.0, -0.16), (0.3, 0.02)])
    return _Laced(upper, tongue, opening, stay, heel, eyes)


def laced(b: Build, high: bool) -> list[Part]:
    """A sneaker, or its high version."""
    top = -0.62 if high else -0.3 + b.vary("ankle", 0.03)
    cut = _high_cut(top) if high else _low_cut(top)
    lace = b.of("cotton", WHITE if b.pick("lace", 3) else "#2c2d31")
    overlay = Relief(edge=0.018, bulge=0.06, spread=0.08)
    parts = [
        Part(cut.opening, b.inside, thin(0.02), lift=0, shade=0.45),
        Part(cut.tongue, b.inside, Relief(edge=0.03, bulge=0.05, spread=0.06), shade=0.95),
        upper(b, cut.upper),
        Part(cut.stay, b.trim, overlay, lift=0.01),
        Part(cut.heel, b.trim, overlay, lift=0.01),
    ]
    if high:
        ankle = np.array([(-0.775, top + 0.035), (-0.35, top + 0.05)])
        parts.append(Part(ribbon(ankle, 0.06), b.trim, thin(0.02), lift=0.006))
    parts += [*_sneaker_detail(b), *_laces(b, cut.eyes, 7 if high else 5, lace)]
    rubber = b.of("rubber", "#2a2a2c" if b.product.detail == "dark sole" else WHITE)
    return [*parts, *sole(0.13 + b.vary("sole", 0.03), 0.0, rubber)]


def _sneaker_detail(b: Build) -> list[Part]:
    rubber, flat = b.of("rubber", WHITE), thin(0.012)
    if b.product.detail == "toe cap":
        toe = outline(
            (0.58, 0.04, "c"), (0.78, 0.09), (0.89, 0.17), (0.925, SOLE, "c"),
            (0.48, SOLE + 0.01, "c"), (0.5, 0.15),
        )  # fmt: skip
        return [Part(toe, rubber, Relief(edge=0.03, bulge=0.08, spread=0.1), lift=0.008)]
    if b.product.detail == "side stripes":
        bars = [np.array([(x + 0.17, 0.05), (x, SOLE - 0.01)]) for x in (-0.4, -0.25, -0.1)]
        return [Part(ribbon(bar, 0.06), b.contrast, flat, lift=0.008) for bar in bars]
    if b.product.detail == "round patch":
        return [
            Part(ellipse(-0.5, -0.26, 0.1, 0.1), rubber, flat, lift=0.008),
            Part(ellipse(-0.5, -0.26, 0.06, 0.06), b.contrast, flat, lift=0),
        ]
    return []
