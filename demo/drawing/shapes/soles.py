"""What all shoes are made of: soles and uppers, seen from the side, toe to the right."""

from __future__ import annotations

import numpy as np

from demo.drawing.parts import Crease, Groove, Paint, Part, Relief, thin
from demo.drawing.product import Build
from demo.drawing.shapes.outlines import Points, outline

SOLE = 0.30  # y at which the upper meets the sole


def sole(thick: float, heel: float, paint: Paint) -> list[Part]:
    """Midsole with a tread line; `heel` is the height of a heel block below it."""
    low = SOLE + thick
    shape = outline(
        (-0.83, SOLE - 0.05, "c"), (-0.4, SOLE - 0.015), (0.2, SOLE), (0.7, SOLE - 0.035),
        (0.93, SOLE - 0.09, "c"), (0.952, SOLE - 0.03), (0.89, low - 0.035), (0.7, low, "c"),
        (-0.72, low, "c"), (-0.83, low - 0.03), (-0.855, SOLE + 0.02),
    )  # fmt: skip
    tread = np.array([(-0.86, low - 0.04), (0.86, low - 0.04)])
    middle = Part(
        shape,
        paint,
        Relief(edge=0.03, bulge=0.02, spread=0.05),
        grooves=(Groove((tread,), width=0.012, depth=0.01),),
        lift=0.006,
    )
    if not heel:
        return [middle]
    block = outline(
        (-0.84, SOLE + 0.02, "c"), (-0.28, SOLE + 0.03, "c"), (-0.33, low + heel, "c"),
        (-0.82, low + heel, "c"),
    )  # fmt: skip
    return [Part(block, paint, thin(0.02), lift=0.0, shade=0.9), middle]


def upper(b: Build, shape: Points, *grooves: Groove) -> Part:
    rng = b.posture.rng
    folds = tuple(
        Crease(
            (x, 0.09 + rng.uniform(-0.03, 0.02)), (x - 0.07, 0.24), 0.012, rng.uniform(0.005, 0.012)
        )
        for x in (0.40, 0.47, 0.53)
    )
    relief = Relief(edge=0.045, bulge=0.14, spread=0.12, wrinkles=0.003, creases=folds)
    return Part(shape, b.main, relief, grooves=grooves, lift=0.0, angle=8)
