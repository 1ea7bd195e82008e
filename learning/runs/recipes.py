"""What all recipes of training runs share. No torch here: pages and forms read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from django.utils.text import slugify

from catalog.models import Catalog
from learning.models import Family
from lookalike.backbones.spec import SpecError, parse_spec
from lookalike.core.errors import Refused

PARENT = "timm:tf_efficientnet_lite0@stages"
MOST_EPOCHS = 1_000


class Recipe(Protocol):
    """How a model is learned: a frozen dataclass.

    Attributes:
        family: what a run ends in.
        parent: spec of the backbone whose vectors it maps.
    """

    family: ClassVar[Family]

    @property
    def parent(self) -> str:
        """Spec of the backbone whose vectors it maps."""

    def check(self, catalog: Catalog) -> None:
        """Pass if a catalog can be learned from so, as far as can be told without a network.

        Raises:
            Refused: the field and the reason.
        """


def check_training(parent: str, epochs: int, seed: int) -> None:
    """Pass if a backbone is named and a run can be so long.

    Raises:
        Refused: the field and the reason.
    """
    try:
        parse_spec(parent)
    except SpecError as problem:
        raise Refused("model", str(problem)) from problem
    if not 1 <= epochs <= MOST_EPOCHS:
        raise Refused("epochs", f"{epochs} is not from 1 to {MOST_EPOCHS:,}.")
    if seed < 0:
        raise Refused("seed", f"{seed} is below 0.")


def check_heads(columns: Sequence[str]) -> None:
    """Pass if each of some attributes can have a head called like it.

    Raises:
        Refused: two would have one name, or one none.
    """
    heads = [slugify(column) for column in columns]
    if "" in heads or len({*heads}) < len(heads):
        raise Refused("columns", "two conditions would have one name, or one none.")
