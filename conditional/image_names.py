"""Which image of a catalog a name in somebody else's file stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from catalog.image_names import names_of_images
from catalog.models import Catalog
from lookalike.io.image_names import UnknownImageError


class ImagesByName(Mapping[str, int]):
    """{name: row id} for every name by which a file may call one image of a catalog.

    Names are resolved on demand (`lookalike.io.image_names.ImageNames`); it lists none.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._names = names_of_images(catalog.images.all(), f"the catalog “{catalog}”")

    def __getitem__(self, name: str) -> int:
        try:
            return self._names.find(name)
        except UnknownImageError as problem:
            raise KeyError(name) from problem

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def why_not(self, name: str) -> str:
        """Return why a name means no image; "" for one that does."""
        return self._names.find_all([name])[1].get(name, "")
