"""Boots, loafers, and pairs of any shoe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Groove, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.outlines import Points, ellipse, outline, ribbon, smooth
from demo.drawing.shapes.sneakers import laced
from demo.drawing.shapes.soles import SOLE, sole, upper


def moved(part: Part, dx: float, dy: float, size: float, shade: float) -> Part:
    """A copy of a part: shifted, scaled about the origin, in other light."""

    def move(points: Points) -> Points:
        return points * size + (dx, dy)

    def place(x: float, y: float) -> tuple[float, float]:
        return x * size + dx, y * size + dy

    folds = tuple(
        replace(c, start=place(*c.start), stop=place(*c.stop)) for c in part.relief.creases
    )
    return replace(
        part,
        outline=move(part.outline),
        holes=tuple(move(h) for h in part.holes),
        grooves=tuple(
            replace(g, lines=tuple(move(line) for line in g.lines)) for g in part.grooves
        ),
        relief=replace(part.relief, creases=folds),
        origin=place(*part.origin),
        shade=part.shade * shade,
    )


def _stitched(b: Build, *lines: Points) -> Groove:
    return Groove(tuple(lines), width=0.007, depth=0.003, dash=(0.02, 0.011), thread=b.thread)


def _boot(b: Build) -> list[Part]:
    top = -0.62 + b.vary("shaft", 0.05)
    shape = outline(
        (-0.82, SOLE, "c"), (-0.83, 0.05), (-0.74, -0.25), (-0.76, top, "c"),
        (-0.48, top + 0.03), (-0.19, top - 0.01, "c"), (-0.2, -0.3), (-0.1, -0.12),
        (0.2, -0.02), (0.55, 0.03), (0.84, 0.12), (0.92, SOLE - 0.04, "c"), (0.3, SOLE + 0.02),
        (-0.4, SOLE + 0.02),
    )  # fmt: skip
    inner = outline(
        (-0.75, top + 0.005, "c"), (-0.48, top - 0.04), (-0.2, top - 0.005, "c"),
        (-0.48, top + 0.035),
    )  # fmt: skip
    seam = smooth([(-0.44, -0.08), (-0.2, 0.08), (0.0, SOLE)])
    tab = np.array(
        [(-0.73, top + 0.06), (-0.75, top - 0.07), (-0.71, top - 0.07), (-0.69, top + 0.06)]
    )
    parts = [
        Part(ribbon(smooth(tab), 0.03), b.trim, thin(0.01)),
        Part(inner, b.inside, thin(0.01), lift=0, shade=0.45),
        upper(b, shape, _stitched(b, seam, np.add(seam, (0.016, 0)))),
        *_boot_detail(b, top),
    ]
    rubber = b.of("rubber", "#c9a06c" if b.pick("gum", 2) else "#26241f")
    return [*parts, *sole(0.085, 0.07, rubber)]


def _boot_detail(b: Build, top: float) -> list[Part]:
    if b.product.detail == "buckle strap":
        strap = smooth([(-0.79, -0.1), (-0.5, -0.06), (-0.14, -0.13)])
        buckle = ellipse(-0.3, -0.105, 0.05, 0.055)
        return [
            Part(ribbon(strap, 0.07), b.trim, thin(0.02), lift=0.014),
            Part(buckle, b.of("metal", "#c2a15a"), thin(0.012)),
        ]
    gore = outline(
        (-0.62, top + 0.05, "c"), (-0.36, top + 0.05, "c"), (-0.38, -0.18), (-0.44, -0.08, "c"),
        (-0.56, -0.2),
    )  # fmt: skip
    ribs = tuple(
        np.array([(x, top + 0.05), (x * 0.6 - 0.19, -0.12)]) for x in np.linspace(-0.58, -0.4, 7)
    )
    if b.product.detail == "zip":
        line = smooth([(-0.47, top + 0.04), (-0.46, -0.1), (-0.42, SOLE - 0.06)])
        teeth = Groove((line,), width=0.02, dash=(0.012, 0.01), thread=(0.5, 0.5, 0.5))
        return [Part(ribbon(line, 0.05), b.trim, thin(0.01), grooves=(teeth,), lift=0.006)]
    return [
        Part(
            gore,
            b.trim,
            Relief(edge=0.01, bulge=0.02, spread=0.05),
            grooves=(Groove(ribs, width=0.01, depth=0.006),),
            lift=0.004,
        )
    ]


def _loafer(b: Build) -> list[Part]:
    top = -0.12 + b.vary("ankle", 0.03)
    shape = outline(
        (-0.81, SOLE, "c"), (-0.84, 0.08), (-0.79, top - 0.02), (-0.74, top - 0.05, "c"),
        (-0.45, top + 0.10), (-0.12, top + 0.08), (0.08, top - 0.06, "c"), (0.3, top + 0.02),
        (0.6, 0.06), (0.85, 0.15), (0.93, SOLE - 0.04, "c"), (0.3, SOLE + 0.02),
        (-0.4, SOLE + 0.02),
    )  # fmt: skip
    inner = outline(
        (-0.74, top - 0.05, "c"), (-0.4, top - 0.03), (0.08, top - 0.06, "c"),
        (-0.12, top + 0.09), (-0.45, top + 0.11),
    )  # fmt: skip
    apron = smooth([(0.1, top + 0.03), (0.35, 0.04), (0.6, 0.1), (0.76, 0.16), (0.8, 0.12)])
    saddle = outline(
        (0.0, top - 0.03, "c"), (0.2, top - 0.05, "c"), (0.3, 0.1), (0.24, SOLE, "c"),
        (-0.02, SOLE, "c"), (0.0, 0.1),
    )  # fmt: skip
    ridge = Groove((apron,), width=0.016, depth=-0.012)
    parts = [
        Part(inner, b.inside, thin(0.02), lift=0, shade=0.5),
        upper(b, shape, ridge, _stitched(b, np.add(apron, (0, 0.02)))),
        Part(saddle, b.trim, Relief(edge=0.018, bulge=0.05, spread=0.06), lift=0.012),
    ]
    small = thin(0.012)
    if b.product.detail == "tassels":
        for s in (-0.03, 0.05):
            tail = smooth([(0.12 + s, top), (0.18 + s * 1.6, top + 0.1), (0.2 + s * 2, top + 0.18)])
            parts.append(Part(ribbon(tail, 0.02, 0.05), b.trim, small, lift=0.012))
    if b.product.detail == "metal bit":
        bar = smooth([(0.06, top + 0.07), (0.15, top + 0.06), (0.25, top + 0.1)])
        parts.append(Part(ribbon(bar, 0.03), b.of("metal", "#c6a253"), small, lift=0.012))
    dark = b.of("rubber", "#3a2a1f" if b.pick("sole", 2) else "#1f1f20")
    return [*parts, *sole(0.05, 0.06, dark)]


def shoe(b: Build) -> Built:
    """A pair of shoes, one behind the other."""
    cut = b.product.cut
    if cut in ("sneaker", "high-top"):
        near = laced(b, high=cut == "high-top")
    else:
        near = _boot(b) if cut == "ankle boot" else _loafer(b)
    bottom = max(float(p.outline[:, 1].max()) for p in near)
    aside = -0.10 + 0.04 * b.posture.spread
    far = [moved(p, aside, -0.13, 0.95, 0.82) for p in near]
    focus = ((0.2, 0.0), (0.5, 0.15), (-0.4, 0.0))
    return Built((*far, *near), focus=focus, ground=bottom)
