"""Caltech-UCSD Birds-200-2011 (Wah et al., 2011): `images.txt` and the lists next to it."""

from __future__ import annotations

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists, whole
from lookalike.images.problems import Problem
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

# train_test_split.txt of the archive; Wah et al. (2011), CNS-TR-2011-001
PUBLISHED = {"images": 11_788, "classes": 200, "train": 5_994, "test": 5_794}
N_SEEN = 100
NAMES_OF_ATTRIBUTES = "attributes.txt"  # the archive unpacks it next to the folder


def read_cub(source: Source) -> Layout:
    """Return CUB: class, the authors' split, the one of metric learning, box and attributes.

    Metric learning trains on the first 100 classes and tests on the others (Song et al., 2016).
    Attributes that annotators saw are grouped by the text before `::`, separated by `|`. Without
    `attributes.txt`, which names them, they are left out and a problem says so.
    """
    lists = Lists(source, "CUB-200-2011")
    path = lists.find("images.txt")
    listing = Listing(lists.title, path, PUBLISHED)
    image_of = {number: (image, line) for line, (number, image) in lists.rows(path, 2)}
    names = _pairs(lists, "classes.txt")
    classes, splits = _pairs(lists, "image_class_labels.txt"), _pairs(lists, "train_test_split.txt")
    for number, (image, line) in image_of.items():
        kind = classes.get(number, "")
        if kind not in names or splits.get(number) not in {"0", "1"}:
            raise FormatError(path, line, f"image {number} has no class or no split in its lists")
        seen = whole(path, line, kind) <= N_SEEN
        attributes = {
            "class": names[kind].partition(".")[2] or names[kind],
            "split": "train" if splits[number] == "1" else "test",
            "metric_split": "train" if seen else "test",
        }
        listing.add(f"images/{image}", "", attributes, line)
    paths = {number: f"images/{image}" for number, (image, _) in image_of.items()}
    _note_boxes(lists, listing, paths)
    _note_attributes(lists, listing, paths)
    return listing.found_in(source)


def _pairs(lists: Lists, name: str) -> dict[str, str]:
    return {key: value for _, (key, value) in lists.rows(lists.find(name), 2)}


def _note_boxes(lists: Lists, listing: Listing, paths: dict[str, str]) -> None:
    if not (path := lists.find_any("bounding_boxes.txt")):
        return
    for line, (number, *sides) in lists.rows(path, 5):
        sizes = ", ".join(str(whole(path, line, side)) for side in sides)
        listing.note(paths.get(number, number), {"box": f"[{sizes}]"}, path, line)


def _note_attributes(lists: Lists, listing: Listing, paths: dict[str, str]) -> None:
    """Add the attributes that annotators saw; published lines have stray columns at their end."""
    path = lists.find_any("image_attribute_labels.txt")
    if path is None:
        return
    if lists.find_any(NAMES_OF_ATTRIBUTES) is None:
        reason = (
            f"Attributes are left out: {NAMES_OF_ATTRIBUTES}, which names them, is not there. "
            "The archive unpacks it next to the folder CUB_200_2011."
        )
        listing.problems.append(Problem(path, reason))
        return
    names = _pairs(lists, NAMES_OF_ATTRIBUTES)
    held: dict[str, dict[str, list[str]]] = {}
    for line, (number, attribute, is_present, _) in lists.rows(path, 4):
        if is_present != "1":
            continue
        if attribute not in names or number not in paths:
            raise FormatError(path, line, f"no image {number} or no attribute {attribute}")
        group, _, value = names[attribute].partition("::")
        held.setdefault(number, {}).setdefault(group, []).append(value)
    for number, groups in held.items():
        texts = {group: "|".join(values) for group, values in groups.items()}
        listing.note(paths[number], texts, path, 0)
