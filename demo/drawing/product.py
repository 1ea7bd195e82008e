"""A product to draw: its attributes, its own measures, and how it is posed in one picture."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from demo.drawing.colours import DYES, RGB, linear, mixed, scaled
from demo.drawing.parts import Paint, Part
from demo.drawing.textures import MATERIALS, SCALES


@dataclass(frozen=True)
class Product:
    """One product of the demo's catalog.

    Attributes:
        product_id: such as "P017".
        design: such as "D009"; products with the same design differ only in their colours.
        category: one of `demo.drawing.plan.KINDS`.
        colour: CSS 2.1 keyword of the first colour.
        second_colour: CSS 2.1 keyword of the second colour, of the pattern and of contrasts.
        texture: one of `demo.drawing.textures.TEXTURES`.
        pattern_scale: "fine", "medium", "bold"; "none" for a plain product.
        cut: its silhouette.
        detail: what sets it apart from others of that cut.
        trim: "tonal" or "contrast": colour of collars, rims, straps.
        material: one of `demo.drawing.textures.MATERIALS`.
        family: seed of the measures that lookalikes share.
        own: seed of the measures of this design alone.
    """

    product_id: str
    design: str
    category: str
    colour: str
    second_colour: str
    texture: str
    pattern_scale: str
    cut: str
    detail: str
    trim: str
    material: str
    family: int
    own: int


@dataclass(frozen=True)
class Posture:
    """How a product is laid or turned in one picture.

    Attributes:
        tilt: how far the camera looks down: minor through major axis of a level circle.
        turn: rotation about the vertical, degrees; 0 = front.
        spread: how far arms, legs or straps are spread, -1 to 1.
        sway: how far it leans or hangs aside, -1 to 1.
        rng: for folds, which fall anew in each picture.
    """

    tilt: float
    turn: float
    spread: float
    sway: float
    rng: np.random.Generator


@dataclass(frozen=True)
class Built:
    """A product's parts, lowest first, and where a detail shot looks.

    Attributes:
        parts: to paint in this order.
        focus: points worth a close look.
        ground: y on which it stands; None if it lies flat or hangs.
    """

    parts: tuple[Part, ...]
    focus: tuple[tuple[float, float], ...]
    ground: float | None = None


def _unit(*key: object) -> float:
    """A fixed number in [-1, 1) for each key."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**63 - 1.0


@dataclass(frozen=True)
class Build:
    """What a builder of silhouettes works with."""

    product: Product
    posture: Posture

    def vary(self, name: str, spread: float) -> float:
        """The product's own deviation of a measure; lookalikes deviate in nearly the same way."""
        family = _unit(self.product.family, name)
        own = _unit(self.product.own, name)
        return spread * (0.72 * family + 0.28 * own)

    def pick(self, name: str, count: int) -> int:
        """A choice that all lookalikes of a family share, in range(count)."""
        return int((_unit(self.product.family, "pick", name) + 1) / 2 * count)

    @cached_property
    def main(self) -> Paint:
        """The cloth, leather or glaze the product is made of, with its pattern."""
        product = self.product
        scale = SCALES.get(product.pattern_scale, 0.13)
        period = scale * (1 + self.vary("period", 0.12))
        if product.texture == "colour-block":
            period = {"fine": 0.42, "medium": 0.12, "bold": -0.16}[product.pattern_scale]
        return Paint(
            colour=self._dye(product.colour),
            second=self._dye(product.second_colour),
            texture=product.texture,
            period=period,
            material=MATERIALS[product.material],
        )

    @cached_property
    def plain(self) -> Paint:
        """The first colour alone."""
        return self.main.plain()

    @cached_property
    def contrast(self) -> Paint:
        """The second colour alone."""
        return replace(self.main.plain(), colour=self.main.second)

    @cached_property
    def trim(self) -> Paint:
        """Collars, rims and straps: the second colour, or a shade of the first."""
        if self.product.trim == "contrast":
            return self.contrast
        return replace(self.plain, colour=scaled(self.main.colour, 0.82))

    @cached_property
    def accent(self) -> Paint:
        """Pieces that contrast if the product has contrasts, and match it otherwise."""
        return self.contrast if self.product.trim == "contrast" else self.main

    @cached_property
    def inside(self) -> Paint:
        """What shows where one looks into the product."""
        return replace(self.plain, colour=scaled(self.main.colour, 0.8))

    @cached_property
    def thread(self) -> RGB:
        """Sewing thread: near the cloth, yet visible on it."""
        colour = self.main.colour
        light = 0.3 * colour[0] + 0.6 * colour[1] + 0.1 * colour[2]
        if self.product.trim == "contrast":
            return mixed(colour, self.main.second, 0.65)
        return scaled(colour, 0.62) if light > 0.12 else mixed(colour, (1.0, 1.0, 1.0), 0.16)

    def of(self, material: str, hex_code: str) -> Paint:
        """A paint of its own, for soles, buttons, legs."""
        return Paint(colour=linear(hex_code), material=MATERIALS[material])

    def dyed(self, material: str) -> Paint:
        """The first colour on another material."""
        return replace(self.plain, material=MATERIALS[material])

    def _dye(self, keyword: str) -> RGB:
        dyes = DYES[keyword]
        share = (_unit(self.product.own, "dye", keyword) + 1) / 2
        first = self.pick("dye" + keyword, len(dyes))
        return mixed(linear(dyes[first]), linear(dyes[(first + 1) % len(dyes)]), 0.4 * share)


Builder = Callable[[Build], Built]
WHITE: Final = "#f0eee8"
