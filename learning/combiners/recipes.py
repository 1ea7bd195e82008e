"""How a Combiner is learned. No torch here: pages and forms read recipes too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from catalog.models import Catalog
from learning.models import Family, TextSpace
from learning.runs.recipes import check_heads, check_training
from learning.text_spaces.queries import space_by_slug
from learning.text_spaces.recipes import attribute_rows
from lookalike.core.errors import Refused
from lookalike.learning.compose.recipe import CombinerRecipe
from lookalike.learning.lit.captions import read_attributes

MOST_TRIPLETS = 200_000


@dataclass(frozen=True)
class CatalogCombiner(CombinerRecipe):
    """A Combiner of the site: what it is learned from, how, and where images and texts meet.

    Attributes:
        space: short name of the text space.
    """

    family: ClassVar[Family] = Family.COMBINER

    space: str = ""

    @property
    def text_space(self) -> TextSpace:
        """Where images and texts meet.

        Raises:
            Refused: there is no such text space.
        """
        return space_by_slug(self.space)

    @property
    def parent(self) -> str:
        """Spec of the backbone whose vectors the text space maps."""
        return self.text_space.projection.parent_spec

    def check(self, catalog: Catalog) -> None:
        """Pass if a catalog can be learned from so, as `Recipe`."""
        check_training(self.parent, self.epochs, self.seed)
        if self.n_triplets > MOST_TRIPLETS:
            raise Refused("n_triplets", f"{self.n_triplets:,} is above {MOST_TRIPLETS:,}.")
        check_heads(self.columns)
        rows = attribute_rows(catalog)
        if not any(row.get(self.subject) for row in rows):
            raise Refused("subject", f"no image of “{catalog}” has {self.subject!r}.")
        read_attributes(rows, [self.subject, *self.columns])
