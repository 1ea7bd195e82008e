"""Which images the names in an uploaded file stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.image_names import names_of_contents
from catalog.models import Catalog, Image


class Names:
    """Finds the images of some catalogs by whatever a file calls them."""

    def __init__(self, catalogs: Iterable[Catalog]) -> None:
        catalogs = list(dict.fromkeys(catalogs))
        self._contents = names_of_contents(catalogs)
        rows = Image.objects.filter(catalog__in=catalogs).values_list("pk", "sha256")
        self.sha256_of = dict(rows)
        self._ids_of: dict[str, list[int]] = {}
        for pk, sha256 in sorted(self.sha256_of.items()):
            self._ids_of.setdefault(sha256, []).append(pk)

    def images(self, name: str) -> Sequence[int]:
        """Return the image ids that a name stands for: one in each catalog that has the file.

        Raises:
            UnknownImageError: it stands for none, or for files of different content.
        """
        return self._ids_of[self._contents.find(name)]
