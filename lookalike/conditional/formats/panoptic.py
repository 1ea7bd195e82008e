"""COCO panoptic files (Kirillov et al., CVPR 2019): which categories cover which share of an image.

`{"images": [{"id", "width", "height"}], "categories": [{"id", "name"}], "annotations":
[{"image_id", "segments_info": [{"category_id", "area"}]}]}`. The PNGs are not needed: the areas
stand in the JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lookalike.conditional.formats.json_files import (
    EntryError,
    as_id,
    as_list,
    as_object,
    as_text,
    json_kind,
    read_json,
    required,
)
from lookalike.conditional.types import Defect, Scene
from lookalike.io.errors import FormatError

SOURCE = "coco_panoptic"
SUFFIXES = ("-merged", "-other", "-stuff")
Size = tuple[int, int]


@dataclass(frozen=True)
class SceneSet:
    """Scenes in the order of the file's list of segmented images.

    Attributes:
        scenes: every entry that could be used.
        sizes: {image id: (width, height)}.
        malformed: the entries that could not; index is the place in `annotations`.
    """

    scenes: tuple[Scene, ...]
    sizes: Mapping[str, Size]
    malformed: tuple[Defect, ...] = ()


def read_panoptic(path: str | Path) -> SceneSet:
    """Return the scenes of a panoptic JSON, with the plain names of the categories.

    Segments of one category are added up, crowds included.

    Raises:
        FormatError: not JSON, a missing list, a broken image or category, or no usable scene.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    found = read_json(path)
    try:
        whole = as_object(found, "the file")
        sizes = _sizes(as_list(whole, "images"))
        names = _names(as_list(whole, "categories"))
        entries = as_list(whole, "annotations")
    except EntryError as problem:
        raise FormatError(path, None, str(problem)) from problem
    scenes: dict[str, Scene] = {}
    malformed: list[Defect] = []
    for index, entry in enumerate(entries):
        try:
            scene = _scene(as_object(entry), sizes, names)
            if scene.image in scenes:
                raise EntryError(f"image {scene.image!r} is segmented twice")
            scenes[scene.image] = scene
        except EntryError as problem:
            malformed.append(Defect(index, "malformed", str(problem)))
    if not scenes:
        why = malformed[0].reason if malformed else "the list annotations is empty"
        raise FormatError(path, None, f"no scene can be used ({why})")
    return SceneSet(tuple(scenes.values()), sizes, tuple(malformed))


def plain_category(name: str) -> str:
    """Return a panoptic category as people say it: "wall-brick" is "brick wall".

    As in the released GeneCIS files: "-merged", "-other" and "-stuff" go, and a remaining
    qualifier stands before its noun, except that "window-blind" is "window blind".
    """
    plain = name
    while plain.endswith(SUFFIXES):
        plain = plain.rsplit("-", 1)[0]
    if plain == "window-blind":
        return "window blind"
    noun, _, qualifier = plain.partition("-")
    return f"{qualifier} {noun}" if qualifier else plain


def _sizes(images: list[object]) -> dict[str, Size]:
    sizes: dict[str, Size] = {}
    for place, image in enumerate(images):
        entry = as_object(image, f"images[{place}]")
        width, height = _whole(entry, "width"), _whole(entry, "height")
        if width <= 0 or height <= 0:
            raise EntryError(f"images[{place}] has the size {width} x {height}")
        sizes[as_id(entry, "id")] = (width, height)
    return sizes


def _names(categories: list[object]) -> dict[str, str]:
    names: dict[str, str] = {}
    for place, category in enumerate(categories):
        entry = as_object(category, f"categories[{place}]")
        names[as_id(entry, "id")] = plain_category(as_text(entry, "name"))
    return names


def _scene(
    entry: Mapping[str, object], sizes: Mapping[str, Size], names: Mapping[str, str]
) -> Scene:
    image = as_id(entry, "image_id")
    if image not in sizes:
        raise EntryError(f"image {image!r} is not in the list images")
    width, height = sizes[image]
    areas: dict[str, int] = {}
    for place, segment in enumerate(as_list(entry, "segments_info")):
        info = as_object(segment, f"segments_info[{place}]")
        category, area = as_id(info, "category_id"), _whole(info, "area")
        if category not in names:
            raise EntryError(f"segments_info[{place}] has the unknown category {category}")
        if area < 0:
            raise EntryError(f"segments_info[{place}] has the area {area}")
        areas[names[category]] = areas.get(names[category], 0) + area
    n_pixels = width * height
    if sum(areas.values()) > n_pixels:
        raise EntryError(f"its segments cover {sum(areas.values()):,} of {n_pixels:,} pixels")
    return Scene(image, {name: area / n_pixels for name, area in areas.items() if area})


def _whole(entry: Mapping[str, object], key: str) -> int:
    value = required(entry, key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise EntryError(f"{key} is {json_kind(value)}, not a whole number")
    return value
