"""Which products the catalog holds, and how each of its pictures is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from demo.drawing.camera import Camera, Stand
from demo.drawing.colours import DYES, PARTNERS
from demo.drawing.kinds import KINDS, Kind
from demo.drawing.light import LIGHTS
from demo.drawing.product import Built, Posture, Product
from demo.drawing.scene import BACKGROUNDS
from demo.drawing.textures import SCALES

FILLED: Final = 0.95  # a whole product reaches at most this far from the middle to the edge
VIEWS: Final = ("front", "angled", "detail", "in place")

# How a family grows: a first product, then products that resemble it.
_STEPS: Final = ("first", "lookalike", "recoloured", "lookalike", "repatterned")

# Quiet colours sell more; the loud ones of the 17 keywords are rarer, but all appear.
_COMMON: Final = {
    "navy": 3.0,
    "black": 2.5,
    "white": 2.5,
    "gray": 2.0,
    "red": 2.0,
    "blue": 2.0,
    "green": 1.6,
    "olive": 1.6,
    "maroon": 1.5,
    "teal": 1.5,
    "yellow": 1.3,
}


@dataclass(frozen=True)
class Shot:
    """How one picture is taken.

    Attributes:
        view: one of `VIEWS`.
        background: one of `demo.drawing.scene.BACKGROUNDS`.
        light: one of `demo.drawing.light.LIGHTS`.
        pose: what the product does in it, in words.
        posture: the same for the builder.
        turn: what the camera does, before it knows the product's focus.
        closeness: zoom of a detail shot; 1 for the whole product.
        glance: which of the product's focus points a detail shot looks at.
    """

    view: str
    background: str
    light: str
    pose: str
    posture: Posture
    turn: Stand
    closeness: float
    glance: int

    def stand(self, kind: Kind, built: Built) -> Stand:
        """Where the camera stands for a given product."""
        zoom = self.turn.zoom * kind.zoom
        if self.closeness > 1.0:
            focus = built.focus[self.glance % len(built.focus)]
            return replace(self.turn, zoom=zoom * self.closeness, focus=focus)
        whole = replace(self.turn, zoom=zoom, focus=kind.centre)
        seen = Camera(whole, 2).project(np.vstack([part.outline for part in built.parts]))
        reach = float(np.abs(seen - 1.0).max())  # 1 at the picture's edge
        return replace(whole, zoom=zoom * min(1.0, FILLED / reach))


def _choice(rng: np.random.Generator, options: tuple[str, ...]) -> str:
    return options[int(rng.integers(len(options)))]


def _colour(rng: np.random.Generator, without: str = "") -> str:
    names = [name for name in DYES if name != without]
    weights = np.array([_COMMON.get(name, 1.0) for name in names])
    return names[int(rng.choice(len(names), p=weights / weights.sum()))]


def _dressed(product: Product, rng: np.random.Generator, colour: str) -> Product:
    return replace(product, colour=colour, second_colour=_choice(rng, PARTNERS[colour]))


def _patterned(product: Product, kind: Kind, rng: np.random.Generator) -> Product:
    texture = _choice(rng, kind.textures)
    if rng.random() < 0.34:
        texture = "plain"
    if product.detail == "chest print":
        texture = "plain"
    scale = "none" if texture == "plain" else _choice(rng, tuple(SCALES))
    return replace(product, texture=texture, pattern_scale=scale)


def _first(category: str, kind: Kind, rng: np.random.Generator) -> Product:
    cut = _choice(rng, tuple(kind.cuts))
    blank = Product(
        product_id="",
        design="",
        category=category,
        colour="",
        second_colour="",
        texture="plain",
        pattern_scale="none",
        cut=cut,
        detail=_choice(rng, kind.cuts[cut]),
        trim=_choice(rng, ("tonal", "contrast")),
        material=_choice(rng, kind.materials),
        family=int(rng.integers(2**31)),
        own=int(rng.integers(2**31)),
    )
    return _dressed(_patterned(blank, kind, rng), rng, _colour(rng))


def _lookalike(product: Product, kind: Kind, rng: np.random.Generator) -> Product:
    """Another product of the same category, colour and texture: one or two details differ."""
    other = replace(product, own=int(rng.integers(2**31)))
    details = tuple(d for d in kind.cuts[product.cut] if d != product.detail)
    if product.texture != "plain":
        details = tuple(d for d in details if d != "chest print")
    cuts = tuple(c for c in kind.cuts if product.detail in kind.cuts[c] and c != product.cut)
    step = rng.random()
    if details and step < 0.5:
        other = replace(other, detail=_choice(rng, details))
    elif cuts and step < 0.75:
        other = replace(other, cut=_choice(rng, cuts))
    else:
        other = replace(other, trim="tonal" if product.trim == "contrast" else "contrast")
    if product.texture != "plain" and rng.random() < 0.35:
        other = replace(other, pattern_scale=_choice(rng, tuple(SCALES)))
    return other


def _family(category: str, kind: Kind, rng: np.random.Generator) -> Iterator[Product]:
    """Products that resemble one another, the first one first, without end."""
    first = _first(category, kind, rng)
    yield first
    newest = first
    while True:
        for step in _STEPS[1:]:
            if step == "recoloured":
                newest = _dressed(newest, rng, _colour(rng, without=newest.colour))
            elif step == "repatterned":
                newest = _patterned(replace(first, own=int(rng.integers(2**31))), kind, rng)
            else:
                newest = _lookalike(first if rng.random() < 0.5 else newest, kind, rng)
            yield newest


def products(n_products: int, rng: np.random.Generator) -> list[Product]:
    """Plan the catalog's products.

    Categories take turns. Within a category, families of two to five follow one another: a
    first product; a lookalike (same category, colour and texture, another detail); a recoloured
    copy (same design, other colour); another lookalike; and one with another pattern.

    Args:
        n_products: how many, at least 1.
        rng: decides everything.

    Returns:
        `n_products` products that differ pairwise in an attribute or in their design.
    """
    families: dict[str, Iterator[Product]] = {}
    remaining: dict[str, int] = dict.fromkeys(KINDS, 0)
    designs: dict[tuple[int, int, str, str], str] = {}
    planned: list[Product] = []
    names = tuple(KINDS)
    for number in range(n_products):
        category = names[number % len(names)]
        if remaining[category] == 0:
            families[category] = _family(category, KINDS[category], rng)
            remaining[category] = int(rng.integers(2, len(_STEPS) + 1))
        remaining[category] -= 1
        product = next(families[category])
        shape = (product.family, product.own, product.cut, product.detail)
        design = designs.setdefault(shape, f"D{len(designs) + 1:03d}")
        planned.append(replace(product, product_id=f"P{number + 1:03d}", design=design))
    return planned


def _pose_words(flat: bool, posture: Posture, turn: Stand) -> str:
    """Say in words how the product is posed."""
    words = ["laid flat" if flat else "standing"]
    if abs(posture.turn) > 8:
        words.append("turned left" if posture.turn < 0 else "turned right")
    if flat and abs(turn.roll) > 5:
        words.append("tilted left" if turn.roll < 0 else "tilted right")
    if turn.flip:
        words.append("mirrored")
    return ", ".join(words)


def _background(view: str, n: int, rng: np.random.Generator) -> str:
    """Shop pictures have quiet backgrounds; a product in its place has a lively one."""
    quiet, lively = BACKGROUNDS[:2], BACKGROUNDS[2:]
    if view == "front":
        return quiet[0] if rng.random() < 0.7 else quiet[1]
    if view == "angled":
        return quiet[1] if rng.random() < 0.5 else _choice(rng, BACKGROUNDS)
    return _choice(rng, lively if view == "in place" or n > len(VIEWS) else BACKGROUNDS)


def shot(kind: Kind, number: int, rng: np.random.Generator) -> Shot:
    """Plan the picture `number` (from 0) of a product: front, angled, detail, in place, again."""
    view = VIEWS[number % len(VIEWS)]
    angled = view in ("angled", "in place")
    side = float(rng.choice([-1.0, 1.0]))
    aside = side * rng.uniform(16, 34) if angled else side * rng.uniform(0, 6)
    posture = Posture(
        tilt=float(rng.uniform(0.2, 0.34) if angled else rng.uniform(0.06, 0.18)),
        turn=float(aside),
        spread=float(rng.uniform(-1, 1)),
        sway=float(rng.uniform(-1, 1)),
        rng=rng,
    )
    lean = rng.uniform(-16, 16) if angled and kind.flat else rng.uniform(-3, 3)
    bent = angled and (kind.flat or kind.shallow)
    turn = Stand(
        zoom=float(rng.uniform(0.84, 0.96) if angled else rng.uniform(0.93, 1.03)),
        roll=float(lean if kind.flat else 0.0),
        squeeze=float(rng.uniform(0.84, 0.96)) if bent else 1.0,
        recede=float(side * rng.uniform(0.05, 0.16)) if bent else 0.0,
        tip=float(rng.uniform(0.0, 0.08)) if bent and kind.flat else 0.0,
        flip=bool(angled and rng.random() < 0.35),
    )
    return Shot(
        view=view,
        background=_background(view, number, rng),
        light=_choice(rng, tuple(LIGHTS)),
        pose=_pose_words(kind.flat, posture, turn),
        posture=posture,
        turn=turn,
        closeness=float(rng.uniform(1.75, 2.3)) if view == "detail" else 1.0,
        glance=int(rng.integers(3)),
    )
