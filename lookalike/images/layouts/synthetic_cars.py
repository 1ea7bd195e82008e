"""Synthetic Cars (Kobs et al., ICCV 2021): rendered cars and `cars.csv`, which says how."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from lookalike.core.errors import Refused
from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists
from lookalike.images.named_colours import colour_of_shift
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

PUBLISHED: dict[str, int] = {}
MAX_BYTES = 256 * 2**20
COLOURS = {"colour": "color", "background_colour": "bg_color"}
PARTS = ("hue", "sat", "val")


def read_synthetic_cars(source: Source) -> Layout:
    """Return Synthetic Cars in the order of their frames: class, colour and background colour.

    Source of the colours' names: `lookalike.images.named_colours`.
    """
    lists = Lists(source, "Synthetic Cars")
    path = lists.find("cars.csv")
    listing = Listing(lists.title, path, PUBLISHED)
    for line, row in sorted(_rows(lists, path), key=lambda item: int(item[1]["frame"])):
        known = {"class": row["model"]}
        for name, column in COLOURS.items():
            known[name] = _colour(path, line, [row[f"{column}_{part}"] for part in PARTS])
        listing.add(f"cars/{int(row['frame'])}.png", "", known, line)
    return listing.found_in(source)


def _rows(lists: Lists, path: str) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = lists.content(path, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise FormatError(path, None, "not UTF-8") from problem
    reader = csv.DictReader(StringIO(text))
    wanted = ["frame", "model", *(f"{name}_{part}" for name in COLOURS.values() for part in PARTS)]
    for name in wanted:
        if name not in (reader.fieldnames or ()):
            raise FormatError(path, 1, f"no column {name}; it has {', '.join(wanted)}")
    for row in reader:
        if any(row[name] is None for name in wanted) or not row["frame"].strip().isdecimal():
            raise FormatError(path, reader.line_num, "a cell is missing, or the frame is no number")
        yield reader.line_num, row


def _colour(path: str, line: int, parts: list[str]) -> str:
    try:
        hue, saturation, value = map(float, parts)
        return colour_of_shift(hue, saturation, value)
    except (ValueError, Refused) as problem:
        raise FormatError(path, line, f"{', '.join(parts)} is no colour: {problem}") from problem
