"""How an embedding of a catalog is learned. No torch here: pages and forms read recipes too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Q

from catalog.models import Catalog
from learning.models import Family
from learning.runs.recipes import PARENT, check_heads, check_training
from lookalike.core.errors import Refused
from lookalike.learning.embeddings.recipe import CONDITIONS, PRODUCT, EmbeddingRecipe
from lookalike.learning.held_out import split_images

MOST_DIMS = 4_096


@dataclass(frozen=True)
class CatalogEmbedding(EmbeddingRecipe):
    """An embedding of the site: what it is learned from, how, and of which vectors.

    Attributes:
        parent: spec of the backbone whose vectors it maps.
    """

    family: ClassVar[Family] = Family.EMBEDDING

    parent: str = PARENT

    def check(self, catalog: Catalog) -> None:
        """Pass if a catalog can be learned from so, as `Recipe`.

        Raises:
            Refused: a column that no image has, fewer than two classes of two images, too little
                to hold out, or conditions with equal names in addresses.
        """
        check_training(self.parent, self.epochs, self.seed)
        if max(self.dim, self.hidden) > MOST_DIMS:
            raise Refused("dim", f"and hidden are at most {MOST_DIMS:,}.")
        for column in self.columns:
            has = ~Q(product_id="") if column == PRODUCT else Q(attributes__has_key=column)
            if not catalog.images.filter(has).exists():
                raise Refused("columns", f"no image of “{catalog}” has {column!r}.")
        for columns in ((one,) for one in self.columns) if self.is_by_column else (self.columns,):
            if _n_classes(catalog, columns) < 2:
                raise Refused(
                    "columns",
                    f"fewer than two values of {' and '.join(columns)} are on two images of "
                    f"“{catalog}” or more; nothing can be told apart.",
                )
        if self.method == CONDITIONS:
            check_heads(self.columns)
        if self.hold_out:
            images = [*catalog.images.order_by().values_list("product_id", "attributes")]
            products, rows = [one for one, _ in images], [of for _, of in images]
            split_images(self.labels(rows, products), products, self.hold_out, seed=self.seed)


def _n_classes(catalog: Catalog, columns: Sequence[str]) -> int:
    """Return how many values, or combinations of them, two images or more share."""
    images = catalog.images.order_by().values_list("product_id", "attributes")
    sizes = Counter(
        tuple(product if name == PRODUCT else row.get(name, "") for name in columns)
        for product, row in images.iterator()
    )
    return sum(n > 1 and all(values) for values, n in sizes.items())
