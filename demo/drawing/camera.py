"""From product space to the picture: a plane seen by a camera."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.drawing.shapes.outlines import Points
from demo.drawing.textures import Plane

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Stand:
    """How the camera looks at the product.

    Attributes:
        zoom: product units to half the picture's side; 0.8 fills 80 % of it.
        focus: the product point in the middle of the picture.
        roll: rotation in the picture, degrees clockwise.
        squeeze: width factor of a product turned away, 1 = seen from the front.
        recede: how much smaller the right side gets (negative: the left side).
        tip: how much smaller the top gets.
        flip: seen in a mirror.
    """

    zoom: float = 0.8
    focus: tuple[float, float] = (0.0, 0.0)
    roll: float = 0.0
    squeeze: float = 1.0
    recede: float = 0.0
    tip: float = 0.0
    flip: bool = False


class Camera:
    """A projective map between product space and the pixels of a square picture."""

    def __init__(self, stand: Stand, size: int) -> None:
        self.size = size
        self.per_unit = stand.zoom * size / 2
        a = np.radians(stand.roll)
        shift = np.array([[1, 0, -stand.focus[0]], [0, 1, -stand.focus[1]], [0, 0, 1.0]])
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        shape = np.diag([stand.squeeze * (-1 if stand.flip else 1), 1.0, 1.0])
        away = np.array([[1, 0, 0], [0, 1, 0], [stand.recede, -stand.tip, 1.0]])
        place = np.array([[self.per_unit, 0, size / 2], [0, self.per_unit, size / 2], [0, 0, 1.0]])
        self.matrix: NDArray[np.float64] = place @ away @ turn @ shape @ shift
        self.inverse: NDArray[np.float64] = np.linalg.inv(self.matrix)

    def project(self, points: Points) -> Points:
        """Map product points, shape (n, 2), to pixels."""
        homogeneous = np.column_stack([points, np.ones(len(points))]) @ self.matrix.T
        return homogeneous[:, :2] / homogeneous[:, 2:]

    def coordinates(self, box: Box) -> tuple[Plane, Plane]:
        """Product coordinates of the pixels of a box (left, top, right, bottom)."""
        left, top, right, bottom = box
        column = (np.arange(left, right) + 0.5).astype(np.float32)[None, :]
        row = (np.arange(top, bottom) + 0.5).astype(np.float32)[:, None]
        (a, b, c), (d, e, f), (g, h, i) = self.inverse.astype(np.float32)
        scale = 1.0 / (g * column + h * row + i)
        return (a * column + b * row + c) * scale, (d * column + e * row + f) * scale

    def box_around(self, points: Points, margin: float) -> Box | None:
        """The pixels a projected outline can touch, or None if it lies outside the picture."""
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        left, top = (int(v) for v in np.clip(np.floor(low), 0, self.size))
        right, bottom = (int(v) for v in np.clip(np.ceil(high), 0, self.size))
        if right - left < 4 or bottom - top < 4:
            return None
        return left, top, right, bottom
