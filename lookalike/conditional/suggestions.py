"""What to suggest triplets from, as it is asked for and stored. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lookalike.conditional.builders.disagreements import SuggestLimits

MAX_CONDITIONS = 20
MAX_CONDITION = 200


@dataclass(frozen=True)
class SuggestRecipe:
    """Which triplets to suggest.

    Attributes:
        pool: slug; "" to compare embedding sets of the catalog.
        models: specs of embedding sets; empty for all that are complete. Not for a pool, whose
            sources all have their say, but for random pairs.
        conditions: every triplet is asked once under each; empty for once without any.
        n_triplets, per_anchor, min_disagreement: as `SuggestLimits`.
        n_anchors: how many images (or queries of the pool) to look at.
        k: how many neighbours of an anchor by each embedding set are its candidates.
        seed: of the draw of anchors, and of the order of equals.
    """

    pool: str = ""
    models: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    n_triplets: int = 200
    per_anchor: int = 3
    min_disagreement: float = 0.0
    n_anchors: int = 500
    k: int = 10
    seed: int = 0

    @property
    def limits(self) -> SuggestLimits:
        """How many triplets to suggest.

        Raises:
            ValueError: a number out of range.
        """
        return SuggestLimits(self.n_triplets, self.per_anchor, self.min_disagreement)

    def checked(self) -> SuggestRecipe:
        """Return the recipe, its conditions without blanks around them.

        Raises:
            ValueError: a number out of range, or conditions that are empty, long, twice, or many.
        """
        _ = self.limits
        for name in ("n_anchors", "k"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, not at least 1")
        if self.seed < 0:
            raise ValueError("the seed is a whole number from 0")
        conditions = tuple(condition.strip() for condition in self.conditions)
        if len(conditions) > MAX_CONDITIONS or len(set(conditions)) < len(conditions):
            raise ValueError(f"name up to {MAX_CONDITIONS} different conditions")
        if any(not 0 < len(condition) <= MAX_CONDITION for condition in conditions):
            raise ValueError(f"a condition has 1 to {MAX_CONDITION} letters")
        return SuggestRecipe(**{**self.__dict__, "conditions": conditions})

    def as_json(self) -> dict[str, Any]:
        """Return the recipe as it is stored."""
        return asdict(self) | {"models": list(self.models), "conditions": list(self.conditions)}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> SuggestRecipe:
        """Return a recipe that `as_json` wrote."""
        lists = {name: tuple(stored[name]) for name in ("models", "conditions")}
        return cls(**{**stored, **lists})
