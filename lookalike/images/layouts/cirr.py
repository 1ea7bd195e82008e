"""CIRR (Liu et al., ICCV 2021): `image_splits/split.rc2.SPLIT.json` and its pictures."""

from __future__ import annotations

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError, InputError

# Liu et al. (ICCV 2021), dataset card: the three files of image_splits
PUBLISHED = {"images": 21_552, "train": 16_939, "val": 2_297, "test1": 2_316}


def read_cirr_images(source: Source) -> Layout:
    """Return CIRR's images: name, split, and the set of six look-alikes that each belongs to.

    Its captions are templates (`lookalike.conditional.formats.cirr`), which name images so.
    """
    lists = Lists(source, "CIRR")
    listing = Listing(lists.title, "split.rc2.train.json", PUBLISHED)
    for split in ("train", "val", "test1"):
        path = lists.find_any(f"split.rc2.{split}.json")
        if path is None:
            continue
        listing.list_name = path
        entries = lists.json(path)
        if not isinstance(entries, dict):
            raise FormatError(path, 1, 'it is not {"<name>": "<path>"}')
        for number, (name, image) in enumerate(entries.items(), 1):
            if not isinstance(image, str):
                raise FormatError(path, number, f"the path of {name!r} is no text", unit="entry")
            known = {"split": split, "name": name, "set": name.rpartition("-img")[0]}
            listing.add(image, "", known, number)
    if not listing.entries:
        raise InputError(f"{source.name}: CIRR has files split.rc2.SPLIT.json; none is there")
    return listing.found_in(source)
