"""Which image of a catalog a name in somebody else's file stands for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from catalog.models import Catalog, SourceFile


def images_by_name(catalog: Catalog) -> dict[str, int]:
    """Return {name: row id} for every name that stands for exactly one image.

    An image is named by its uid, its SHA-256, its path, its file name with and without ending,
    and by the number that its file name is ("121506" for 000000121506.jpg, as in COCO).
    """
    found: dict[str, set[int]] = {}
    images = catalog.images.values_list("pk", "uid", "sha256").iterator(chunk_size=5000)
    for pk, uid, sha256 in images:
        for name in (str(uid), sha256):
            found.setdefault(name, set()).add(pk)
    files = SourceFile.objects.filter(catalog=catalog).values_list("path", "image_id")
    for path, pk in files.iterator(chunk_size=5000):
        for name in _names(path):
            found.setdefault(name, set()).add(pk)
    return {name: next(iter(pks)) for name, pks in found.items() if len(pks) == 1}


def _names(path: str) -> Iterable[str]:
    place = PurePosixPath(path)
    yield path
    yield place.name
    yield place.stem
    if place.stem.isascii() and place.stem.isdecimal():
        yield str(int(place.stem))
