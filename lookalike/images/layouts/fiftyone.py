"""FiftyOne: its own export (`samples.json`) and image classification (`data/`, `labels.json`).

Source: FiftyOneDataset and FiftyOneImageClassificationDataset as docs.voxel51.com describes them.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

SPLITS = {"train": "train", "val": "val", "validation": "val", "test": "test"}
_OWN = frozenset({"id", "filepath", "metadata", "tags", "created_at", "last_modified_at"})


def read_fiftyone(source: Source) -> Layout:
    """Return a dataset of FiftyOne: `product_id`, classifications and plain fields, tags.

    A tag that names a split is the split. Detections and other labels are passed over.
    """
    lists = Lists(source, "a dataset of FiftyOne")
    path = lists.find_any("samples.json")
    if path is None:
        return _classification(lists, source)
    listing = Listing("FiftyOne", path, {})
    content = lists.json(path)
    samples = content.get("samples") if isinstance(content, dict) else None
    if not isinstance(samples, list):
        raise FormatError(path, 1, 'it holds no list "samples"')
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, dict) or not isinstance(sample.get("filepath"), str):
            raise FormatError(path, number, 'it has no "filepath"', unit="sample")
        known = _attributes(sample)
        listing.add(sample["filepath"], known.pop("product_id", ""), known, number)
    return listing.found_in(source)


def _attributes(sample: dict[str, Any]) -> dict[str, str]:
    raw = sample.get("tags")
    tags = [tag for tag in raw if isinstance(tag, str)] if isinstance(raw, list) else []
    splits = [SPLITS[tag] for tag in tags if tag in SPLITS]
    found = {name: _text(value) for name, value in sample.items()
             if name not in _OWN and not name.startswith("_")}  # fmt: skip
    found["tags"] = "|".join(tag for tag in tags if tag not in SPLITS)
    return ({"split": splits[0]} if splits else {}) | {n: text for n, text in found.items() if text}


def _text(value: object) -> str:
    if isinstance(value, dict) and value.get("_cls") == "Classification":
        value = value.get("label")
    return str(value) if isinstance(value, (str, int, float)) else ""


def _classification(lists: Lists, source: Source) -> Layout:
    path = lists.find("labels.json")
    listing = Listing("FiftyOne", path, {})
    content = lists.json(path)
    labels = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(labels, dict):
        raise FormatError(path, 1, 'it holds no object "labels"')
    classes = content.get("classes")
    folder = f"{path.removesuffix('labels.json')}data/"
    ending = {
        PurePosixPath(image).with_suffix("").as_posix(): PurePosixPath(image).suffix
        for image in source.paths
    }
    for number, (name, target) in enumerate(labels.items(), 1):
        image = f"data/{name}{ending.get(folder + name, '')}"
        listing.add(image, "", {"class": _class(path, number, target, classes)}, number)
    return listing.found_in(source)


def _class(path: str, number: int, target: object, classes: object) -> str:
    if isinstance(target, dict):
        target = target.get("label")
    if isinstance(target, int) and isinstance(classes, list):
        if not 0 <= target < len(classes):
            reason = f"class {target} is none of 0 to {len(classes) - 1}"
            raise FormatError(path, number, reason, unit="entry")
        target = classes[target]
    if isinstance(target, list):
        return "|".join(_class(path, number, one, classes) for one in target)
    return target if isinstance(target, str) else ""
