"""Dyes: the colours a product can have, named by the 17 keywords of CSS 2.1."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

RGB = tuple[float, float, float]

# A shop's navy is not #000080 and its lime not #00ff00: cloth, leather and glaze are softer than
# a screen's primaries. Each keyword has the dyes a person would call by that name.
DYES: Final[dict[str, tuple[str, ...]]] = {
    "aqua": ("#5cc4cf", "#6fcfd2", "#49b7c9"),
    "black": ("#24252a", "#2a2827", "#1e2024"),
    "blue": ("#2f5fb8", "#3a6cc4", "#2a52a5"),
    "fuchsia": ("#cf3a8f", "#d9489c", "#c22f86"),
    "gray": ("#84878c", "#7a7c7f", "#8e8f91"),
    "green": ("#3b7d4f", "#2f7046", "#478a58"),
    "lime": ("#9cc642", "#a8cf52", "#90bb3a"),
    "maroon": ("#722a35", "#672531", "#7d303b"),
    "navy": ("#26335c", "#2b3a66", "#212c50"),
    "olive": ("#76753f", "#6c6c39", "#807e4a"),
    "orange": ("#dd7a32", "#e4853b", "#d36f2a"),
    "purple": ("#6d4a94", "#7753a0", "#634287"),
    "red": ("#c13a3a", "#cb4340", "#b53236"),
    "silver": ("#c3c6c9", "#bbbfc4", "#cbccce"),
    "teal": ("#2d7f83", "#347a80", "#27878a"),
    "white": ("#f1efea", "#f3f2ef", "#ece9e2"),
    "yellow": ("#e6be45", "#ebc64f", "#deb43c"),
}

# What goes with what: the second colours a designer would pick for each first colour.
PARTNERS: Final[dict[str, tuple[str, ...]]] = {
    "aqua": ("white", "navy", "orange"),
    "black": ("white", "silver", "red", "gray"),
    "blue": ("white", "navy", "yellow"),
    "fuchsia": ("white", "navy", "silver"),
    "gray": ("white", "navy", "black", "yellow"),
    "green": ("white", "navy", "yellow"),
    "lime": ("white", "navy", "green"),
    "maroon": ("white", "silver", "navy", "yellow"),
    "navy": ("white", "red", "silver", "yellow"),
    "olive": ("white", "black", "orange"),
    "orange": ("white", "navy", "maroon"),
    "purple": ("white", "silver", "yellow"),
    "red": ("white", "navy", "black"),
    "silver": ("navy", "white", "purple", "black"),
    "teal": ("white", "orange", "navy"),
    "white": ("navy", "red", "black", "blue", "green"),
    "yellow": ("white", "gray", "navy"),
}


def linear(hex_code: str) -> RGB:
    """Turn an sRGB hex code such as "#26335c" into linear light, each channel in [0, 1]."""
    channels = (int(hex_code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return red, green, blue


def mixed(a: RGB, b: RGB, share: float) -> RGB:
    """Blend two linear colours, share 0 = `a`, 1 = `b`."""
    red, green, blue = (x + (y - x) * share for x, y in zip(a, b, strict=True))
    return red, green, blue


def scaled(colour: RGB, factor: float) -> RGB:
    """Make a linear colour lighter (factor > 1) or darker, kept inside [0, 1]."""
    red, green, blue = (min(1.0, c * factor) for c in colour)
    return red, green, blue


_CURVE = np.linspace(0.0, 1.0, 4097)
_TO_BYTE = np.where(
    _CURVE <= 0.0031308, 12.92 * _CURVE, 1.055 * np.maximum(_CURVE, 1e-9) ** (1 / 2.4) - 0.055
)
_TO_BYTE = np.clip(np.rint(_TO_BYTE * 255), 0, 255).astype(np.uint8)


def to_bytes(light: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Encode linear light as 8-bit sRGB, values outside [0, 1] clipped; the shape stays."""
    return _TO_BYTE[(np.clip(light, 0.0, 1.0) * 4096).astype(np.uint16)]
