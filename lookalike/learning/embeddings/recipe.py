"""What an embedding is learnt from. No torch here: pages and forms read recipes too."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.core.errors import Refused

PRODUCT = "product"  # stands among columns for what an image is a picture of
FINE_TUNING, SINGLE, CONDITIONS = "fine-tuning", "single", "CSN"
GUESSED = ("mixture", "LSN", "SCE-Net", "DiscoverNet-Set", "DiscoverNet-Reg")  # a triplet's topic
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
        n_conditions: maps of GUESSED, which are not told what a triplet is about; 0 for as many
            as there are columns.

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

    @property
    def is_by_column(self) -> bool:
        """Whether each column is learnt for itself, rather than classes of all together."""
        return self.method in (FINE_TUNING, *BY_TRIPLETS)
