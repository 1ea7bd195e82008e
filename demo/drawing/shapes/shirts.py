"""Shirts."""

from __future__ import annotations

import numpy as np

from demo.drawing.parts import Groove, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import (
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
from demo.drawing.shapes.outlines import outline, ribbon, smooth


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
        torso(body, 0.14),
        b.main,
        Relief(
            edge=0.018,
            bulge=0.09,
            spread=0.12,
            wrinkles=0.006,
            creases=torso_creases(b, body),
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
