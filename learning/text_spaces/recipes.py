"""How a text space is made. No torch here: pages and forms read recipes too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from catalog.models import Catalog
from learning.models import Family
from learning.runs.recipes import PARENT, check_training
from lookalike.backbones.spec import Source
from lookalike.core.errors import Refused
from lookalike.learning.lit.captions import read_attributes


@dataclass(frozen=True)
class SpaceRecipe:
    """How a catalog's text space is made.

    Attributes:
        parent: backbone of the pictures. An open_clip model is a text space as it is.
        columns: attributes of which captions are made; all that can be captioned if empty.
        captions: by attribute, what its captions say, {} for its value.
        epochs: how often each picture is seen.
        seed: of all that is drawn.
    """

    family: ClassVar[Family] = Family.SPACE

    parent: str = PARENT
    columns: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    epochs: int = 40
    seed: int = 0

    @property
    def is_learned(self) -> bool:
        """Whether heads are learned; a CLIP-like model needs none."""
        return not self.parent.startswith(f"{Source.OPEN_CLIP}:")

    def check(self, catalog: Catalog) -> None:
        """Pass if a text space of a catalog can be made so, as `Recipe`."""
        check_training(self.parent, self.epochs, self.seed)
        if not catalog.images.exists():
            raise Refused("catalog", f"“{catalog}” has no images.")
        if self.is_learned:
            read_attributes(attribute_rows(catalog), self.columns, self.captions)


def attribute_rows(catalog: Catalog) -> Sequence[Mapping[str, str]]:
    """Return the attributes of a catalog's images, in any order."""
    return list(catalog.images.order_by().values_list("attributes", flat=True))
