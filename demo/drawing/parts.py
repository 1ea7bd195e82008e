"""What a product is made of: parts, each with an outline, a paint and a relief."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from demo.drawing.colours import RGB
from demo.drawing.shapes.outlines import Points
from demo.drawing.textures import MATERIALS, Material


@dataclass(frozen=True)
class Paint:
    """The colours of a surface, their pattern and the material that carries them.

    Attributes:
        colour: first colour, linear light.
        second: second colour of the pattern, linear light.
        texture: one of `demo.drawing.textures.TEXTURES`.
        period: size of the pattern in product units.
        material: how the surface takes the light.
    """

    colour: RGB
    second: RGB = (1.0, 1.0, 1.0)
    texture: str = "plain"
    period: float = 0.13
    material: Material = MATERIALS["cotton"]

    def plain(self) -> Paint:
        """The same cloth without its pattern."""
        return replace(self, texture="plain")


@dataclass(frozen=True)
class Crease:
    """A fold of cloth from `start` to `stop`: steep on one side, soft on the other."""

    start: tuple[float, float]
    stop: tuple[float, float]
    width: float
    height: float


@dataclass(frozen=True)
class Drape:
    """Folds that hang from a point and open downwards, as in a skirt.

    Attributes:
        apex: the point in which the folds would meet.
        count: folds per radian.
        height: height of a fold where it is fully open.
        top: y at which the folds begin.
        bottom: y at which they are fully open.
        phase: shifts the folds sideways, in radians of their wave.
        sharp: 0 for round folds, 1 for pressed pleats.
    """

    apex: tuple[float, float]
    count: float
    height: float
    top: float
    bottom: float
    phase: float = 0.0
    sharp: float = 0.0


@dataclass(frozen=True)
class Turned:
    """A body turned on a lathe: half widths by height, its axis at x = 0, seen from a little above.

    Attributes:
        y: heights, ascending, shape (n,).
        half_width: shape (n,).
        tilt: how far a horizontal circle opens: minor through major axis of its ellipse.
    """

    y: NDArray[np.float64]
    half_width: NDArray[np.float64]
    tilt: float


@dataclass(frozen=True)
class Relief:
    """The height of a surface above its outline's plane, in product units.

    Attributes:
        edge: radius with which the rim is rounded.
        bulge: how high the middle stands.
        spread: distance from the rim over which the bulge rises.
        wrinkles: height of soft random wrinkles.
        grid: size of those wrinkles, (across, down).
        creases: single folds.
        drape: hanging folds.
        turned: replaces edge and bulge by a body of revolution.
    """

    edge: float = 0.02
    bulge: float = 0.06
    spread: float = 0.2
    wrinkles: float = 0.0
    grid: tuple[float, float] = (0.22, 0.3)
    creases: tuple[Crease, ...] = ()
    drape: Drape | None = None
    turned: Turned | None = None


def thin(edge: float) -> Relief:
    """The relief of a thin piece with a rounded rim."""
    return Relief(edge=edge, bulge=0.0)


@dataclass(frozen=True)
class Groove:
    """Lines of one kind on a surface: seams pressed into it, or thread stitched on it.

    Attributes:
        lines: each of shape (n, 2).
        width: in product units.
        depth: how deep it is pressed in; negative stands out.
        dash: lengths of thread and gap, or None for an unbroken line.
        thread: colour of the line, or None for the surface's own.
    """

    lines: tuple[Points, ...]
    width: float = 0.008
    depth: float = 0.006
    dash: tuple[float, float] | None = None
    thread: RGB | None = None


@dataclass(frozen=True)
class Part:
    """One piece of a product; later parts lie on top of earlier ones.

    Attributes:
        outline: closed silhouette, shape (n, 2).
        paint: its surface.
        relief: its height.
        holes: closed outlines cut out of it.
        grooves: lines on it.
        origin: where its pattern starts.
        angle: how far its pattern is turned, degrees clockwise.
        fan: where the threads of its cloth would meet, for cloth cut to flare; None: parallel.
        lift: how far it stands above the parts below; sets the shadow it throws on them.
        shade: factor for its light; below 1 for a piece that lies inside another.
    """

    outline: Points
    paint: Paint
    relief: Relief = field(default_factory=Relief)
    holes: tuple[Points, ...] = ()
    grooves: tuple[Groove, ...] = ()
    origin: tuple[float, float] = (0.0, 0.0)
    angle: float = 0.0
    fan: tuple[float, float] | None = None
    lift: float = 0.02
    shade: float = 1.0
