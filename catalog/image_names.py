"""Find the images of catalogs by the names that files give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db.models import QuerySet

from catalog.models import Catalog, Image, SourceFile
from lookalike.io.image_names import ImageNames

_CHUNK = 5000


def names_of_images(
    images: QuerySet[Image], title: str, among: Collection[int] | None = None
) -> ImageNames[int]:
    """Return the names of images, for the files of others: paths of imports, uids and SHA-256.

    Args:
        images: all that a name may mean; a name finds the row's id.
        title: of the catalogs, for messages.
        among: ids that the file may name; None: all.
    """
    rows = images.values_list("pk", "uid", "sha256").iterator(chunk_size=_CHUNK)
    ids = ((name, pk) for pk, uid, sha256 in rows for name in (str(uid), sha256))
    paths = SourceFile.objects.filter(image__in=images).values_list("path", "image_id")
    return ImageNames(paths.iterator(chunk_size=_CHUNK), ids, title=title, among=among)


def names_of_contents(catalogs: Iterable[Catalog | int]) -> ImageNames[str]:
    """Return the names of the images of catalogs; a name finds the SHA-256 of the picture.

    One picture in two catalogs is one content.
    """
    catalogs = list(dict.fromkeys(catalogs))
    images = Image.objects.filter(catalog__in=catalogs)
    rows = images.values_list("uid", "sha256").iterator(chunk_size=_CHUNK)
    ids = ((name, sha256) for uid, sha256 in rows for name in (str(uid), sha256))
    title = " or ".join(f"“{one}”" for one in catalogs if isinstance(one, Catalog))
    paths = SourceFile.objects.filter(image__in=images).values_list("path", "image__sha256")
    return ImageNames(paths.iterator(chunk_size=_CHUNK), ids, title=title or "these catalogs")
