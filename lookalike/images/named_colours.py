"""Names of colours, as the paper on InDiReCT gives them to rendered cars."""

from __future__ import annotations

from colorsys import hsv_to_rgb

from lookalike.core.errors import Refused

# the 17 colour keywords of CSS 2.1; the paper counts 18
CSS_COLOURS = {
    "aqua": (0, 255, 255), "black": (0, 0, 0), "blue": (0, 0, 255), "fuchsia": (255, 0, 255),
    "gray": (128, 128, 128), "green": (0, 128, 0), "lime": (0, 255, 0), "maroon": (128, 0, 0),
    "navy": (0, 0, 128), "olive": (128, 128, 0), "orange": (255, 165, 0),
    "purple": (128, 0, 128), "red": (255, 0, 0), "silver": (192, 192, 192),
    "teal": (0, 128, 128), "white": (255, 255, 255), "yellow": (255, 255, 0),
}  # fmt: skip


def nearest_colour(rgb: tuple[int, int, int]) -> str:
    """Return the CSS 2.1 name nearest by squared distance in RGB, of equals the first by alphabet.

    >>> nearest_colour((250, 10, 5))
    'red'
    """
    return min(
        CSS_COLOURS,
        key=lambda name: sum((a - b) ** 2 for a, b in zip(rgb, CSS_COLOURS[name], strict=True)),
    )


def colour_of_shift(hue: float, saturation: float, value: float) -> str:
    """Return the name of a colour that a renderer's HSV node made of its neutral one.

    Source: the code of InDiReCT (Kobs et al., WACV 2023) for Synthetic Cars, where 0.5 is a hue
    that shifts nothing, and saturation and value are factors.

    Args:
        hue: of which only the part after the comma counts.
        saturation: in [0, 2].
        value: in [0, 2].

    Raises:
        Refused: a number that is out of range.

    >>> colour_of_shift(0.5, 2.0, 2.0), colour_of_shift(0.0, 0.0, 0.0)
    ('red', 'black')
    """
    for name, number in (("saturation", saturation), ("value", value)):
        if not 0 <= number <= 2:
            raise Refused(name, f"{number} is not from 0 to 2")
    if not abs(hue) < float("inf"):
        raise Refused("hue", f"{hue} is no hue")
    red, green, blue = hsv_to_rgb((hue + 0.5) % 1, 0.5 * saturation, 0.5 * value)
    return nearest_colour((int(255 * red), int(255 * green), int(255 * blue)))
