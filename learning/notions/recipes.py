"""How a notion is said and fitted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models.fields.json import KeyTextTransform

from learning.models import TextSpace
from lookalike.core.errors import Refused
from lookalike.learning.lit.captions import default_template
from lookalike.learning.notions.prompts import (
    FEWEST,
    Prompts,
    prompts_from_list,
    prompts_from_words,
)

METHODS = {"indirect": "InDiReCT", "span": "Span of the prompts"}
DIM, MOST_DIMS = 16, 1_024
TEMPLATE = "a photo of something {}"


@dataclass(frozen=True)
class NotionRecipe:
    """What differs, in words, and how the map is fitted.

    Attributes:
        words: what differs; whole prompts where there is no template.
        template: what a word goes into, in place of {}.
        method: of METHODS.
        dim: directions that are kept, at most.
        seed: of the descent's start.
    """

    words: tuple[str, ...]
    template: str = TEMPLATE
    method: str = "indirect"
    dim: int = DIM
    seed: int = 0

    @cached_property
    def prompts(self) -> Prompts:
        """The sentences.

        Raises:
            Refused: fewer than two, two that are equal, or a template without its gap.
        """
        if not self.template:
            return prompts_from_list(self.words)
        return prompts_from_words(self.words, self.template)


def recipe_of_column(space: TextSpace, column: str, **changes: Any) -> NotionRecipe:
    """Return the recipe of the notion that an attribute's values say, in the space's caption.

    Raises:
        Refused: the space's catalog has no such attribute, or one value of it.
    """
    images = space.catalog.images.order_by().annotate(said=KeyTextTransform(column, "attributes"))
    found = images.values_list("said", flat=True).distinct()
    words = tuple(sorted({value.strip() for value in found if value and value.strip()}))
    if len(words) < FEWEST:
        n = f"the one value {words[0]!r}" if words else "no value"
        raise Refused("column", f"{column!r} has {n} in “{space.catalog}”; a notion needs two.")
    templates = space.projection.card.get("templates", {})
    template = templates.get(column, default_template(column))
    return NotionRecipe(words=words, template=template, **changes)


def parse_words(text: str, *, are_prompts: bool = False) -> tuple[str, ...]:
    """Return the words of a text, parted by lines and, unless they are prompts, by commas."""
    parts = text.splitlines() if are_prompts else re.split(r"[,;\n\r]+", text)
    return tuple(part.strip() for part in parts if part.strip())


def check_recipe(recipe: NotionRecipe) -> None:
    """Pass if a notion can be fitted so, as far as can be told without reading the prompts.

    Raises:
        Refused: the field and the reason.
    """
    _ = recipe.prompts
    if recipe.method not in METHODS:
        raise Refused("method", f"there is no {recipe.method!r}, but {', '.join(METHODS)}.")
    if not 1 <= recipe.dim <= MOST_DIMS:
        raise Refused("dim", f"{recipe.dim} is not from 1 to {MOST_DIMS:,}.")
    if recipe.seed < 0:
        raise Refused("seed", f"{recipe.seed} is below 0.")
