"""Paints parts, one over another, into a lit picture with transparency."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from demo.drawing.camera import Box, Camera
from demo.drawing.light import Light, Shaded, shaded
from demo.drawing.parts import Groove, Part
from demo.drawing.relief import blurred, lathe, surface
from demo.drawing.shapes.outlines import Points
from demo.drawing.textures import Plane, grain, second_colour_share

MASK_SCALE = 2  # masks are drawn this much larger and averaged, for smooth edges


class Canvas:
    """A picture of a product, without its background.

    Attributes:
        light_planes: shape (3, size, size), linear light, already weighted by `cover`.
        cover: opacity in [0, 1], shape (size, size).
    """

    def __init__(self, camera: Camera, light: Light, rng: np.random.Generator) -> None:
        self.camera = camera
        self.light = light
        self.rng = rng
        self.light_planes = np.zeros((3, camera.size, camera.size), dtype=np.float32)
        self.cover = np.zeros((camera.size, camera.size), dtype=np.float32)

    def paint(self, part: Part) -> None:
        """Lay a part over what is already there, with its shadow on it."""
        outline = self.camera.project(part.outline)
        box = self.camera.box_around(outline, margin=2.0)
        if box is None:
            return
        mask = self._filled(outline, part.holes, box)
        if part.lift:
            self._throw_shadow(outline, part, box, mask)
        x, y = self.camera.coordinates(box)
        height = surface(part.relief, mask, x, y, per_unit=self.camera.per_unit, rng=self.rng)
        threads, pressed = self._grooved(part.grooves, box)
        if pressed is not None:
            height = height + pressed
        slope_y, slope_x = np.gradient(height * np.float32(self.camera.per_unit))
        albedo = self._coloured(part, x, y, (slope_x, slope_y))
        for groove, drawn in threads:
            albedo = _over(albedo, groove, drawn)
        lit = shaded(self.light, part, slope_x, slope_y, albedo)
        self._lay(box, mask, lit)

    def _filled(self, outline: Points, holes: tuple[Points, ...], box: Box) -> Plane:
        """Coverage of a projected outline inside a box."""
        left, top, right, bottom = box
        size = ((right - left) * MASK_SCALE, (bottom - top) * MASK_SCALE)
        picture = Image.new("L", size, 0)
        draw = ImageDraw.Draw(picture)
        rings = [(outline, 255), *((self.camera.project(hole), 0) for hole in holes)]
        for ring, value in rings:
            draw.polygon([tuple(p) for p in (ring - (left, top)) * MASK_SCALE], fill=value)
        small = np.asarray(picture.reduce(MASK_SCALE), dtype=np.float32)
        return small / np.float32(255)

    def _throw_shadow(self, outline: Points, part: Part, box: Box, mask: Plane) -> None:
        """Darken what lies beneath and beside a part."""
        reach = part.lift * self.camera.per_unit
        wide = self.camera.box_around(outline, margin=3 * reach + 2)
        if wide is None or not self.cover[wide[1] : wide[3], wide[0] : wide[2]].any():
            return
        field = np.zeros((wide[3] - wide[1], wide[2] - wide[0]), dtype=np.float32)
        dx = round(-self.light.direction[0] * reach)
        dy = round(-self.light.direction[1] * reach)
        row, column = box[1] - wide[1], box[0] - wide[0]
        field[row : row + mask.shape[0], column : column + mask.shape[1]] = mask
        field = np.roll(blurred(field, reach), (dy, dx), axis=(0, 1))
        dark = 1.0 - np.float32(0.62) * field
        self.light_planes[:, wide[1] : wide[3], wide[0] : wide[2]] *= dark

    def _grooved(
        self, grooves: tuple[Groove, ...], box: Box
    ) -> tuple[list[tuple[Groove, Plane]], Plane | None]:
        """Draw the lines of a part: those with a thread, and how deep all press into it."""
        threads: list[tuple[Groove, Plane]] = []
        pressed: Plane | None = None
        for groove in grooves:
            drawn = self._line(groove, box)
            if groove.depth:
                soft = blurred(drawn, 0.35 * groove.width * self.camera.per_unit)
                pressed = (0.0 if pressed is None else pressed) - np.float32(groove.depth) * soft
            threads.append((groove, drawn))
        return threads, pressed

    def _line(self, groove: Groove, box: Box) -> Plane:
        left, top, right, bottom = box
        size = ((right - left) * MASK_SCALE, (bottom - top) * MASK_SCALE)
        picture = Image.new("L", size, 0)
        draw = ImageDraw.Draw(picture)
        wanted = groove.width * self.camera.per_unit * MASK_SCALE
        width = max(1, round(wanted))
        strength = min(1.0, wanted / width)
        for stretch in (d for line in groove.lines for d in _dashes(line, groove.dash)):
            pixels = (self.camera.project(stretch) - (left, top)) * MASK_SCALE
            draw.line([tuple(p) for p in pixels], fill=255, width=width, joint="curve")
        small = np.asarray(picture.reduce(MASK_SCALE), dtype=np.float32)
        return small * np.float32(strength / 255)

    def _coloured(self, part: Part, x: Plane, y: Plane, slope: tuple[Plane, Plane]) -> Shaded:
        """The part's own colour at each pixel: pattern bent by the relief, times the grain."""
        s, t = _surface_coordinates(part, x, y, *slope)
        paint = part.paint
        pixel = 1.2 / self.camera.per_unit
        row, column = (int(v) for v in self.rng.integers(0, 1024, 2))
        rough = grain(paint.material, s, t, pixel, start=(row, column))
        where = y if paint.texture == "colour-block" else t
        share = second_colour_share(paint.texture, s, where, period=paint.period, pixel=pixel)
        planes = []
        for first, second in zip(paint.colour, paint.second, strict=True):
            own = np.float32(first) * rough
            if share is not None:
                own = own + (np.float32(second) * rough - own) * share
            planes.append(own)
        return planes[0], planes[1], planes[2]

    def _lay(self, box: Box, mask: Plane, lit: Shaded) -> None:
        left, top, right, bottom = box
        for plane, new in zip(self.light_planes, lit, strict=True):
            piece = plane[top:bottom, left:right]
            piece += mask * (new - piece)
        piece = self.cover[top:bottom, left:right]
        piece += mask * (1.0 - piece)


def _surface_coordinates(
    part: Part, x: Plane, y: Plane, slope_x: Plane, slope_y: Plane
) -> tuple[Plane, Plane]:
    """Where on the cloth each pixel looks: along the surface, not along the picture."""
    if part.relief.turned:
        _, s, t = lathe(part.relief.turned, x, y)
        return s, t
    pull = np.float32(0.028)
    u = x - np.float32(part.origin[0]) - pull * np.clip(slope_x, -0.6, 0.6)
    v = y - np.float32(part.origin[1]) - pull * np.clip(slope_y, -0.6, 0.6)
    if part.fan:
        reach = np.float32(0.7 * (part.outline[:, 1].max() - part.fan[1]))
        down = y - np.float32(part.fan[1])
        away = np.arctan2(x - np.float32(part.fan[0]), down)
        bend = pull * np.clip(slope_x, -0.6, 0.6)
        distance = np.hypot(x - np.float32(part.fan[0]), down)
        return np.asarray(away * reach - bend), np.asarray(distance, dtype=np.float32)
    if not part.angle:
        return u, v
    a = np.radians(part.angle)
    cos, sin = np.float32(np.cos(a)), np.float32(np.sin(a))
    return np.asarray(u * cos + v * sin), np.asarray(v * cos - u * sin)


def _over(albedo: Shaded, groove: Groove, drawn: Plane) -> Shaded:
    """Colour a line; a seam without thread only gets darker, as light does not reach into it."""
    if groove.thread is None:
        dark = 1.0 - np.float32(0.3) * drawn
        return albedo[0] * dark, albedo[1] * dark, albedo[2] * dark
    mixed = [
        own + drawn * (np.float32(c) - own) for own, c in zip(albedo, groove.thread, strict=True)
    ]
    return mixed[0], mixed[1], mixed[2]


def _dashes(line: Points, pattern: tuple[float, float] | None) -> list[Points]:
    """Cut a line into dashes of (thread, gap), measured along it."""
    if pattern is None:
        return [line]
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    dash, gap = pattern
    starts = np.arange(0.0, at[-1], dash + gap)
    stops = np.minimum(starts + dash, at[-1])
    xs = [np.interp([a, b], at, line[:, 0]) for a, b in zip(starts, stops, strict=True)]
    ys = [np.interp([a, b], at, line[:, 1]) for a, b in zip(starts, stops, strict=True)]
    return [np.stack([x, y], axis=1) for x, y in zip(xs, ys, strict=True)]
