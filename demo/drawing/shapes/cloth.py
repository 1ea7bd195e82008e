"""Pieces that garments share: torsos, sleeves, necks, hems, pockets and buttons."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from demo.drawing.parts import Crease, Groove, Paint, Part, Relief, thin
from demo.drawing.product import Build
from demo.drawing.shapes.outlines import Points, ellipse, flipped, mirrored, outline, ribbon, smooth


@dataclass(frozen=True)
class Body:
    """Measures of a top, of its right half.

    Attributes:
        neck: half width of the neck opening.
        top: y of the neck's ends.
        shoulder: where the sleeve begins.
        armpit: where it ends below.
        waist: half width at y = 0.3.
        hem: half width at the hem.
        bottom: y of the hem.
    """

    neck: float
    top: float
    shoulder: tuple[float, float]
    armpit: tuple[float, float]
    waist: float
    hem: float
    bottom: float


@dataclass(frozen=True)
class Arm:
    """Measures of a sleeve: degrees below the horizontal, length, half width at its end."""

    angle: float
    length: float
    cuff: float


WIDTHS = {"slim": -0.055, "regular": 0.0, "wide": 0.085}


def measured(b: Build, *, neck: float, bottom: float) -> Body:
    """Take a top's measures from its cut and its own deviations."""
    wide = WIDTHS[b.product.cut] + b.vary("wide", 0.02)
    waist = 0.43 + wide * 1.15 - (0.03 if b.product.cut == "slim" else 0.0)
    drop = max(0.0, wide) * 0.5
    return Body(
        neck=neck + b.vary("neck", 0.02),
        top=-0.76,
        shoulder=(0.47 + wide * 0.9, -0.655 + drop + b.vary("slope", 0.015)),
        armpit=(0.425 + wide, -0.24 + drop),
        waist=waist,
        hem=0.445 + wide * 1.1 + b.vary("hem", 0.03),
        bottom=bottom + b.vary("bottom", 0.05),
    )


def torso(body: Body, dip: float) -> Points:
    """Outline of the front of a top, with a neckline that dips to `dip` below its ends."""
    low = body.top + dip
    return mirrored(
        (0.0, low), (body.neck * 0.66, low - dip * 0.28), (body.neck, body.top, "c"),
        (*body.shoulder, "c"),
        (body.shoulder[0] - 0.045, -0.45), (*body.armpit, "c"), (body.waist, 0.28),
        (body.hem, body.bottom, "c"), (0.0, body.bottom + 0.07),
    )  # fmt: skip


def neckline(body: Body, dip: float) -> Points:
    """The line of the neck opening, from left to right."""
    low = body.top + dip
    side = (body.neck * 0.66, low - dip * 0.28)
    return smooth(
        [(-body.neck, body.top), (-side[0], side[1]), (0.0, low), side, (body.neck, body.top)]
    )


def torso_creases(b: Build, body: Body) -> tuple[Crease, ...]:
    """Folds that run from the armpits and across the waist, new in each picture."""
    rng = b.posture.rng
    folds = []
    for side in (-1.0, 1.0):
        for _ in range(3):
            start = (side * (body.armpit[0] - 0.01), body.armpit[1] + rng.uniform(-0.05, 0.12))
            stop = (side * rng.uniform(-0.05, 0.25), start[1] + rng.uniform(0.1, 0.5))
            height = rng.uniform(0.01, 0.028)
            folds.append(Crease(start, stop, rng.uniform(0.014, 0.03), height))
        for _ in range(2):
            y = rng.uniform(0.1, body.bottom - 0.1)
            start = (side * body.waist, y)
            stop = (side * rng.uniform(0.0, 0.2), y + rng.uniform(-0.16, 0.1))
            height = rng.uniform(0.008, 0.018)
            folds.append(Crease(start, stop, rng.uniform(0.015, 0.03), height))
    return tuple(folds)


def arm_point(arm: Arm, body: Body, side: float, *, share: float) -> tuple[float, float]:
    """A point across (-1 to 1) and along (share) a right sleeve."""
    a = np.radians(arm.angle)
    sx, sy = body.shoulder
    ax, ay = body.armpit
    middle = ((sx + ax) / 2, (sy + ay) / 2)
    half = 0.5 * float(np.hypot(ax - sx, ay - sy)) * 0.9
    width = half + (arm.cuff - half) * share
    reach = arm.length * share
    return (
        middle[0] + np.cos(a) * reach - np.sin(a) * width * side,
        middle[1] + np.sin(a) * reach + np.cos(a) * width * side,
    )


def sleeve(b: Build, body: Body, arm: Arm, paint: Paint) -> list[Part]:
    """Both sleeves, each with its folds and the seam of its hem."""
    ends = [arm_point(arm, body, s, share=1.0) for s in (-1.0, 1.0)]
    out = (np.sin(np.radians(arm.angle)) * 0.02, -np.cos(np.radians(arm.angle)) * 0.02)
    sx, sy = body.shoulder
    shape = outline(
        (sx - 0.07, sy - 0.008, "c"), (sx + 0.01, sy + 0.018),
        (0.55 * sx + 0.45 * ends[0][0] + out[0], 0.55 * sy + 0.45 * ends[0][1] + out[1]),
        (*ends[0], "c"), (*ends[1], "c"),
        (0.5 * (body.armpit[0] + ends[1][0]), 0.5 * (body.armpit[1] + ends[1][1]) - 0.008),
        (body.armpit[0], body.armpit[1] + 0.01, "c"), (sx - 0.2, body.armpit[1], "c"),
    )  # fmt: skip
    share = 1 - 0.045 / arm.length
    seam = np.array([arm_point(arm, body, s, share=share) for s in (-0.97, 0.97)])
    rng = b.posture.rng
    folds = []
    for _ in range(2 if arm.length < 0.5 else 6):
        at, down = rng.uniform(0.1, 0.7), rng.uniform(0.08, 0.3)
        start, stop = (
            arm_point(arm, body, 0.9, share=at),
            arm_point(arm, body, rng.uniform(-0.8, 0.2), share=min(1.0, at + down)),
        )
        folds.append(Crease(start, stop, rng.uniform(0.012, 0.024), rng.uniform(0.008, 0.02)))
    right = Part(
        outline=shape,
        paint=paint,
        relief=Relief(edge=0.022, bulge=0.09, spread=0.07, wrinkles=0.004, creases=tuple(folds)),
        grooves=(sewn(b, seam),),
        origin=body.shoulder,
        angle=arm.angle - 90,
        lift=0.012,
    )
    return [right, mirrored_part(right)]


def mirrored_part(part: Part) -> Part:
    """The same part on the other side."""
    relief = part.relief
    folds = tuple(
        replace(c, start=(-c.start[0], c.start[1]), stop=(-c.stop[0], c.stop[1]))
        for c in relief.creases
    )
    return replace(
        part,
        outline=flipped(part.outline),
        relief=replace(relief, creases=folds),
        holes=tuple(flipped(h) for h in part.holes),
        grooves=tuple(
            replace(g, lines=tuple(flipped(line) for line in g.lines)) for g in part.grooves
        ),
        origin=(-part.origin[0], part.origin[1]),
        angle=-part.angle,
    )


def back_of_neck(b: Build, body: Body, depth: float, rib: Paint) -> list[Part]:
    """What one sees through the neck opening: the inside of the back, its rib, a label."""
    top = body.top
    back = outline(
        (-body.neck + 0.005, top + 0.012, "c"), (-body.neck * 0.5, top - 0.03),
        (0.0, top - 0.04), (body.neck * 0.5, top - 0.03), (body.neck - 0.005, top + 0.012, "c"),
        (body.neck * 0.8, top + depth + 0.05, "c"), (-body.neck * 0.8, top + depth + 0.05, "c"),
    )  # fmt: skip
    line = smooth([
        (-body.neck + 0.012, top + 0.012), (-body.neck * 0.5, top - 0.018), (0, top - 0.026),
        (body.neck * 0.5, top - 0.018), (body.neck - 0.012, top + 0.012),
    ])  # fmt: skip
    label = outline(
        (-0.04, top + 0.01, "c"), (0.04, top + 0.01, "c"), (0.04, top + 0.06, "c"),
        (-0.04, top + 0.06, "c"),
    )  # fmt: skip
    return [
        Part(back, b.inside, thin(0.02), lift=0.0, shade=0.55),
        Part(ribbon(line, 0.04), rib, thin(0.012), lift=0.008, shade=0.8),
        Part(label, b.of("cotton", "#f2f0ea"), thin(0.004), lift=0.004, shade=0.7),
    ]


def sewn(b: Build, *lines: Points) -> Groove:
    """Visible stitching along the lines."""
    return Groove(lines, width=0.006, depth=0.003, dash=(0.018, 0.01), thread=b.thread)


def hem_stitches(b: Build, body: Body, rise: float = 0.04) -> Groove:
    """Two lines of thread along the hem."""
    xs = np.linspace(-body.hem + 0.005, body.hem - 0.005, 24)
    lines = []
    for y in (body.bottom - rise, body.bottom - rise - 0.014):
        lines.append(np.stack([xs, y + 0.02 * (1 - (xs / body.hem) ** 2)], axis=1))
    return sewn(b, *lines)


def pocket(b: Build, x: float, y: float, width: float, paint: Paint) -> Part:
    """A patch pocket with a folded upper edge, its top middle at (x, y)."""
    half, height = width / 2, 0.22
    shape = outline(
        (x - half, y, "c"), (x + half, y, "c"), (x + half, y + height * 0.8, "c"),
        (x, y + height, "c"), (x - half, y + height * 0.8, "c"),
    )  # fmt: skip
    inner = half - 0.012
    edge = np.array(
        [
            (x - inner, y + 0.01),
            (x - inner, y + height * 0.79),
            (x, y + height - 0.015),
            (x + inner, y + height * 0.79),
            (x + inner, y + 0.01),
        ]
    )
    fold = np.array([(x - inner, y + 0.035), (x + inner, y + 0.035)])
    stitches = Groove((edge, fold), width=0.006, depth=0.002, dash=(0.016, 0.009), thread=b.thread)
    return Part(
        shape, paint, Relief(edge=0.008, bulge=0.008, spread=0.05), grooves=(stitches,), lift=0.010
    )


def button(b: Build, x: float, y: float, radius: float, paint: Paint) -> list[Part]:
    """A round button with its rim and four holes."""
    rim = ellipse(x, y, radius * 0.68, radius * 0.68, 20)
    holes = tuple(
        ellipse(x + dx * radius * 0.24, y + dy * radius * 0.24, radius * 0.09, radius * 0.09, 6)
        for dx in (-1, 1)
        for dy in (-1, 1)
    )
    lines = Groove((np.vstack([rim, rim[:1]]),), width=radius * 0.16, depth=radius * 0.18)
    dark = Groove(holes, width=radius * 0.2, depth=0.0, thread=(0.02, 0.02, 0.02))
    return [
        Part(
            ellipse(x, y, radius, radius, 28),
            paint,
            thin(radius * 0.35),
            grooves=(lines, dark),
            lift=0.008,
        )
    ]


def cuffs(b: Build, body: Body, arm: Arm, paint: Paint, *, depth: float) -> list[Part]:
    """Bands at the ends of long sleeves."""
    a, c = (arm_point(arm, body, s * 1.12, share=1 - depth / arm.length) for s in (-1.0, 1.0))
    d, e = (arm_point(arm, body, s * 1.12, share=1.02) for s in (-1.0, 1.0))
    shape = outline((*a, "c"), (*c, "c"), (*e, "c"), (*d, "c"))
    right = Part(
        shape,
        paint,
        Relief(edge=0.014, bulge=0.03, spread=0.04),
        origin=body.shoulder,
        angle=arm.angle - 90,
        lift=0.008,
    )
    return [right, mirrored_part(right)]


def placket(b: Build, body: Body, top: float) -> list[Part]:
    """The front edge of a shirt with its buttons."""
    half = 0.036
    low = body.bottom + 0.03
    strip = outline((-half, top, "c"), (half, top, "c"), (half, low, "c"), (-half, low, "c"))
    sides = tuple(np.array([(x, top), (x, low)]) for x in (-half + 0.008, half - 0.008))
    stitches = Groove(sides, width=0.005, depth=0.002, dash=(0.016, 0.009), thread=b.thread)
    paint = b.accent
    parts = [Part(strip, paint, thin(0.01), grooves=(stitches,), lift=0.008)]
    shell = b.of("plastic", "#f1ece0" if b.pick("shell", 2) else "#4a3c33")
    for y in np.linspace(top + 0.09, body.bottom - 0.12, 6):
        parts += button(b, 0.0, float(y), 0.021, shell)
    return parts
