"""Which image of a catalog a name in somebody else's file stands for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from catalog.image_names import image_names
from catalog.models import Catalog


def images_by_name(catalog: Catalog) -> dict[str, int]:
    """Return {name: row id} for every name that stands for exactly one image.

    An image is named by its uid, its SHA-256, its path, its file name with and without ending,
    and by the number that its file name is ("121506" for 000000121506.jpg, as in COCO).
    """
    ids_of = image_names(catalog.images.all(), _names)
    return {name: next(iter(ids)) for name, ids in ids_of.items() if len(ids) == 1}


def _names(path: str) -> Iterable[str]:
    place = PurePosixPath(path)
    yield path
    yield place.name
    yield place.stem
    if place.stem.isascii() and place.stem.isdecimal():
        yield str(int(place.stem))
