"""DeepFashion (Liu et al., CVPR 2016): In-shop, Consumer-to-shop, and Category and Attribute.

Lists lie in `Anno/` and `Eval/`, pictures in `img/`. Each list states its number of rows in its
first line and names its columns in its second.
"""

from __future__ import annotations

from itertools import zip_longest

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists, box, folder_names
from lookalike.images.problems import Problem
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

PARTITION = "list_eval_partition.txt"
# numbers of poses, clothes and sources: README of each benchmark, section BBOX LABELS
POSES = {
    "1": "front",
    "2": "side",
    "3": "back",
    "4": "zoom-out",
    "5": "zoom-in",
    "6": "stand-alone",
}
KINDS = {"1": "upper", "2": "lower", "3": "full"}
SOURCES = {"1": "shop", "2": "consumer"}
ATTRIBUTE_KINDS = {"1": "texture", "2": "fabric", "3": "shape", "4": "part", "5": "style"}
# Counts of Liu et al. (CVPR 2016) and of each benchmark's README. They never refuse a folder: other
# counts are reported. IN_SHOP: the splits add up to the images; 3,997 + 3,985 products.
IN_SHOP = {
    **{"images": 52_712, "products": 7_982},
    **{"train": 25_882, "query": 14_218, "gallery": 12_612},
}
# From the benchmark's page alone: its split is of pairs, so there is no sum to check them by.
CONSUMER_TO_SHOP = {"images": 239_557, "products": 33_881}
# the fine lists number the kinds otherwise: neckline and sleeve are parts, fit is one of its own
FINE_KINDS = {
    "1": "texture",
    "2": "sleeve",
    "3": "length",
    "4": "neckline",
    "5": "fabric",
    "6": "fit",
}
# README of the fine-grained annotations; the splits add up to the images.
FINE = {"images": 20_000, "train": 14_000, "val": 2_000, "test": 4_000}
# The splits add up to the images. list_category_cloth.txt names 50 categories; that 46 of them
# have images is a count by users of the data, which the authors do not state.
ATTRIBUTES = {
    **{"images": 289_222, "classes": 46},
    **{"train": 209_222, "val": 40_000, "test": 40_000},
}


def read_in_shop(source: Source) -> Layout:
    """Return the In-shop Clothes Retrieval Benchmark: products, split, category, pose, box."""
    lists = Lists(source, "In-shop Clothes Retrieval")
    path = lists.find(PARTITION)
    listing = Listing(lists.title, path, IN_SHOP)
    for line, (image, item, status) in lists.counted_rows(path, 3):
        _check_split(path, line, status, ("train", "query", "gallery"))
        gender, category, *_ = [*folder_names(image), "", ""]
        listing.add(image, item, {"split": status, "gender": gender, "category": category}, line)
    if boxes := lists.find_any("list_bbox_inshop.txt"):
        for line, (image, kind, pose, *corners) in lists.counted_rows(boxes, 7, str.split):
            known = {"clothes": KINDS.get(kind, kind), "pose": POSES.get(pose, pose)}
            listing.note(image, known | {"box": box(boxes, line, corners)}, boxes, line)
    return listing.found_in(source)


def read_consumer_to_shop(source: Source) -> Layout:
    """Return the Consumer-to-shop Clothes Retrieval Benchmark: products, split, who took it, box.

    The partition lists pairs; an image takes the split of the first pair that names it.
    """
    lists = Lists(source, "Consumer-to-shop Clothes Retrieval")
    path = lists.find(PARTITION)
    listing = Listing(lists.title, path, CONSUMER_TO_SHOP)
    n_contrary = 0
    for line, (consumer, shop, item, status) in lists.counted_rows(path, 4):
        _check_split(path, line, status, ("train", "val", "test"))
        for image, kind in ((consumer, "consumer"), (shop, "shop")):
            known = listing.entries.get(image)
            if known is None:
                category = "/".join(folder_names(image)[:2])
                attributes = {"split": status, "source": kind, "category": category}
                listing.add(image, item, attributes, line)
            elif known[0] != item:
                reason = f"{image!r} shows item {item} here and {known[0]} in line {known[2]}"
                raise FormatError(path, line, reason)
            else:
                n_contrary += known[1]["split"] != status
    if n_contrary:
        reason = f"{n_contrary:,} lines put an image into another split; that of its first counts."
        listing.problems.append(Problem(path, reason))
    if boxes := lists.find_any("list_bbox_consumer2shop.txt"):
        for line, (image, kind, taken, *corners) in lists.counted_rows(boxes, 7, str.split):
            if image not in listing.entries:  # of a product without a pair, so in no split
                folders = folder_names(image)
                item = next((part for part in folders if part.startswith("id_")), "")
                taken_by = SOURCES.get(taken, taken)
                about = {"source": taken_by, "category": "/".join(folders[:2])}
                listing.add(image, item, about, line)
            measured = {"clothes": KINDS.get(kind, kind), "box": box(boxes, line, corners)}
            listing.note(image, measured, boxes, line)
    return listing.found_in(source)


def read_deepfashion_attributes(source: Source) -> Layout:
    """Return Category and Attribute Prediction: class, attributes by kind, split, box.

    Attributes of one kind that an image has are parted by `|`.
    """
    lists = Lists(source, "DeepFashion Category and Attribute Prediction")
    path = lists.find("list_category_img.txt")
    listing = Listing(lists.title, path, ATTRIBUTES)
    cloth = lists.find("list_category_cloth.txt")
    names = [row[0] for _, row in lists.counted_rows(cloth, 2, _last_apart)]
    for line, (image, number) in lists.counted_rows(path, 2):
        if not number.isdecimal() or not 1 <= int(number) <= len(names):
            raise FormatError(path, line, f"category {number!r} is none of 1 to {len(names)}")
        listing.add(image, "", {"class": names[int(number) - 1]}, line)
    partition = lists.find(PARTITION)
    for line, (image, status) in lists.counted_rows(partition, 2):
        _check_split(partition, line, status, ("train", "val", "test"))
        listing.note(image, {"split": status}, partition, line)
    _note_attributes(lists, listing)
    if boxes := lists.find_any("list_bbox.txt"):
        for line, (image, *corners) in lists.counted_rows(boxes, 5, str.split):
            listing.note(image, {"box": box(boxes, line, corners)}, boxes, line)
    return listing.found_in(source)


def read_deepfashion_fine(source: Source) -> Layout:
    """Return the fine annotation of Category and Attribute Prediction: class, attributes, split.

    `Anno_fine/SPLIT.txt` names the images, `SPLIT_cate.txt` and `SPLIT_attr.txt` say the number
    of the class and the marks of the 26 attributes in the same order. The attributes of one kind
    that an image has are parted by `|`; "none" says that it has none.
    """
    lists = Lists(source, "DeepFashion's fine annotation")
    cloth = lists.find("list_attr_cloth.txt")
    attributes = [row for _, row in lists.counted_rows(cloth, 2, _last_apart)]
    cloth = lists.find("list_category_cloth.txt")
    names = [row[0] for _, row in lists.counted_rows(cloth, 2, _last_apart)]
    listing = Listing(lists.title, "test.txt", FINE)
    for split in ("train", "val", "test"):
        if split != "test" and lists.find_any(f"{split}.txt") is None:
            continue
        path = listing.list_name = lists.find(f"{split}.txt")
        about = [lists.find(f"{split}_{part}.txt") for part in ("cate", "attr")]
        columns = [lists.rows(path, 1), *(lists.rows(other, 1) for other in about)]
        for place in zip_longest(*columns):
            if None in place:
                short = [path, *about][place.index(None)]
                raise FormatError(short, None, f"it has fewer lines than the others of {split}")
            (line, (image,)), (_, (number,)), (_, (marks,)) = place
            if not number.isdecimal() or not 1 <= int(number) <= len(names):
                raise FormatError(
                    about[0], line, f"category {number!r} is none of 1 to {len(names)}"
                )
            if len(marks.split()) != len(attributes):
                n = len(marks.split())
                reason = f"it has {n} marks where there are {len(attributes)} attributes"
                raise FormatError(about[1], line, reason)
            kinds: dict[str, list[str]] = {}
            for mark, (name, kind) in zip(marks.split(), attributes, strict=True):
                some = kinds.setdefault(FINE_KINDS.get(kind, kind), [])
                some += [name] if mark == "1" else []
            known = {kind: "|".join(some) or "none" for kind, some in kinds.items()}
            listing.add(image, "", {"class": names[int(number) - 1], "split": split} | known, line)
    return listing.found_in(source)


def _note_attributes(lists: Lists, listing: Listing) -> None:
    path, cloth = lists.find("list_attr_img.txt"), lists.find("list_attr_cloth.txt")
    attributes = [row for _, row in lists.counted_rows(cloth, 2, _last_apart)]
    n_columns = 1 + len(attributes)
    for line, (image, *marks) in lists.counted_rows(path, n_columns, str.split):
        held: dict[str, list[str]] = {}
        for mark, (name, kind) in zip(marks, attributes, strict=True):
            if mark == "1":
                held.setdefault(ATTRIBUTE_KINDS.get(kind, kind), []).append(name)
        listing.note(image, {kind: "|".join(some) for kind, some in held.items()}, path, line)


def _last_apart(text: str) -> list[str]:
    return text.rsplit(maxsplit=1)


def _check_split(path: str, line: int, status: str, known: tuple[str, ...]) -> None:
    if status not in known:
        raise FormatError(path, line, f"{status!r} is none of {', '.join(known)}")
