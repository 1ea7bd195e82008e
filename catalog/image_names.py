"""What files may call an image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from django.db.models import QuerySet

from catalog.models import Image, SourceFile


def image_names(
    images: QuerySet[Image], of_path: Callable[[str], Iterable[str]] = lambda path: (path,)
) -> dict[str, set[int]]:
    """Return {name: row ids}: an image is named by uid, SHA-256, and the path of an import.

    Args:
        images: whose names are wanted.
        of_path: all names that come of a path; by default it alone.
    """
    names: dict[str, set[int]] = defaultdict(set)
    rows = images.values_list("pk", "uid", "sha256")
    for pk, uid, sha256 in rows.iterator(chunk_size=5000):
        names[str(uid)].add(pk)
        names[sha256].add(pk)
    paths = SourceFile.objects.filter(image__in=images).values_list("path", "image_id")
    for path, pk in paths.iterator(chunk_size=5000):
        for name in of_path(path):
            names[name].add(pk)
    return dict(names)
