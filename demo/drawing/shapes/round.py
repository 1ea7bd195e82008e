"""Bodies turned on a lathe, and points in space: what vases and chairs share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demo.drawing.parts import Groove, Paint, Part, Relief, Turned, thin
from demo.drawing.shapes.outlines import Points, arc, ellipse, smooth


@dataclass(frozen=True)
class Space:
    """A turntable seen by a camera that looks down a little.

    Attributes:
        turn: rotation about the vertical, degrees.
        tilt: minor through major axis of a level circle, below 1.
    """

    turn: float
    tilt: float

    def projected(self, points: Points) -> Points:
        """Project points in space, shape (n, 3): x right, y down, z to the viewer."""
        a = np.radians(self.turn)
        x = points[:, 0] * np.cos(a) + points[:, 2] * np.sin(a)
        z = points[:, 2] * np.cos(a) - points[:, 0] * np.sin(a)
        level = float(np.sqrt(1 - self.tilt**2))
        return np.stack([x, points[:, 1] * level + z * self.tilt], axis=1)


def profile(*points: tuple[float, float]) -> Points:
    """A smooth profile through (half width, y), from the top down."""
    return smooth(points)


def lathed(
    shape: Points,
    paint: Paint,
    *,
    tilt: float,
    rings: tuple[float, ...] = (),
    ring: float = 0.008,
) -> Part:
    """A body of revolution.

    Args:
        shape: its profile, rows (half width, y), from the top down.
        paint: its surface.
        tilt: how far the camera looks down on it.
        rings: heights of grooves around it.
        ring: how deep those are.
    """
    half, y = shape[:, 0], shape[:, 1]
    right = np.stack([half, y], axis=1)
    left = np.stack([-half, y], axis=1)[::-1]
    foot = arc(0.0, y[-1], half[-1], half[-1] * tilt, start=0, stop=180, n=24)[1:-1]
    head = arc(0.0, y[0], half[0], half[0] * tilt, start=180, stop=360, n=24)[1:-1]
    lines = tuple(
        arc(0.0, at, np.interp(at, y, half), np.interp(at, y, half) * tilt, start=4, stop=176, n=30)
        for at in rings
    )
    rising = np.maximum.accumulate(y + np.arange(len(y)) * 1e-9)
    return Part(
        np.vstack([right, foot, left, head]),
        paint,
        Relief(turned=Turned(rising, half, tilt)),
        grooves=(Groove(lines, width=0.014, depth=ring),) if lines else (),
        lift=0.02,
    )


def mouth(
    half: float, y: float, tilt: float, rim: Paint, inside: Paint, *, wall: float = 0.03
) -> list[Part]:
    """The open top of a vessel: its rim and the dark inside."""
    outer = ellipse(0.0, y, half, half * tilt)
    inner = ellipse(0.0, y + wall * tilt * 0.4, half - wall, (half - wall) * tilt)
    depth = ellipse(0.0, y + half * tilt * 0.55, half - wall, (half - wall) * tilt)
    return [
        Part(outer, rim, thin(0.012), lift=0.0, shade=1.05),
        Part(inner, inside, thin(0.0), lift=0.0, shade=0.62),
        Part(_overlap(inner, depth), inside, thin(0.03), lift=0.0, shade=0.42),
    ]


def _overlap(inner: Points, depth: Points) -> Points:
    """The lower ellipse cut off by the upper one, both on one axis and of one width."""
    low = np.maximum(depth[:, 1], inner[:, 1].min())
    low = np.minimum(low, np.interp(depth[:, 0], *_front(inner)))
    return np.stack([depth[:, 0], low], axis=1)


def _front(ring: Points) -> tuple[Points, Points]:
    front = ring[ring[:, 1] >= np.median(ring[:, 1]) - 1e-9]
    front = front[np.argsort(front[:, 0])]
    return front[:, 0], front[:, 1]
