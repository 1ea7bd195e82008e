"""Bags: totes, satchels and bucket bags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Groove, Paint, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import mirrored_part
from demo.drawing.shapes.outlines import Points, ellipse, outline, ribbon, smooth

GROUND = 0.74


def _metal(b: Build) -> Paint:
    return b.of("metal", ("#c6a253", "#b3b6ba", "#8a6a3a")[b.pick("metal", 3)])


def _inset(b: Build, shape: Points, by: float = 0.96) -> Groove:
    """Stitching that runs along the edge of a piece."""
    centre = (shape.max(axis=0) + shape.min(axis=0)) / 2
    reach = (shape.max(axis=0) - shape.min(axis=0)) / 2
    shrink = 1 - (1 - by) * reach.max() / reach
    line = (shape - centre) * shrink + centre
    return Groove(
        (np.vstack([line, line[:1]]),),
        width=0.007,
        depth=0.003,
        dash=(0.022, 0.012),
        thread=b.thread,
    )


def _leather(b: Build) -> Paint:
    """What straps are made of: leather in the trim's colour."""
    if b.product.trim == "contrast":
        return replace(b.contrast, material=b.of("leather", "#000000").material)
    brown = ("#7b4f2e", "#4c3021", "#a9764a")[b.pick("leather", 3)]
    if b.product.material == "canvas":
        return b.of("leather", brown)
    return replace(b.trim, material=b.of("leather", brown).material)


def _strap(line: Points, width: float, paint: Paint) -> Part:
    return Part(ribbon(line, width), paint, thin(width * 0.36), lift=0.018)


def _box(b: Build, top_half: float, low_half: float, top: float) -> Points:
    round_ = 0.05 + b.vary("corner", 0.02)
    return outline(
        (-top_half, top, "c"), (0.0, top + 0.012), (top_half, top, "c"),
        ((top_half + low_half) / 2 + 0.006, (top + GROUND) / 2),
        (low_half, GROUND - round_ * 1.6), (low_half - round_ * 0.35, GROUND - round_ * 0.35),
        (low_half - round_ * 1.6, GROUND), (-low_half + round_ * 1.6, GROUND),
        (-low_half + round_ * 0.35, GROUND - round_ * 0.35), (-low_half, GROUND - round_ * 1.6),
        (-(top_half + low_half) / 2 - 0.006, (top + GROUND) / 2),
    )  # fmt: skip


def _gusset(b: Build, shape: Points) -> list[Part]:
    """The side that shows when the bag is turned."""
    aside = 0.30 * np.sin(np.radians(b.posture.turn))
    if abs(aside) < 0.02:
        return []
    moved = np.add(shape, (-aside, -0.03))
    edge = np.vstack([shape, moved])
    low = edge[:, 1] > shape[:, 1].min()
    side = np.sign(-aside)
    near = shape[(shape[:, 0] * side > 0) & low[: len(shape)]]
    far = np.add(near, (-aside, -0.03))
    order = np.argsort(near[:, 1])
    panel = np.vstack([near[order], far[order][::-1]])
    return [Part(panel, b.inside, thin(0.02), lift=0.0, shade=0.75)]


def _tote(b: Build) -> Built:
    top_half, low_half = 0.58 + b.vary("wide", 0.05), 0.53 + b.vary("foot", 0.05)
    top = -0.2 + b.vary("height", 0.07)
    shape = _box(b, top_half, low_half, top)
    body = Part(
        shape,
        b.main,
        Relief(edge=0.025, bulge=0.10, spread=0.13, wrinkles=0.007),
        lift=0.0,
        grooves=(_inset(b, shape),),
    )
    leather = _leather(b)
    x, rise = 0.24 + b.vary("strap", 0.04), -0.62 + b.vary("rise", 0.08)
    lean = 0.06 * b.posture.sway
    back = smooth([
        (-x + 0.03, top), (-x * 0.8 + lean, rise + 0.02), (lean, rise - 0.12),
        (x * 0.8 + lean, rise + 0.02), (x + 0.03, top),
    ])  # fmt: skip
    front = smooth([
        (-x, top + 0.16), (-x, top - 0.02), (-x * 0.8, rise + 0.14), (0.0, rise + 0.02),
        (x * 0.8, rise + 0.14), (x, top - 0.02), (x, top + 0.16),
    ])  # fmt: skip
    inner = outline(
        (-top_half + 0.01, top, "c"), (0, top - 0.05), (top_half - 0.01, top, "c"), (0, top + 0.03)
    )
    parts = [
        _strap(back, 0.05, leather),
        Part(inner, b.inside, thin(0.01), lift=0, shade=0.5),
        *_gusset(b, shape),
        body,
    ]
    if b.product.detail == "leather base":
        parts.append(_base(shape, leather))
    if b.product.detail == "front pocket":
        parts.append(_front_pocket(b, top))
    parts.append(_strap(front, 0.052, leather))
    for s in (-1, 1):
        parts.append(Part(ellipse(s * x, top + 0.135, 0.014, 0.014, 16), _metal(b), thin(0.007)))
    return Built(tuple(parts), focus=((0.2, -0.1), (0.0, 0.3), (-0.2, 0.1)), ground=GROUND)


def _base(shape: Points, leather: Paint) -> Part:
    """The lowest part of a bag, in leather."""
    low = np.clip(shape, (-9, GROUND - 0.26), (9, 9))
    return Part(low, leather, Relief(edge=0.02, bulge=0.07, spread=0.1), lift=0.004)


def _front_pocket(b: Build, top: float) -> Part:
    shape = outline(
        (-0.27, top + 0.32, "c"), (0.27, top + 0.32, "c"), (0.26, GROUND - 0.14, "c"),
        (-0.26, GROUND - 0.14, "c"),
    )  # fmt: skip
    relief = Relief(edge=0.012, bulge=0.03, spread=0.06)
    return Part(shape, b.main, relief, grooves=(_inset(b, shape, 0.94),), lift=0.014)


def _flap(b: Build, half: float, top: float, low: float) -> Part:
    shape = outline(
        (-half - 0.012, top, "c"), (0, top - 0.015), (half + 0.012, top, "c"),
        (half + 0.008, low - 0.16), (half - 0.08, low - 0.02), (0, low),
        (-half + 0.08, low - 0.02), (-half - 0.008, low - 0.16),
    )  # fmt: skip
    return Part(
        shape,
        b.main,
        Relief(edge=0.022, bulge=0.05, spread=0.09, wrinkles=0.002),
        grooves=(_inset(b, shape),),
        lift=0.024,
    )


def _closed(b: Build, half: float, top: float, low: float) -> list[Part]:
    """What keeps a satchel's flap shut."""
    metal, parts = _metal(b), []
    if b.product.detail == "two buckles":
        for x in (-half * 0.55, half * 0.55):
            strap = np.array([(x, top + 0.12), (x, low + 0.13)])
            frame = outline(
                (x - 0.05, low - 0.06, "c"), (x + 0.05, low - 0.06, "c"),
                (x + 0.05, low + 0.03, "c"), (x - 0.05, low + 0.03, "c"),
            )  # fmt: skip
            hole = (frame - (x, low - 0.015)) * 0.68 + (x, low - 0.015)
            parts.append(_strap(strap, 0.075, _leather(b)))
            parts.append(Part(frame, metal, thin(0.009), holes=(hole,), lift=0.01))
        return parts
    plate = outline(
        (-0.06, low - 0.07, "c"), (0.06, low - 0.07, "c"), (0.05, low + 0.05),
        (-0.05, low + 0.05),
    )  # fmt: skip
    return [
        Part(plate, metal, thin(0.014), lift=0.012),
        Part(ellipse(0, low, 0.02, 0.02, 18), metal, thin(0.01), lift=0.006),
    ]


def _satchel(b: Build) -> Built:
    half, top = 0.62 + b.vary("wide", 0.05), -0.14 + b.vary("height", 0.06)
    low = 0.36 + b.vary("flap", 0.07)
    shape = _box(b, half, half + 0.01, top)
    leather = _leather(b)
    lean = 0.05 * b.posture.sway
    handle = smooth([
        (-0.2, top + 0.01), (-0.19, top - 0.13), (lean, top - 0.2), (0.19, top - 0.13),
        (0.2, top + 0.01),
    ])  # fmt: skip
    long_strap = smooth([
        (-half + 0.01, top + 0.1), (-half - 0.01 + lean, top - 0.3), (-0.3 + lean, -0.75),
        (0.3 + lean, -0.75), (half + 0.01 + lean, top - 0.3), (half - 0.01, top + 0.1),
    ])  # fmt: skip
    parts = []
    if b.product.detail != "top handle":
        parts.append(_strap(long_strap, 0.042, leather))
    parts += [
        *_gusset(b, shape),
        Part(shape, b.main, Relief(edge=0.025, bulge=0.08, spread=0.1), lift=0.0),
    ]
    if b.product.detail == "top handle":
        parts.append(_strap(handle, 0.055, leather))
    parts.append(_flap(b, half, top, low))
    parts += _closed(b, half, top, low)
    return Built(tuple(parts), focus=((0.0, 0.3), (0.25, 0.1), (-0.3, 0.2)), ground=GROUND)


def _tassels(top: float, lean: float, leather: Paint) -> list[Part]:
    """The two ends of a bucket bag's cord."""
    tails = [
        smooth([(x * s, top + 0.14 + y * length) for x, y in ((0.02, 0), (0.05, 0.5), (0.06, 1))])
        for s, length in ((-1, 0.24), (1, 0.3))
    ]
    return [
        Part(
            ribbon(tail + np.array([lean, 0]) * np.linspace(0, 1, len(tail))[:, None], 0.018, 0.05),
            leather,
            thin(0.01),
        )
        for tail in tails
    ]


def _loop(b: Build, x: float, y: float) -> Part:
    """A metal ring that holds a strap."""
    hole = ellipse(x, y, 0.02, 0.02, 16)
    return Part(ellipse(x, y, 0.035, 0.035, 24), _metal(b), thin(0.01), holes=(hole,))


def _bucket(b: Build) -> Built:
    top, half = -0.16 + b.vary("height", 0.06), 0.42 + b.vary("wide", 0.05)
    shape = outline(
        (-half * 0.92, top, "c"), (0, top - 0.05), (half * 0.92, top, "c"),
        (half * 0.96, top + 0.1), (half * 1.12, 0.35), (half * 1.14, GROUND - 0.1),
        (half * 0.95, GROUND, "c"), (0, GROUND + 0.02), (-half * 0.95, GROUND, "c"),
        (-half * 1.14, GROUND - 0.1), (-half * 1.12, 0.35), (-half * 0.96, top + 0.1),
    )  # fmt: skip
    leather = _leather(b)
    lean = 0.07 * b.posture.sway
    strap = smooth([
        (-half * 0.9, top + 0.08), (-half * 0.75 + lean, -0.55), (lean, -0.82),
        (half * 0.75 + lean, -0.55), (half * 0.9, top + 0.08),
    ])  # fmt: skip
    inner = outline(
        (-half * 0.9, top, "c"), (0, top - 0.07), (half * 0.9, top, "c"), (0, top + 0.05)
    )
    xs = np.linspace(-half * 0.85, half * 0.85, 9)
    lines = tuple(np.array([(x * 0.9, top + 0.01), (x, top + 0.15)]) for x in xs)
    gathers = Groove(lines, width=0.02, depth=0.016)
    relief = Relief(edge=0.03, bulge=0.16, spread=0.13, wrinkles=0.006)
    body = Part(shape, b.main, relief, lift=0, grooves=(gathers,))
    cord = smooth([(-half * 0.95, top + 0.1), (0, top + 0.14), (half * 0.95, top + 0.1)])
    inside = Part(inner, b.inside, thin(0.01), lift=0, shade=0.45)
    parts = [_strap(strap, 0.05, leather), inside, body, _strap(cord, 0.022, leather)]
    if b.product.detail == "tassel":
        parts += _tassels(top, lean, leather)
    if b.product.detail == "leather base":
        parts.append(_base(shape, leather))
    loop = _loop(b, half * 0.9, top + 0.07)
    return Built(
        (*parts, loop, mirrored_part(loop)),
        focus=((0.0, 0.0), (0.15, 0.3), (0.2, -0.1)),
        ground=GROUND,
    )


def bag(b: Build) -> Built:
    """A bag of the product's cut."""
    return {"tote": _tote, "satchel": _satchel, "bucket": _bucket}[b.product.cut](b)
