"""What an embedding is learnt from. No torch here: pages and forms read recipes too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookalike.core.errors import Refused
from lookalike.learning.held_out import HOLD_OUT, USUAL

PRODUCT = "product"  # stands among columns for what an image is a picture of
FINE_TUNING, SINGLE, CONDITIONS = "fine-tuning", "single", "CSN"
DISCOVERNETS = ("DiscoverNet-Set", "DiscoverNet-Reg")
DISCOVERNET_OPTIONS = (
    "is_branch_trained", "is_squared", "is_cosine", "is_residual", "temperature",
)  # fmt: skip
GUESSED = ("mixture", "LSN", "SCE-Net", *DISCOVERNETS)  # infer a triplet's condition
BY_TRIPLETS = (SINGLE, CONDITIONS, *GUESSED)
METHODS = ("multisimilarity", "margin", "triplet", "s2sd", FINE_TUNING, *BY_TRIPLETS)
MOST_CONDITIONS = 20
NAMES, PSEUDOLABELS = "names", "pseudolabels"
WORDS = ("", NAMES, PSEUDOLABELS)


@dataclass(frozen=True)
class EmbeddingRecipe:
    """How an embedding of a catalog is learnt.

    Attributes:
        columns: attributes, or "product". Fine-tuning classifies each of them; BY_TRIPLETS draw
            triplets of each, and CSN makes a condition of it; all else takes images for one class
            that agree in all of them.
        method: of METHODS.
        words: that guide: "names" of the classes (ELG), "pseudolabels" (PLG), or none.
        weight: of the words.
        dim: of the embedding; 0 for one linear map, which begins as the identity (that of
            BY_TRIPLETS is drawn).
        hidden: width before it; 0 for none.
        epochs: how often each image is seen.
        seed: of all that is drawn.
        n_conditions: maps of GUESSED, which do not see a triplet's condition; 0 for as many as
            there are columns.
        hold_out: one of HOLD_OUT: what is not learned from, to ask about.
        is_branch_trained, is_squared, is_cosine, is_residual, temperature: options of
            DiscoverNet, as `Architecture`; temperature 0 for its own.

    Raises:
        Refused: the field and the reason.
    """

    columns: tuple[str, ...]
    method: str = METHODS[0]
    words: str = ""
    weight: float = 10.0
    dim: int = 128
    hidden: int = 512
    epochs: int = 20
    seed: int = 0
    n_conditions: int = 0
    hold_out: str = USUAL
    is_branch_trained: bool = False
    is_squared: bool = False
    is_cosine: bool = False
    is_residual: bool = False
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if not self.columns:
            raise Refused("columns", f"name attributes, or {PRODUCT!r}")
        if self.method not in METHODS:
            raise Refused("method", f"{self.method!r} is none of {', '.join(METHODS)}")
        if self.words not in WORDS:
            raise Refused("words", f"{self.words!r} is neither names nor pseudolabels")
        if self.words and self.is_by_column:
            raise Refused("words", f"{self.method} is not guided by words")
        if self.epochs < 1 or self.seed < 0 or self.weight < 0:
            raise Refused("epochs", "is at least 1; weight and seed are not below 0")
        if min(self.dim, self.hidden) < 0 or (self.hidden and not self.dim):
            raise Refused("dim", "and hidden are not below 0, and a layer below needs one above")
        if not 0 <= self.n_conditions <= MOST_CONDITIONS:
            raise Refused("n_conditions", f"{self.n_conditions} is not from 0 to {MOST_CONDITIONS}")
        if self.n_conditions and self.method not in GUESSED:
            raise Refused("n_conditions", f"{self.method} has a number of its own; say 0")
        if self.hold_out not in HOLD_OUT:
            raise Refused("hold_out", f"{self.hold_out!r} is none of {', '.join(HOLD_OUT[1:])}")
        if not 0 <= self.temperature < math.inf:
            raise Refused("temperature", f"{self.temperature} is not 0 or above")
        for name in DISCOVERNET_OPTIONS:
            if getattr(self, name) and self.method not in DISCOVERNETS:
                raise Refused(name, f"is an option of {DISCOVERNETS[0]}, not of {self.method}")

    @property
    def is_by_column(self) -> bool:
        """Whether each column is learnt for itself, rather than classes of all together."""
        return self.method in (FINE_TUNING, *BY_TRIPLETS)

    def labels(
        self, rows: Sequence[Mapping[str, str]], products: Sequence[str]
    ) -> dict[str, list[str]]:
        """Return the labels of each image by sort, "" where one is not known.

        Args:
            rows: attributes of each image.
            products: of each image, "" where it is not known.

        Raises:
            Refused: no image has one of a column.
        """
        values = {
            name: list(products) if name == PRODUCT else [row.get(name, "") for row in rows]
            for name in self.columns
        }
        for name, of in values.items():
            if not any(of):
                raise Refused("columns", f"no image has {name!r}")
        if self.is_by_column:
            return values
        joined = [" ".join(of) if all(of) else "" for of in zip(*values.values(), strict=True)]
        return {" and ".join(values): joined}

    @property
    def network_changes(self) -> dict[str, Any]:
        """DiscoverNet's options that are set, by the names of `Architecture`."""
        return {name: getattr(self, name) for name in DISCOVERNET_OPTIONS if getattr(self, name)}
