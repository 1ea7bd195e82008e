"""Learnt conditions to look at: images in the plane under each, and what is nearest to some."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.optimize import linear_sum_assignment

from lookalike.core.arrays import Float32s, Floats, Ints
from lookalike.learning.conditions.triplets import ConditionTriplets
from lookalike.learning.lit.captions import UNKNOWN

SIDE, THUMB, GAP = 560, 104, 12  # pixels
N_QUERIES, N_NEAREST = 4, 5
N_IN_LEGEND = 9  # values
DOT = 4
PAPER, INK, GREY = (255, 255, 255), (20, 20, 20), (190, 190, 190)


@dataclass(frozen=True)
class Panel:
    """What is drawn of one condition.

    Attributes:
        title: above it.
        points: of images in the unit square, shape (n, 2).
        codes: numbers of their values, shape (n,), UNKNOWN where there is none.
        values: their names.
        nearest: images nearest to each query, the query first, shape (N_QUERIES, 1 + N_NEAREST).
    """

    title: str
    points: Floats
    codes: Ints
    values: Sequence[str]
    nearest: Ints


def match_maps(mapped: Sequence[Float32s], triplets: ConditionTriplets) -> list[str]:
    """Return for each map the condition that it is drawn by.

    Maps and conditions are matched for the most triplets that are right; a map that is left over
    has the condition that it knows best.

    Args:
        mapped: unit vectors of all images under each map.
        triplets: of each condition.
    """
    right = np.zeros((len(mapped), len(triplets.names)))
    for row, vectors in enumerate(mapped):
        anchors, closer, farther = vectors[triplets.rows.T]
        is_right = (anchors * (closer - farther)).sum(axis=1) > 0
        for place in range(len(triplets.names)):
            right[row, place] = is_right[triplets.conditions == place].mean()
    chosen = right.argmax(axis=1)
    rows, places = linear_sum_assignment(-right)
    chosen[rows] = places
    return [triplets.names[place] for place in chosen.tolist()]


def lay_out(vectors: Float32s, seed: int) -> Floats:
    """Lay unit vectors out in the unit square by t-SNE, shape (n, 2).

    Source: van der Maaten and Hinton (JMLR 2008), as scikit-learn has it.
    """
    from sklearn.manifold import TSNE  # noqa: PLC0415 - takes a second

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    points = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(vectors)
    points = points - points.min(axis=0)
    found: Floats = points / (points.max(axis=0) + 1e-9)
    return found


def nearest_others(vectors: Float32s, products: Sequence[str], queries: Ints) -> Ints:
    """Return each query and its nearest images of other products, shape (n, 1 + N_NEAREST).

    Args:
        vectors: of length 1, shape (n_images, d).
        products: of the images; "" is a product of its own.
        queries: rows.
    """
    near = vectors[queries] @ vectors.T
    of = np.array([name or f"\0{row}" for row, name in enumerate(products)])
    near[of[queries][:, None] == of[None]] = -np.inf
    order = np.argsort(-near, axis=1, kind="stable")[:, :N_NEAREST]
    return np.concatenate([queries[:, None], order], axis=1)


def draw_panels(panels: Sequence[Panel], thumb: Callable[[int], Image.Image]) -> Image.Image:
    """Return one picture: a line of map, legend and retrieval rows for each condition.

    Args:
        panels: from above.
        thumb: the picture of a row, of any size.
    """
    height = SIDE + 3 * GAP
    width = SIDE + (N_NEAREST + 1) * (THUMB + GAP) + 3 * GAP
    sheet = Image.new("RGB", (width, height * len(panels)), PAPER)
    for place, panel in enumerate(panels):
        _draw_panel(sheet, place * height + GAP, panel, thumb)
    return sheet


def colour_of(code: int, n: int) -> tuple[int, int, int]:
    """Return a colour for one of n values, grey for UNKNOWN.

    >>> colour_of(0, 3), colour_of(UNKNOWN, 3)
    ((217, 43, 43), (190, 190, 190))
    """
    if code == UNKNOWN:
        return GREY
    light = 0.85 if code % 2 == 0 else 0.6
    red, green, blue = colorsys.hsv_to_rgb(code / n, 0.8, light)
    return round(255 * red), round(255 * green), round(255 * blue)


def _draw_panel(
    sheet: Image.Image, top: int, panel: Panel, thumb: Callable[[int], Image.Image]
) -> None:
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(18)
    small = ImageFont.load_default(13)
    n = len(panel.values)
    spread = SIDE - 2 * GAP
    for (x, y), code in zip(panel.points.tolist(), panel.codes.tolist(), strict=True):
        left, upper = round(GAP + x * spread), round(top + y * spread)
        draw.ellipse((left, upper, left + DOT, upper + DOT), fill=colour_of(code, n))
    start = SIDE + GAP
    draw.text((start, top), panel.title, INK, font)
    place = start
    for code, value in enumerate(panel.values[:N_IN_LEGEND]):
        draw.text((place, top + 28), value, colour_of(code, n), small)
        place += round(small.getlength(value)) + GAP
    for row, images in enumerate(panel.nearest.tolist()):
        for column, image in enumerate(images):
            found = thumb(image).copy()
            found.thumbnail((THUMB, THUMB))
            left = start + column * (THUMB + GAP) + (GAP if column else 0)
            sheet.paste(found, (left, top + 60 + row * (THUMB + GAP)))
