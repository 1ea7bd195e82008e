"""What an embedding is learnt from. No torch here: pages and forms read recipes too."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.core.errors import Refused

PRODUCT = "product"  # stands among columns for what an image is a picture of
FINE_TUNING, CONDITIONS = "fine-tuning", "CSN"
METHODS = ("multisimilarity", "margin", "triplet", "s2sd", FINE_TUNING, CONDITIONS)
NAMES, PSEUDOLABELS = "names", "pseudolabels"
WORDS = ("", NAMES, PSEUDOLABELS)


@dataclass(frozen=True)
class EmbeddingRecipe:
    """How an embedding of a catalog is learnt.

    Attributes:
        columns: attributes, or "product". Fine-tuning classifies each of them, CSN makes a
            condition of each; all else takes images for one class that agree in all of them.
        method: of METHODS.
        words: that guide: "names" of the classes (ELG), "pseudolabels" (PLG), or none.
        weight: of the words.
        dim: of the embedding; 0 for one linear map, which begins as the identity (CSN's is drawn).
        hidden: width before it; 0 for none.
        epochs: how often each image is seen.
        seed: of all that is drawn.

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

    @property
    def is_by_column(self) -> bool:
        """Whether each column is learnt for itself, rather than classes of all together."""
        return self.method in (FINE_TUNING, CONDITIONS)
