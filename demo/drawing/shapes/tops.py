"""T-shirts and shirts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Groove, Part, Relief, thin
from demo.drawing.product import WHITE, Build, Built
from demo.drawing.shapes.cloth import (
    WIDTHS,
    Arm,
    Body,
    back_of_neck,
    cuffs,
    hem_stitches,
    measured,
    mirrored_part,
    neckline,
    placket,
    pocket,
    sleeve,
    torso,
    torso_creases,
)
from demo.drawing.shapes.outlines import ellipse, outline, ribbon, smooth


def t_shirt(b: Build) -> Built:
    """A T-shirt laid flat."""
    detail = b.product.detail
    pointed = detail == "v-neck"
    body = measured(b, neck=0.19 if not pointed else 0.17, bottom=0.78)
    dip = 0.26 if pointed else 0.125 + b.vary("dip", 0.03)
    long = detail == "long sleeve"
    arm = Arm(
        angle=(62 if long else 46) - 9 * b.posture.spread,
        length=(0.98 if long else 0.36) + b.vary("arm", 0.05),
        cuff=0.095 if long else 0.165 + 0.5 * WIDTHS[b.product.cut],
    )
    rib = replace(b.trim, material=b.dyed("knit").material)
    body_part = Part(
        torso(body, dip, pointed=pointed),
        b.main,
        Relief(edge=0.02, bulge=0.10, spread=0.12, wrinkles=0.005, creases=torso_creases(b, body)),
        grooves=(hem_stitches(b, body),),
        lift=0.012,
    )
    line = neckline(body, dip, pointed=pointed)
    collar = Part(ribbon(line, 0.048), rib, thin(0.014), lift=0.006)
    cloth = b.trim if b.product.trim == "contrast" and detail == "crew neck" else b.main
    parts = [*back_of_neck(b, body, dip, rib), *sleeve(b, body, arm, cloth), body_part, collar]
    if detail == "chest print":
        parts += _motif(b)
    if detail == "chest pocket":
        parts.append(pocket(b, 0.2, -0.36, 0.19, b.accent))
    return Built(tuple(parts), focus=((0.0, -0.6), (0.2, -0.3), (-0.4, -0.4)))


MOTIFS = ("sun", "mountain", "bars")


def _motif(b: Build) -> list[Part]:
    """A print on the chest, flat on the cloth."""
    ink = replace(b.contrast, material=b.of("plastic", WHITE).material)
    kind = MOTIFS[b.pick("motif", len(MOTIFS))]
    size = 0.17 + b.vary("motif", 0.03)
    if kind == "sun":
        shapes = [ellipse(0, -0.28, size, size)]
        shapes += [
            outline(
                (-1.3 * size, y, "c"),
                (1.3 * size, y, "c"),
                (1.3 * size, y + 0.03, "c"),
                (-1.3 * size, y + 0.03, "c"),
            )
            for y in (-0.06, 0.0)
        ]
    elif kind == "mountain":
        shapes = [
            outline(
                (-1.4 * size, -0.05, "c"),
                (-0.4 * size, -0.4, "c"),
                (0.1 * size, -0.25, "c"),
                (0.5 * size, -0.33, "c"),
                (1.4 * size, -0.05, "c"),
            )
        ]
    else:
        shapes = [
            outline((x, -0.4, "c"), (x + 0.05, -0.4, "c"), (x + 0.05, -0.08, "c"), (x, -0.08, "c"))
            for x in np.linspace(-size, size - 0.05, 4)
        ]
    return [Part(shape, ink, thin(0.0), lift=0.0) for shape in shapes]


def _collar(b: Build, body: Body, spread: float) -> list[Part]:
    """A turned-down shirt collar: two leaves that meet in front."""
    paint = b.accent
    n, top = body.neck, body.top
    leaf = outline(
        (0.004, top + 0.125, "c"), (spread * 0.55, top + 0.225, "c"),
        (n + 0.075, top + 0.06, "c"), (n + 0.01, top - 0.045, "c"), (n * 0.75, top + 0.02),
    )  # fmt: skip
    edge = smooth([(0.02, top + 0.13), (spread * 0.55, top + 0.205), (n + 0.055, top + 0.06)])
    stitches = Groove((edge,), width=0.005, depth=0.002, dash=(0.015, 0.009), thread=b.thread)
    right = Part(
        leaf,
        paint,
        Relief(edge=0.014, bulge=0.03, spread=0.06),
        grooves=(stitches,),
        angle=-32,
        lift=0.02,
    )
    return [right, mirrored_part(right)]


def _stand(b: Build, body: Body) -> Part:
    """A collar that only stands, open in front."""
    line = neckline(body, 0.13)
    return Part(ribbon(line, 0.07), b.trim, thin(0.016), lift=0.012)


def shirt(b: Build) -> Built:
    """A shirt, buttoned up."""
    detail = b.product.detail
    body = measured(b, neck=0.17, bottom=0.76)
    short = detail == "short sleeve"
    arm = Arm(
        angle=(48 if short else 66) - 8 * b.posture.spread,
        length=(0.42 if short else 1.0) + b.vary("arm", 0.04),
        cuff=0.155 if short else 0.085,
    )
    sides = [np.array([(s * 0.1, -0.56), (s * body.shoulder[0] * 0.97, -0.5)]) for s in (-1, 1)]
    yoke = Groove(tuple(sides), width=0.007, depth=0.004)
    front = Part(
        torso(body, 0.14, curved_hem=0.07),
        b.main,
        Relief(
            edge=0.018,
            bulge=0.09,
            spread=0.12,
            wrinkles=0.006,
            creases=torso_creases(b, body, 1.15),
        ),
        grooves=(hem_stitches(b, body), yoke),
        lift=0.012,
    )
    parts = [*back_of_neck(b, body, 0.14, b.plain), *sleeve(b, body, arm, b.main)]
    if not short:
        parts += cuffs(b, body, arm, b.accent, depth=0.1)
    parts += [front, *placket(b, body, body.top + 0.13)]
    pockets = {"one pocket": (0.21,), "two pockets": (-0.21, 0.21)}.get(detail, ())
    parts += [pocket(b, x, -0.34, 0.2, b.main) for x in pockets]
    if detail == "mandarin collar":
        parts.append(_stand(b, body))
    else:
        parts += _collar(b, body, 0.26 + b.vary("collar", 0.06))
    return Built(tuple(parts), focus=((0.0, -0.5), (0.15, -0.25), (0.0, 0.1)))
