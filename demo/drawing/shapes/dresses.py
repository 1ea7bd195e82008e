"""Dresses."""

from __future__ import annotations

from demo.drawing.parts import Crease, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import Arm, Body, back_of_neck, neckline, sleeve
from demo.drawing.shapes.outlines import mirrored, ribbon, smooth
from demo.drawing.shapes.skirts import FLARES, Hang, belt, hanging_cloth

WAIST = -0.2  # y at which bodice and skirt meet


def _bodice(b: Build, body: Body, dip: float) -> Part:
    sleeveless = b.product.detail == "sleeveless"
    end = body.shoulder if not sleeveless else (body.neck + 0.065, body.top + 0.005)
    shape = mirrored(
        (0.0, body.top + dip), (body.neck * 0.7, body.top + dip * 0.75),
        (body.neck, body.top, "c"), (*end, "c"), (0.262, -0.66), (*body.armpit, "c"),
        (0.268, -0.4), (body.waist, WAIST, "c"), (0, WAIST + 0.02),
    )  # fmt: skip
    rng = b.posture.rng
    folds = []
    for side in (-1, 1, -1, 1):
        start = (side * 0.27, -0.46 + rng.uniform(-0.05, 0.1))
        stop = (side * 0.05, -0.25 + rng.uniform(-0.1, 0.1))
        folds.append(Crease(start, stop, 0.02, rng.uniform(0.006, 0.014)))
    relief = Relief(edge=0.018, bulge=0.09, spread=0.08, wrinkles=0.004, creases=tuple(folds))
    return Part(shape, b.main, relief, lift=0.012)


def _tiers(b: Build, hang: Hang) -> list[Part]:
    """Flounces, the lowest first."""
    tiers = []
    for share in (0.62, 0.3):
        low = WAIST + share * (hang.low - WAIST)
        hem = hang.waist + (hang.hem - hang.waist) * share + 0.05
        hip = hang.waist + (hem - hang.waist) * 0.55
        tier = Hang(hang.waist, hip, hem, hang.top, low)
        tiers.append(hanging_cloth(b, tier, bulge=0.07, lift=0.022))
    return tiers


def dress(b: Build) -> Built:
    """A dress on an invisible figure."""
    detail, flare = b.product.detail, FLARES[b.product.cut]
    waist = 0.235 + b.vary("waist", 0.02)
    low = 0.84 + b.vary("length", 0.09)
    hem = waist + 0.09 + flare + b.vary("hem", 0.03)
    body = Body(
        neck=0.165 + b.vary("neck", 0.025),
        top=-0.88,
        shoulder=(0.315, -0.825),
        armpit=(0.285, -0.54),
        waist=waist,
        hem=waist,
        bottom=WAIST + 0.01,
    )
    sleeveless = detail == "sleeveless"
    dip = 0.19 + b.vary("dip", 0.05) if sleeveless else 0.12
    arm = Arm(angle=58 - 9 * b.posture.spread, length=0.24 + b.vary("arm", 0.03), cuff=0.12)
    hang = Hang(waist, waist + 0.065 + flare * 0.42, hem, WAIST - 0.005, low)
    parts = back_of_neck(b, body, dip, b.trim)
    if not sleeveless:
        parts += sleeve(b, body, arm, b.main, hem=0.03)
    parts.append(hanging_cloth(b, hang, bulge=0.08, lift=0.012))
    if detail == "tiered":
        parts += _tiers(b, hang)
    rim = Part(ribbon(neckline(body, dip), 0.022), b.trim, thin(0.01), lift=0.005)
    parts += [_bodice(b, body, dip), rim]
    if detail == "belted":
        parts += belt(b, waist + 0.004, WAIST)
    else:
        seam = ribbon(smooth([(-waist, WAIST), (0, WAIST + 0.018), (waist, WAIST)]), 0.014)
        parts.append(Part(seam, b.plain, thin(0.007), lift=0.003, shade=0.9))
    return Built(tuple(parts), focus=((0.0, -0.65), (0.0, -0.2), (0.1, 0.4)))
