"""What a catalog's Combiner is learnt from. No torch here: pages and forms read recipes too."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.core.errors import Refused


@dataclass(frozen=True)
class CombinerRecipe:
    """How a Combiner of a catalog is learnt.

    Defaults are those of the table composition-drawn (docs/learning.md).

    Attributes:
        subject: column that says what an image shows; every other one can be asked about.
        columns: of which captions are made, besides.
        same_values: whether it learns what “of the same colour” means, too, which mined captions
            never say.
        n_triplets: that are mined; half as many more of the same value.
        projection: width of image and text before they meet.
        hidden: width after that.
        dropout: share of numbers that a step leaves out.
        epochs: how often each triplet is seen.
        batch: triplets of a step.
        rate: of learning.
        scale: of the cosines; 1 / temperature.
        seed: of all that is drawn.

    Raises:
        Refused: the field and the reason.
    """

    subject: str
    columns: tuple[str, ...]
    same_values: bool = True
    n_triplets: int = 20_000
    projection: int = 256
    hidden: int = 512
    dropout: float = 0.3
    epochs: int = 5
    batch: int = 256
    rate: float = 2e-3
    scale: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.subject:
            raise Refused("subject", "name the attribute that says what a picture shows")
        if not self.columns or self.subject in self.columns:
            raise Refused("columns", f"name attributes besides {self.subject!r}")
        if self.n_triplets < 2:
            raise Refused("n_triplets", f"{self.n_triplets} is below 2")
