"""Coats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Crease, Drape, Groove, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import Arm, Body, arm_point, button, mirrored_part, sleeve
from demo.drawing.shapes.outlines import outline, ribbon, smooth

CUTS = {"slim": (0.0, 0.0), "straight": (0.035, 0.06), "cocoon": (0.075, -0.015)}


def _body(b: Build) -> Body:
    wide, hem = CUTS[b.product.cut]
    return Body(
        neck=0.15,
        top=-0.86,
        shoulder=(0.37 + wide * 0.7, -0.77),
        armpit=(0.34 + wide, -0.42),
        waist=0.32 + wide * 1.5,
        hem=0.36 + wide + hem + b.vary("hem", 0.02),
        bottom=0.8 + b.vary("length", 0.1),
    )


def _half(b: Build, body: Body, overlap: float) -> Part:
    """The right half of the front; it laps `overlap` over the middle."""
    bulgy = 0.05 if b.product.cut == "cocoon" else 0.0
    waist = body.waist - (0.035 if b.product.detail == "belted" else 0.0)
    shape = outline(
        (body.neck * 0.9, body.top, "c"), (*body.shoulder, "c"),
        (body.shoulder[0] - 0.03, -0.6), (*body.armpit, "c"), (waist, -0.08),
        (body.waist + bulgy + 0.02, 0.3), (body.hem, body.bottom, "c"),
        (body.hem * 0.4, body.bottom + 0.022), (-overlap, body.bottom + 0.025, "c"),
        (-overlap, -0.3), (-overlap, -0.42, "c"),
    )  # fmt: skip
    rng = b.posture.rng
    folds = tuple(
        Crease(
            (body.armpit[0] - 0.01, rng.uniform(-0.42, -0.2)),
            (rng.uniform(0.05, 0.15), rng.uniform(-0.2, 0.2)),
            rng.uniform(0.014, 0.026),
            rng.uniform(0.006, 0.016),
        )
        for _ in range(3)
    )
    drape = Drape(
        apex=(0.02, -1.6),
        count=22,
        height=0.016,
        top=-0.05,
        bottom=body.bottom,
        phase=float(rng.uniform(0, 6)),
    )
    edge = np.array([(-overlap + 0.018, -0.4), (-overlap + 0.018, body.bottom)])
    hem = smooth([
        (-overlap, body.bottom - 0.025), (body.hem * 0.4, body.bottom - 0.028),
        (body.hem, body.bottom - 0.05),
    ])  # fmt: skip
    stitches = Groove((edge, hem), width=0.006, depth=0.003, dash=(0.02, 0.01), thread=b.thread)
    return Part(
        shape,
        b.main,
        Relief(edge=0.022, bulge=0.11, spread=0.11, wrinkles=0.005, creases=folds, drape=drape),
        grooves=(stitches,),
        lift=0.02,
    )


def _lapels(b: Build, body: Body, meet: float) -> list[Part]:
    """Collar and lapels, both sides."""
    n, top = body.neck, body.top
    wide = 0.075 + b.vary("lapel", 0.02)
    lapel = outline(
        (0.0, meet, "c"), (n * 0.55 + wide, top + 0.31), (n + wide * 0.85, top + 0.225, "c"),
        (n + 0.015, top + 0.19, "c"), (n * 0.72, top + 0.02, "c"), (n * 0.35, top + 0.25),
    )  # fmt: skip
    collar = outline(
        (n * 0.62, top - 0.055, "c"), (n + 0.04, top - 0.01), (n + 0.115, top + 0.12, "c"),
        (n + 0.01, top + 0.19, "c"), (n * 0.75, top + 0.06),
    )  # fmt: skip
    paint = b.accent
    pieces = [
        Part(lapel, paint, Relief(edge=0.016, bulge=0.04, spread=0.06), angle=20, lift=0.022),
        Part(collar, b.trim, Relief(edge=0.016, bulge=0.05, spread=0.05), angle=35, lift=0.02),
    ]
    return [p for piece in pieces for p in (mirrored_part(piece), piece)]


def _inside(b: Build, body: Body) -> list[Part]:
    n, top = body.neck, body.top
    back = outline(
        (-n, top + 0.01, "c"), (0, top - 0.05), (n, top + 0.01, "c"), (n, top + 0.4, "c"),
        (-n, top + 0.4, "c"),
    )  # fmt: skip
    roll = smooth([
        (-n, top + 0.01), (-n * 0.5, top - 0.045), (0, top - 0.055), (n * 0.5, top - 0.045),
        (n, top + 0.01),
    ])  # fmt: skip
    lining = replace(b.contrast, material=b.dyed("silk").material)
    return [
        Part(back, lining, thin(0.02), lift=0, shade=0.5),
        Part(ribbon(roll, 0.06), b.trim, thin(0.025), lift=0.012, shade=0.9),
    ]


def _pocket_flaps(b: Build, body: Body) -> list[Part]:
    x, y = body.waist * 0.6, 0.12 + b.vary("pocket", 0.05)
    if b.product.detail == "zipped":
        line = np.array([(x + 0.06, y - 0.1), (x + 0.02, y + 0.09)])
        part = Part(ribbon(line, 0.03), b.trim, thin(0.01), lift=0.01)
    else:
        flap = outline(
            (x - 0.085, y + 0.01, "c"), (x + 0.085, y - 0.012, "c"), (x + 0.09, y + 0.06, "c"),
            (x - 0.082, y + 0.085, "c"),
        )  # fmt: skip
        part = Part(flap, b.main, Relief(edge=0.012, bulge=0.02, spread=0.04), lift=0.014)
    return [mirrored_part(part), part]


def _fastened(b: Build, body: Body, meet: float) -> list[Part]:
    """Buttons, a zip or a belt."""
    detail = b.product.detail
    shell = b.of("plastic", ("#3a2e27", "#241f1d", "#c8b48c")[b.pick("shell", 3)])
    if detail == "zipped":
        line = np.array([(0.0, body.top + 0.15), (0.0, body.bottom - 0.02)])
        teeth = Groove(
            (line,), width=0.014, depth=0.004, dash=(0.010, 0.008), thread=(0.55, 0.54, 0.52)
        )
        pull = outline(
            (-0.012, meet + 0.05, "c"), (0.012, meet + 0.05, "c"), (0.017, meet + 0.13),
            (-0.017, meet + 0.13),
        )  # fmt: skip
        return [
            Part(ribbon(line, 0.045), b.trim, thin(0.01), grooves=(teeth,), lift=0.008),
            Part(pull, b.of("metal", "#b4b4b4"), thin(0.006), lift=0.01),
        ]
    columns = (-0.115, 0.115) if detail == "double-breasted" else (0.0,)
    rows = np.linspace(meet + 0.07, 0.36, 4 if detail != "belted" else 3)
    parts = [p for y in rows for x in columns for p in button(b, x, float(y), 0.032, shell)]
    if detail == "belted":
        parts += _tied_belt(b, body)
    return parts


def _tied_belt(b: Build, body: Body) -> list[Part]:
    half, y = body.waist - 0.01, -0.06
    band = outline(
        (-half, y - 0.035, "c"), (0, y - 0.02), (half, y - 0.035, "c"), (half, y + 0.03, "c"),
        (0, y + 0.048), (-half, y + 0.03, "c"),
    )  # fmt: skip
    soft = Relief(edge=0.014, bulge=0.03, spread=0.05)
    sway = 0.05 * b.posture.sway
    tails = [
        Part(
            ribbon(
                smooth([(0.03, y), (0.07 + sway, y + 0.16), (0.05 + 2 * sway, y + 0.36)]), 0.055
            ),
            b.trim,
            soft,
        ),
        Part(
            ribbon(
                smooth([(0.02, y), (-0.03 + sway, y + 0.13), (-0.04 + 2 * sway, y + 0.28)]), 0.055
            ),
            b.trim,
            soft,
        ),
    ]
    knot = outline((-0.03, y - 0.035), (0.06, y - 0.03), (0.065, y + 0.05), (-0.025, y + 0.055))
    return [
        Part(band, b.trim, soft),
        *tails,
        Part(knot, b.trim, Relief(edge=0.02, bulge=0.03, spread=0.04)),
    ]


def coat(b: Build) -> Built:
    """A coat on an invisible figure."""
    detail = b.product.detail
    body = _body(b)
    arm = Arm(angle=72 - 6 * b.posture.spread, length=0.88 + b.vary("arm", 0.03), cuff=0.1)
    double = detail == "double-breasted"
    meet = -0.36 if double else -0.28 + b.vary("meet", 0.06)
    if detail == "zipped":
        meet = -0.62
    left = mirrored_part(_half(b, body, 0.02))
    right = _half(b, body, 0.17 if double else 0.045)
    a, c = (arm_point(arm, body, s, share=0.86) for s in (-1.06, 1.06))
    strap = Part(
        ribbon(np.array([a, c]), 0.045),
        b.trim,
        Relief(edge=0.012, bulge=0.02, spread=0.03),
        lift=0.01,
    )
    parts = [
        *_inside(b, body),
        *sleeve(b, body, arm, b.main),
        strap,
        mirrored_part(strap),
        left,
        right,
    ]
    parts += _pocket_flaps(b, body)
    if detail == "zipped":
        stand = smooth([
            (-0.15, body.top), (-0.1, body.top + 0.13), (0, body.top + 0.17),
            (0.1, body.top + 0.13), (0.15, body.top),
        ])  # fmt: skip
        parts += [
            Part(
                ribbon(stand, 0.12), b.trim, Relief(edge=0.03, bulge=0.03, spread=0.05), lift=0.018
            )
        ]
    else:
        parts += _lapels(b, body, meet)
    return Built(
        (*parts, *_fastened(b, body, meet)), focus=((0.0, -0.55), (0.05, 0.0), (0.2, 0.15))
    )
