"""Sweaters, hooded or not, and cardigans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Groove, Paint, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import (
    Arm,
    Body,
    back_of_neck,
    cuffs,
    measured,
    neckline,
    placket,
    sleeve,
    torso,
    torso_creases,
)
from demo.drawing.shapes.outlines import mirrored, outline, ribbon, smooth


def _ribbed(body: Body, paint: Paint) -> Part:
    """The ribbed band at the hem."""
    half, y0, y1, sag = body.hem, body.bottom - 0.02, body.bottom + 0.08, 0.02
    shape = outline(
        (-half, y0, "c"), (0, y0 + sag), (half, y0, "c"),
        (half * 0.985, y1, "c"), (0, y1 + sag), (-half * 0.985, y1, "c"),
    )  # fmt: skip
    xs = np.linspace(-half, half, int(2 * half / 0.036) + 1)[1:-1]
    drop = sag * (1 - (xs / half) ** 2)
    lines = tuple(np.array([(x, y0 + d), (x, y1 + d)]) for x, d in zip(xs, drop, strict=True))
    ribs = Groove(lines, width=0.012, depth=0.010)
    return Part(
        shape, paint, Relief(edge=0.014, bulge=0.04, spread=0.05), grooves=(ribs,), lift=0.008
    )


def _turtleneck(body: Body, rib: Paint) -> Part:
    n, top = body.neck, body.top
    roll = outline(
        (-n, top + 0.06, "c"), (-n * 0.94, top - 0.1), (-n * 0.9, top - 0.15, "c"),
        (0, top - 0.17), (n * 0.9, top - 0.15, "c"), (n * 0.94, top - 0.1),
        (n, top + 0.06, "c"), (0, top + 0.13),
    )  # fmt: skip
    lines = tuple(
        np.array([(x * 0.9, top - 0.15), (x, top + 0.11 - 0.05 * abs(x) / n)])
        for x in np.linspace(-n, n, 13)[1:-1]
    )
    ribs = Groove(lines, width=0.012, depth=0.008)
    return Part(roll, rib, Relief(edge=0.02, bulge=0.09, spread=0.07), grooves=(ribs,), lift=0.014)


def _hood(b: Build, body: Body) -> list[Part]:
    """A hood, lying behind the neck, and the dark inside of it."""
    n, top = body.neck, body.top
    hood = outline(
        (-n - 0.11, top + 0.14, "c"), (-n - 0.12, top - 0.02), (-n - 0.03, top - 0.16),
        (0.0, top - 0.215), (n + 0.03, top - 0.16), (n + 0.12, top - 0.02),
        (n + 0.11, top + 0.14, "c"), (0, top + 0.25),
    )  # fmt: skip
    inner = outline(
        (-n - 0.02, top + 0.08, "c"), (-n + 0.01, top - 0.06), (0.0, top - 0.125),
        (n - 0.01, top - 0.06), (n + 0.02, top + 0.08, "c"), (0.0, top + 0.21),
    )  # fmt: skip
    return [
        Part(hood, b.main, Relief(edge=0.03, bulge=0.1, spread=0.08, wrinkles=0.006)),
        Part(inner, b.inside, thin(0.03), lift=0.0, shade=0.5),
    ]


def _hood_front(b: Build, body: Body) -> list[Part]:
    """The rim of a hood, its cords, and the pouch below."""
    top, cotton = body.top, b.of("cotton", "#ece8de")
    parts = [Part(ribbon(neckline(body, 0.16), 0.06), b.trim, thin(0.02), lift=0.014)]
    for side in (-1, 1):
        end = side * (0.1 + 0.02 * b.posture.sway)
        line = smooth([(side * 0.09, top + 0.14), (side * 0.11, top + 0.27), (end, top + 0.4)])
        parts.append(Part(ribbon(line, 0.02), cotton, thin(0.009), lift=0.01))
    pouch = mirrored((0, 0.24), (0.17, 0.24, "c"), (0.3, 0.44, "c"), (0.3, 0.62, "c"), (0, 0.63))
    relief = Relief(edge=0.015, bulge=0.03, spread=0.06)
    return [Part(pouch, b.main, relief, lift=0.014), *parts]


def _cables(b: Build, body: Body) -> tuple[Groove, ...]:
    """Cable stitch, on some plain sweaters."""
    if b.product.texture != "plain" or not b.pick("cable", 2):
        return ()
    ys = np.linspace(-0.5, body.bottom - 0.02, 60)
    waves = (
        np.stack([x + 0.022 * np.sin(ys * 30 + phase), ys], axis=1)
        for x in (-0.2, 0.0, 0.2)
        for phase in (0, np.pi)
    )
    return (Groove(tuple(waves), width=0.018, depth=0.012),)


def sweater(b: Build) -> Built:
    """A knitted sweater, a hooded one or a cardigan."""
    detail = b.product.detail
    body = measured(b, neck=0.18, bottom=0.68)
    arm = Arm(angle=64 - 8 * b.posture.spread, length=0.93 + b.vary("arm", 0.04), cuff=0.095)
    rib = replace(b.trim, material=b.dyed("knit").material)
    folds = torso_creases(b, body, 1.2)
    front = Part(
        torso(body, 0.16 if detail == "hooded" else 0.13),
        b.main,
        Relief(edge=0.035, bulge=0.12, spread=0.12, wrinkles=0.009, creases=folds),
        grooves=_cables(b, body),
        lift=0.02,
    )
    parts = _hood(b, body) if detail == "hooded" else back_of_neck(b, body, 0.13, rib)
    parts += [*sleeve(b, body, arm, b.main), *cuffs(b, body, arm, rib, depth=0.11), front]
    parts.append(_ribbed(body, rib))
    if detail == "cardigan":
        parts += placket(b, replace(body, bottom=body.bottom + 0.06), body.top + 0.126)
    if detail == "hooded":
        parts += _hood_front(b, body)
    elif detail == "turtleneck":
        parts.append(_turtleneck(body, rib))
    else:
        parts.append(Part(ribbon(neckline(body, 0.13), 0.065), rib, thin(0.022), lift=0.01))
    return Built(tuple(parts), focus=((0.0, -0.6), (0.0, 0.3), (-0.35, 0.2)))
