"""Curves from which silhouettes are built.

Product space: x grows to the right, y grows downwards, and a product fits in [-1, 1] on both
axes. A polyline or outline is an array of shape (n, 2), float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Vertex = tuple[float, float] | tuple[float, float, str]

STEPS_PER_SPAN = 9


def _span(knots: Points, steps: int) -> Points:
    """Sample the Catmull-Rom span between the middle two of four knots, its end left out."""
    p0, p1, p2, p3 = knots
    t = np.linspace(0.0, 1.0, steps, endpoint=False)[:, None]
    return np.asarray(
        0.5
        * (
            2 * p1
            + (p2 - p0) * t
            + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
            + (3 * p1 - p0 - 3 * p2 + p3) * t**3
        )
    )


def smooth(points: Sequence[tuple[float, float]] | Points, steps: int = STEPS_PER_SPAN) -> Points:
    """Thread an open smooth curve through the points (uniform Catmull-Rom spline).

    Args:
        points: shape (n, 2), n >= 2; the curve passes through each of them.
        steps: samples per span.

    Returns:
        Shape ((n - 1) * steps + 1, 2); two points give a straight line.
    """
    given = np.asarray(points, dtype=np.float64)
    if len(given) == 2:
        return given
    padded = np.vstack([2 * given[0] - given[1], given, 2 * given[-1] - given[-2]])
    spans = [_span(padded[i : i + 4], steps) for i in range(len(given) - 1)]
    return np.vstack([*spans, given[-1:]])


def outline(*vertices: Vertex) -> Points:
    """Close a silhouette through the vertices: smooth, but sharp where marked "c" (corner).

    Args:
        vertices: (x, y) for a smooth vertex, (x, y, "c") for a corner.

    Returns:
        Shape (n, 2), without repeating the first point at the end.
    """
    xy = [(v[0], v[1]) for v in vertices]
    first = next((i for i, v in enumerate(vertices) if len(v) == 3), None)
    if first is None:
        lap = smooth([*xy[-2:], *xy, *xy[:2]])
        return lap[2 * STEPS_PER_SPAN : -(STEPS_PER_SPAN + 1)]
    corners = [i for i, v in enumerate(vertices) if len(v) == 3]
    ring = [*xy[first:], *xy[: first + 1]]
    stops = [*(i - first for i in corners), len(xy)]
    runs = [smooth(ring[a : b + 1])[:-1] for a, b in pairwise(stops)]
    return np.vstack(runs)


def mirrored(*half: Vertex) -> Points:
    """Close a left-right symmetric silhouette from its right half.

    Args:
        half: vertices from the top centre (x = 0) to the bottom centre (x = 0).

    Returns:
        As `outline`; a vertex on the axis appears once.
    """
    back = [(-v[0], *v[1:]) for v in reversed(half) if abs(v[0]) > 1e-9]
    return outline(*half, *back)


def ellipse(cx: float, cy: float, rx: float, ry: float, n: int = 48) -> Points:
    """Sample a full ellipse, counted clockwise on the screen from its right end."""
    return arc(cx, cy, rx, ry, start=0.0, stop=360.0, n=n + 1)[:-1]


def arc(cx: float, cy: float, rx: float, ry: float, *, start: float, stop: float, n: int) -> Points:
    """Sample an elliptic arc; angles in degrees, 0 = right, 90 = down."""
    a = np.radians(np.linspace(start, stop, n))
    return np.stack([cx + rx * np.cos(a), cy + ry * np.sin(a)], axis=1)


def ribbon(line: Points, width: float | Points, end: float | None = None) -> Points:
    """Give a polyline a width: the outline of a strap, a handle, a leg.

    Args:
        line: shape (n, 2), n >= 2.
        width: full width at the start, or one width per point, shape (n,).
        end: full width at the end; the width changes linearly. Default: as at the start.

    Returns:
        Shape (2n, 2), down one side and back on the other.
    """
    tangent = np.gradient(line, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-9)
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    if isinstance(width, np.ndarray):
        widths = width
    else:
        widths = np.linspace(width, width if end is None else end, len(line))
    half = widths[:, None] / 2
    return np.vstack([line + normal * half, (line - normal * half)[::-1]])


def turned(points: Points, degrees: float, about: tuple[float, float]) -> Points:
    """Rotate points clockwise on the screen about a pivot."""
    a = np.radians(degrees)
    matrix = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    return np.asarray((points - about) @ matrix + about)


def flipped(points: Points) -> Points:
    """Mirror points left to right."""
    return np.multiply(points, (-1.0, 1.0))


def hull(points: Points) -> Points:
    """The convex hull of points, shape (n, 2) to (m, 2), by Andrew's monotone chain."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(chain: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in chain:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
