"""The categories of the demo's catalog: what each can look like, and who builds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from demo.drawing.product import Builder
from demo.drawing.shapes.bags import bag
from demo.drawing.shapes.chairs import chair
from demo.drawing.shapes.cushions import cushion
from demo.drawing.shapes.shirts import shirt
from demo.drawing.shapes.shoes import shoe
from demo.drawing.shapes.skirts import skirt
from demo.drawing.shapes.vases import vase

Cuts = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Kind:
    """What products of a category can look like.

    Attributes:
        build: draws one.
        cuts: silhouettes, each with the details it can have.
        materials: names from `demo.drawing.textures.MATERIALS`.
        textures: patterns; "plain" is always possible too.
        zoom: how much larger or smaller than its product space it is shown.
        centre: the product point that is shown in the middle.
        flat: laid flat or hung, rather than standing on the ground.
        shallow: built from one side only, so that the camera must foreshorten it when it turns.
    """

    build: Builder
    cuts: Cuts
    materials: tuple[str, ...]
    textures: tuple[str, ...]
    zoom: float
    centre: tuple[float, float] = (0.0, 0.0)
    flat: bool = False
    shallow: bool = False


def _each(cuts: tuple[str, ...], details: tuple[str, ...]) -> Cuts:
    return dict.fromkeys(cuts, details)


_CLOTH = ("plain", "striped", "checked", "dotted", "floral", "zigzag", "colour-block")
_WOVEN = ("plain", "pinstriped", "checked", "tartan", "striped")
_FITS = ("slim", "regular", "wide")

KINDS: Final[dict[str, Kind]] = {
    "chair": Kind(
        chair,
        _each(
            ("round back", "square back", "wing back"),
            ("plain", "metal legs", "armrests", "buttoned", "channelled"),
        ),
        ("velvet", "wool", "leather", "linen"),
        ("striped", "checked", "tartan", "floral", "zigzag"),
        zoom=0.92,
        centre=(0.0, 0.03),
    ),
    "bag": Kind(
        bag,
        {
            "tote": ("plain", "leather base", "front pocket"),
            "satchel": ("clasp", "two buckles", "top handle"),
            "bucket": ("plain", "leather base", "tassel"),
        },
        ("leather", "canvas", "suede", "felt", "paper"),
        ("striped", "checked", "colour-block", "floral", "tartan"),
        zoom=1.02,
        shallow=True,
    ),
    "shirt": Kind(
        shirt,
        _each(
            _FITS, ("plain front", "one pocket", "two pockets", "short sleeve", "mandarin collar")
        ),
        ("cotton", "linen", "denim"),
        (*_WOVEN, "floral", "dotted"),
        zoom=1.0,
        flat=True,
    ),
    "shoe": Kind(
        shoe,
        {
            "sneaker": ("toe cap", "side stripes", "dark sole", "plain"),
            "high-top": ("toe cap", "side stripes", "dark sole", "round patch"),
            "ankle boot": ("elastic sides", "buckle strap", "zip"),
            "loafer": ("plain", "tassels", "metal bit"),
        },
        ("leather", "suede", "canvas"),
        ("checked", "dotted", "floral", "tartan"),
        zoom=0.92,
        shallow=True,
    ),
    "cushion": Kind(
        cushion,
        _each(("square", "oblong", "round"), ("plain", "piping", "tassels", "button", "flange")),
        ("cotton", "velvet", "linen", "knit"),
        (*_CLOTH, "tartan"),
        zoom=1.06,
        flat=True,
    ),
    "skirt": Kind(
        skirt,
        _each(
            ("pencil", "a-line", "flared", "pleated"),
            ("plain", "button front", "belted", "pockets"),
        ),
        ("cotton", "silk", "wool", "denim"),
        (*_CLOTH, "tartan"),
        zoom=1.0,
        centre=(0.0, 0.02),
        flat=True,
    ),
    "vase": Kind(
        vase,
        _each(("bottle", "urn", "cylinder"), ("plain", "ribbed", "handles", "branch")),
        ("ceramic", "stoneware", "enamel", "glass"),
        ("striped", "dotted", "colour-block", "zigzag", "floral"),
        zoom=1.06,
        centre=(0.0, 0.03),
    ),
}
