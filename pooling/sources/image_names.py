"""Which images the names in an uploaded file stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.image_names import image_names
from catalog.models import Catalog, Image
from lookalike.images.paths import UnsafePathError, clean_path


class UnknownNameError(Exception):
    """A name stands for no image, or for two; the message says which."""


class Names:
    """Finds the images of some catalogs by SHA-256, uid, or path of an import."""

    def __init__(self, catalogs: Iterable[Catalog]) -> None:
        self._catalogs = list(dict.fromkeys(catalogs))
        images = Image.objects.filter(catalog__in=self._catalogs)
        self._ids_of = image_names(images)
        self.sha256_of = dict(images.values_list("pk", "sha256"))

    def images(self, name: str) -> Sequence[int]:
        """Return the image ids that a name stands for: one in each catalog that has the file.

        Raises:
            UnknownNameError: it stands for none, or for files of different content.
        """
        ids = self._ids_of.get(name) or self._ids_of.get(_cleaned(name)) or set()
        if not ids:
            slugs = " or ".join(f"“{catalog}”" for catalog in self._catalogs)
            raise UnknownNameError(f"{name!r} is no image of {slugs} (by SHA-256, uid or path)")
        if len({self.sha256_of[pk] for pk in ids}) > 1:
            raise UnknownNameError(f"{name!r} is the path of two images; name it by SHA-256 or uid")
        return sorted(ids)


def _cleaned(name: str) -> str:
    try:
        return clean_path(name)
    except UnsafePathError:
        return name
