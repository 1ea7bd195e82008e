"""What a text space is learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from catalog.models import Catalog
from lookalike.backbones.spec import Source, SpecError, parse_spec
from lookalike.core.errors import Refused
from lookalike.learning.lit.captions import read_attributes

PARENT = "timm:tf_efficientnet_lite0@stages"
MOST_EPOCHS = 1_000


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

    parent: str = PARENT
    columns: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    epochs: int = 40
    seed: int = 0

    @property
    def is_learned(self) -> bool:
        """Whether heads are learned; a CLIP-like model needs none."""
        return not self.parent.startswith(f"{Source.OPEN_CLIP}:")


def check_recipe(catalog: Catalog, recipe: SpaceRecipe) -> None:
    """Pass if a text space of a catalog can be made so.

    Raises:
        Refused: the field and the reason.
    """
    try:
        parse_spec(recipe.parent)
    except SpecError as problem:
        raise Refused("model", str(problem)) from problem
    if not 1 <= recipe.epochs <= MOST_EPOCHS:
        raise Refused("epochs", f"{recipe.epochs} is not from 1 to {MOST_EPOCHS:,}.")
    if recipe.seed < 0:
        raise Refused("seed", f"{recipe.seed} is below 0.")
    if not catalog.images.exists():
        raise Refused("catalog", f"“{catalog}” has no images.")
    if recipe.is_learned:
        read_attributes(attribute_rows(catalog), recipe.columns, recipe.captions)


def attribute_rows(catalog: Catalog) -> Sequence[Mapping[str, str]]:
    """Return the attributes of a catalog's images, in any order."""
    return list(catalog.images.order_by().values_list("attributes", flat=True))
