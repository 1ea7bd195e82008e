"""Stanford Online Products (Song et al., CVPR 2016): `Ebay_train.txt` and `Ebay_test.txt`."""

from __future__ import annotations

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

# Song et al. (CVPR 2016), section 5: 11,318 + 11,316 classes, each the photos of one product
PUBLISHED = {"images": 120_053, "products": 22_634, "train": 59_551, "test": 60_502}
HEADER = ["image_id", "class_id", "super_class_id", "path"]


def read_online_products(source: Source) -> Layout:
    """Return Stanford Online Products: products, category, split."""
    lists = Lists(source, "Stanford Online Products")
    listing = Listing(lists.title, "Ebay_train.txt", PUBLISHED)
    for split in ("train", "test"):
        path = listing.list_name = lists.find(f"Ebay_{split}.txt")
        for line, row in lists.rows(path, 4):
            if line == 1:
                if row != HEADER:
                    raise FormatError(path, 1, f"the header is not {' '.join(HEADER)}")
                continue
            _, product, _, image = row
            category = image.partition("/")[0].removesuffix("_final")
            listing.add(image, product, {"split": split, "category": category}, line)
    return listing.found_in(source)
