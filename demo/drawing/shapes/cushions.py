"""Cushions."""

from __future__ import annotations

import numpy as np

from demo.drawing.parts import Crease, Groove, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import button
from demo.drawing.shapes.outlines import Points, ellipse, outline, ribbon


def _cushion_shape(b: Build) -> Points:
    size = 0.62 + b.vary("size", 0.05)
    if b.product.cut == "round":
        return ellipse(0, 0, size, size * 0.98)
    w, h = (size * 1.22, size * 0.74) if b.product.cut == "oblong" else (size, size)
    dent = 0.05 + b.vary("dent", 0.015)
    jitter = b.posture.rng.uniform(-0.012, 0.012, 8)
    return outline(
        (-w, -h, "c"), (-w * 0.5, -h + dent * 0.7 + jitter[0]),
        (w * 0.5, -h + dent * 0.7 + jitter[1]), (w, -h, "c"),
        (w - dent * 0.7 + jitter[2], -h * 0.5), (w - dent * 0.7 + jitter[3], h * 0.5),
        (w, h, "c"), (w * 0.5, h - dent * 0.7 + jitter[4]),
        (-w * 0.5, h - dent * 0.7 + jitter[5]), (-w, h, "c"),
        (-w + dent * 0.7 + jitter[6], h * 0.5), (-w + dent * 0.7 + jitter[7], -h * 0.5),
    )  # fmt: skip


def _cushion_creases(b: Build, shape: Points) -> tuple[Crease, ...]:
    """Folds from the corners towards the middle, and around a button."""
    rng = b.posture.rng
    reach = np.abs(shape).max(axis=0)
    folds = []
    for sx in (-1, 1):
        for sy in (-1, 1):
            for _ in range(2):
                corner = (
                    sx * reach[0] * rng.uniform(0.78, 0.97),
                    sy * reach[1] * rng.uniform(0.78, 0.97),
                )
                inner = (corner[0] * rng.uniform(0.35, 0.55), corner[1] * rng.uniform(0.35, 0.55))
                folds.append(
                    Crease(corner, inner, rng.uniform(0.02, 0.035), rng.uniform(0.012, 0.026))
                )
    if b.product.detail == "button":
        for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False) + rng.uniform(0, 0.5):
            tip = (0.3 * np.cos(angle), 0.3 * np.sin(angle))
            folds.append(Crease((0.02 * np.cos(angle), 0.02 * np.sin(angle)), tip, 0.022, -0.014))
    return tuple(folds)


def _tassels(b: Build, shape: Points) -> list[Part]:
    reach = np.abs(shape).max(axis=0)
    spots = [(sx * reach[0], sy * reach[1]) for sx in (-1, 1) for sy in (-1, 1)]
    if b.product.cut == "round":
        spots = [(0.72 * x, 0.72 * y) for x, y in spots]
    parts = []
    for x, y in spots:
        away = np.array([np.sign(x), np.sign(y)]) / np.sqrt(2)
        end = np.array([x, y]) + away * 0.17 + (0, 0.02)
        line = np.array([[x, y], *(np.linspace([x, y], end, 6)[1:])])
        widths = np.array([0.03, 0.05, 0.045, 0.06, 0.075, 0.085])
        aside = np.array([-away[1], away[0]])
        hairs = tuple(
            np.array([line[2] + aside * k * 0.4, end + aside * k])
            for k in np.linspace(-0.035, 0.035, 5)
        )
        parts.append(
            Part(
                ribbon(line, widths),
                b.trim,
                thin(0.016),
                grooves=(Groove(hairs, width=0.006, depth=0.006),),
                lift=0.01,
            )
        )
    return parts


def cushion(b: Build) -> Built:
    """A cushion seen from above."""
    shape = _cushion_shape(b)
    body = Part(
        shape,
        b.main,
        Relief(
            edge=0.05,
            bulge=0.34,
            spread=0.16,
            wrinkles=0.007,
            grid=(0.3, 0.3),
            creases=_cushion_creases(b, shape),
        ),
    )
    detail = b.product.detail
    parts = _tassels(b, shape) if detail == "tassels" else []
    if detail == "flange":
        parts.append(
            Part(shape * 1.1, b.trim, Relief(edge=0.014, bulge=0.03, spread=0.05, wrinkles=0.006))
        )
    parts.append(body)
    if detail == "piping":
        ring = np.vstack([shape, shape[:1]])
        parts.append(Part(ribbon(ring, 0.034), b.trim, thin(0.015), lift=0.006))
    if detail == "button":
        parts += button(b, 0.0, 0.0, 0.05, b.trim)
    return Built(tuple(parts), focus=((0.3, 0.3), (0.0, 0.0), (-0.3, 0.25)))
