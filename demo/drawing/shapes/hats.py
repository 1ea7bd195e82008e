"""Hats: bucket hats, fedoras, beanies and caps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demo.drawing.parts import Crease, Groove, Paint, Part, Relief, thin
from demo.drawing.product import Build, Built
from demo.drawing.shapes.cloth import sewn
from demo.drawing.shapes.outlines import Points, ellipse, mirrored, outline, ribbon, smooth

GROUND = 0.46


def _rows(half: float, top: float, low: float, sag: float, count: int) -> tuple[Points, ...]:
    """Lines of stitching around a brim."""
    return tuple(
        smooth([(-half * w, y), (0, y + sag), (half * w, y)])
        for y, w in zip(np.linspace(top, low, count), np.linspace(0.8, 0.98, count), strict=True)
    )


def _bucket(b: Build) -> list[Part]:
    crown = 0.42 + b.vary("crown", 0.03)
    top, seam = -0.42 + b.vary("height", 0.06), 0.1
    brim = 0.74 + b.vary("brim", 0.06)
    head = mirrored(
        (0, top - 0.03), (crown * 0.5, top - 0.02), (crown * 0.84, top + 0.04),
        (crown, seam, "c"), (0, seam + 0.07),
    )  # fmt: skip
    edge = mirrored(
        (0, seam + 0.02), (crown, seam - 0.05, "c"), (brim * 0.85, seam + 0.18),
        (brim, GROUND - 0.1, "c"), (brim * 0.55, GROUND - 0.02), (0, GROUND),
    )  # fmt: skip
    stitches = Groove(
        _rows(brim, seam + 0.12, GROUND - 0.13, 0.09, 5),
        width=0.006,
        depth=0.004,
        dash=(0.018, 0.01),
        thread=b.thread,
    )
    lid = Groove(
        (smooth([(-crown * 0.84, top + 0.05), (0, top + 0.10), (crown * 0.84, top + 0.05)]),),
        width=0.01,
        depth=0.008,
    )
    return [
        Part(
            edge,
            b.main,
            Relief(edge=0.02, bulge=0.08, spread=0.09, wrinkles=0.004),
            grooves=(stitches,),
            lift=0,
        ),
        Part(
            head,
            b.main,
            Relief(edge=0.05, bulge=0.2, spread=0.14, wrinkles=0.006),
            grooves=(lid,),
            lift=0.02,
        ),
    ]


def _fedora(b: Build) -> list[Part]:
    crown, top = 0.42 + b.vary("crown", 0.03), -0.46 + b.vary("height", 0.05)
    brim, y = 0.88 + b.vary("brim", 0.05), 0.24
    under = outline(
        (-brim, y + 0.0), (-brim * 0.9, y + 0.085), (-brim * 0.5, y + 0.19), (0, y + 0.235),
        (brim * 0.5, y + 0.19), (brim * 0.9, y + 0.085), (brim, y + 0.0),
        (brim * 0.9, y - 0.04), (brim * 0.5, y - 0.06), (0, y - 0.1), (-brim * 0.5, y - 0.06),
        (-brim * 0.9, y - 0.04),
    )  # fmt: skip
    head = outline(
        (-crown, y + 0.06, "c"), (-crown * 0.95, -0.1), (-crown * 0.72, top + 0.06),
        (-crown * 0.36, top), (0.0, top + 0.045), (crown * 0.4, top), (crown * 0.74, top + 0.1),
        (crown * 0.95, -0.08), (crown, y + 0.06, "c"), (0, y + 0.15),
    )  # fmt: skip
    pinch = tuple(
        Crease((s * crown * 0.3, top + 0.02), (s * crown * 0.5, 0.0), 0.05, -0.05) for s in (-1, 1)
    )
    dent = Crease((-0.02, top + 0.02), (0.02, top + 0.3), 0.06, -0.05)
    parts = [
        Part(under, b.main, Relief(edge=0.02, bulge=0.07, spread=0.09), lift=0),
        Part(
            head,
            b.main,
            Relief(edge=0.05, bulge=0.2, spread=0.12, creases=(*pinch, dent)),
            lift=0.02,
        ),
    ]
    return [*parts, *_silk_band(b, crown, y)]


def _silk_band(b: Build, crown: float, y: float) -> list[Part]:
    """The band of a fedora, with or without its bow."""
    silk = replace(b.contrast, material=b.dyed("silk").material)
    parts: list[Part] = []
    band_line = smooth([(-crown * 1.0, y - 0.02), (0, y + 0.07), (crown * 1.0, y - 0.02)])
    if b.product.detail != "plain":
        parts.append(
            Part(
                ribbon(band_line, 0.12),
                silk,
                Relief(edge=0.014, bulge=0.05, spread=0.06),
                lift=0.008,
            )
        )
    if b.product.detail == "bow":
        bow = outline(
            (crown * 0.62, y - 0.07, "c"), (crown * 0.82, y - 0.1),
            (crown * 0.98, y - 0.02, "c"), (crown * 0.96, y + 0.06),
            (crown * 0.66, y + 0.1, "c"),
        )  # fmt: skip
        parts.append(Part(bow, silk, Relief(edge=0.02, bulge=0.05, spread=0.04), lift=0.016))
    return parts


def _knitting(
    half: float, top: float, fold: float
) -> tuple[tuple[Points, ...], tuple[Points, ...]]:
    """The ribs of a beanie's band, and the columns of stitches above it."""
    xs = np.linspace(-0.94, 0.94, 21)
    ribs = tuple(np.array([(x * half * 1.03, fold), (x * half * 1.02, GROUND)]) for x in xs)
    steps = ((0.98, fold), (0.8, top + 0.2), (0.18, top + 0.02))
    return ribs, tuple(smooth([(x * half * w, y) for w, y in steps]) for x in xs[::2])


def _beanie(b: Build) -> list[Part]:
    half, top = 0.5 + b.vary("crown", 0.03), -0.42 + b.vary("height", 0.07)
    fold = 0.2 + b.vary("fold", 0.04)
    low = GROUND
    head = mirrored(
        (0, top), (half * 0.55, top + 0.06), (half * 0.92, top + 0.34),
        (half, low - fold + 0.05, "c"), (0, low - fold + 0.1),
    )  # fmt: skip
    band = mirrored(
        (0, low - fold + 0.02), (half * 1.02, low - fold - 0.02, "c"),
        (half * 1.07, low - 0.06), (half * 1.0, low - 0.015, "c"), (0, low + 0.02),
    )  # fmt: skip
    ribs, lines = _knitting(half, top, low - fold)
    yarn = replace(b.trim, material=b.dyed("knit").material)
    parts = [
        Part(
            head,
            b.main,
            Relief(edge=0.06, bulge=0.26, spread=0.16, wrinkles=0.006),
            grooves=(Groove(lines, width=0.014, depth=0.01),),
            lift=0,
        ),
        Part(
            band,
            yarn,
            Relief(edge=0.03, bulge=0.1, spread=0.09),
            grooves=(Groove(ribs, width=0.016, depth=0.012),),
            lift=0.02,
        ),
    ]
    if b.product.detail == "pompom":
        parts.append(_pompom(yarn, top))
    if b.product.detail == "patch":
        parts.append(_patch(b, 0.16, low - fold / 2 + 0.01))
    return parts


def _pompom(yarn: Paint, top: float) -> Part:
    rng = np.random.default_rng(5)
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    fuzz = 0.16 + 0.012 * rng.standard_normal(60)
    ball = np.stack([fuzz * np.cos(angles), top - 0.08 + fuzz * np.sin(angles)], axis=1)
    relief = Relief(edge=0.06, bulge=0.12, spread=0.07, wrinkles=0.02, grid=(0.03, 0.03))
    return Part(ball, yarn, relief, lift=0.01)


def _patch(b: Build, x: float, y: float) -> Part:
    shape = outline(
        (x - 0.08, y - 0.05, "c"), (x + 0.08, y - 0.05, "c"), (x + 0.08, y + 0.05, "c"),
        (x - 0.08, y + 0.05, "c"),
    )  # fmt: skip
    edge = np.vstack([(shape - (x, y)) * 0.84 + (x, y), ((shape - (x, y)) * 0.84 + (x, y))[:1]])
    return Part(
        shape,
        b.of("leather", "#8a5a34"),
        thin(0.01),
        grooves=(
            Groove((edge,), width=0.006, depth=0.003, dash=(0.016, 0.01), thread=(0.8, 0.7, 0.5)),
        ),
        lift=0.01,
    )


def _cap_stitches(b: Build, half: float, top: float, y: float) -> tuple[Groove, Groove]:
    """The seams of a cap's panels, and the thread on its visor."""
    seams = Groove(
        (
            smooth([(0.02, top), (0.12, 0.0), (0.1, y + 0.05)]),
            smooth([(0.0, top), (-0.24, -0.1), (-0.3, y + 0.03)]),
            smooth([(0.03, top), (0.34, -0.1), (half * 0.9, y - 0.04)]),
        ),
        width=0.009,
        depth=0.008,
    )
    rows = [
        [(0.04, 0.05 + 0.02 * i), (0.45, -0.005 + 0.026 * i), (0.8 + 0.01 * i, 0.03 + 0.022 * i)]
        for i in range(4)
    ]
    return seams, sewn(b, *(smooth([(x, y + dy) for x, dy in row]) for row in rows))


def _cap(b: Build) -> list[Part]:
    half, top = 0.46 + b.vary("crown", 0.03), -0.38 + b.vary("height", 0.05)
    y = 0.28
    head = outline(
        (-half - 0.05, y, "c"), (-half * 1.02, 0.0), (-half * 0.66, top + 0.08), (0.0, top),
        (half * 0.66, top + 0.09), (half * 0.98, 0.02), (half, y - 0.02, "c"), (0.0, y + 0.09),
    )  # fmt: skip
    visor = outline(
        (-half * 0.25, y + 0.02, "c"), (half * 0.4, y - 0.03), (half + 0.0, y - 0.09, "c"),
        (0.72, y - 0.03), (0.9, y + 0.09), (0.86, y + 0.13), (0.5, y + 0.10), (0.1, y + 0.13),
    )  # fmt: skip
    seams, stitches = _cap_stitches(b, half, top, y)
    brim = b.accent
    parts = [
        Part(
            head,
            b.main,
            Relief(edge=0.05, bulge=0.24, spread=0.15, wrinkles=0.004),
            grooves=(seams,),
            lift=0,
        ),
        Part(
            visor, brim, Relief(edge=0.02, bulge=0.06, spread=0.06), grooves=(stitches,), lift=0.02
        ),
        Part(ellipse(0.01, top - 0.005, 0.04, 0.022), b.trim, thin(0.012), lift=0.004),
    ]
    if b.product.detail == "patch":
        parts.append(_patch(b, 0.24, 0.06))
    if b.product.detail == "badge":
        shape = ellipse(0.26, 0.04, 0.1, 0.12)
        parts.append(Part(shape, b.contrast, thin(0.012), lift=0.004))
    return parts


def hat(b: Build) -> Built:
    """A hat of the product's cut."""
    cut = {"bucket": _bucket, "fedora": _fedora, "beanie": _beanie, "cap": _cap}[b.product.cut]
    parts = cut(b)
    if b.product.cut == "bucket" and b.product.detail == "band":
        line = smooth([(-0.42, 0.04), (0, 0.12), (0.42, 0.04)])
        parts.append(
            Part(
                ribbon(line, 0.06),
                b.contrast,
                Relief(edge=0.012, bulge=0.03, spread=0.05),
                lift=0.006,
            )
        )
    if b.product.cut == "bucket" and b.product.detail == "patch":
        parts.append(_patch(b, 0.12, -0.12))
    bottom = max(float(p.outline[:, 1].max()) for p in parts)
    return Built(tuple(parts), focus=((0.1, -0.1), (0.3, 0.2), (-0.15, 0.0)), ground=bottom)
