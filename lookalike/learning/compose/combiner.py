"""The Combiner: from the vector of a reference and that of a condition to what is looked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn
from torch.nn.functional import dropout, normalize, relu

from lookalike.core.arrays import Float32s
from lookalike.core.atomic_files import write_atomically
from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import one_thread
from lookalike.learning.projection import Layer

_CARD = "card"
METHOD = "Combiner"


@dataclass(frozen=True)
class Widths:
    """How wide a Combiner is.

    Attributes:
        dim: of the vectors that go in and come out.
        projection: of each of the two before they meet.
        hidden: after that.
        dropout: share of the numbers that each step leaves out.
    """

    dim: int
    projection: int = 2560
    hidden: int = 5120
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if min(self.dim, self.projection, self.hidden) < 1 or not 0 <= self.dropout < 1:
            raise Refused("widths", "are at least 1, and dropout is from 0 to below 1")


class Combiner(nn.Module):
    """A learnt mixture of image and text, and what their meeting adds to it.

    Source: Baldrati et al., "Conditioned and Composed Image Retrieval Combining and Partially
    Fine-Tuning CLIP-Based Features" (CVPRW 2022), as in Vaze et al., "GeneCIS" (CVPR 2023). With
    vectors of 640 numbers it has 59,003,521 parameters.

    Args:
        widths: as `Widths`.
    """

    def __init__(self, widths: Widths) -> None:
        super().__init__()
        self.widths = widths
        dim, projection, hidden = widths.dim, widths.projection, widths.hidden
        self.text, self.image = nn.Linear(dim, projection), nn.Linear(dim, projection)
        self.joint, self.out = nn.Linear(2 * projection, hidden), nn.Linear(hidden, dim)
        self.gate, self.share = nn.Linear(2 * projection, hidden), nn.Linear(hidden, 1)

    def forward(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """Return queries of length 1, shape (n, dim).

        Args:
            images: of the references, shape (n, dim), as their model gives them.
            texts: of the conditions, likewise.
        """
        both = torch.cat([self._kept(self.text(texts)), self._kept(self.image(images))], dim=1)
        share = torch.sigmoid(self.share(self._kept(self.gate(both))))
        added = self.out(self._kept(self.joint(both)))
        return normalize(added + share * texts + (1 - share) * images, dim=1)

    def _kept(self, numbers: torch.Tensor) -> torch.Tensor:
        return dropout(relu(numbers), self.widths.dropout, self.training)


@dataclass(frozen=True)
class TrainedCombiner:
    """A Combiner with what it was made from.

    Attributes:
        network: in the state of use, without dropout.
        card: vectors, triplets and settings it was trained with, for people.
    """

    network: Combiner
    card: Mapping[str, Any]

    def queries(self, images: Float32s, texts: Float32s) -> Float32s:
        """Return queries of length 1, shape (n, dim), for references and conditions.

        Raises:
            Refused: vectors of another length than it was trained on.
        """
        wanted = self.network.widths.dim
        if images.shape != texts.shape or images.shape[1] != wanted:
            shapes = f"images {images.shape} and texts {texts.shape}"
            raise Refused("vectors", f"{shapes} where (n, {wanted}) is needed")
        with one_thread(), torch.inference_mode():
            found: Float32s = self.network(
                torch.from_numpy(images.astype("float32")),
                torch.from_numpy(texts.astype("float32")),
            ).numpy()
        return found

    @property
    def layers(self) -> dict[str, Layer]:
        """Its layers by name."""
        arrays = {
            name: of.detach().numpy().copy() for name, of in self.network.state_dict().items()
        }
        return {
            name: Layer(arrays[f"{name}.weight"], arrays[f"{name}.bias"])
            for name, _ in self.network.named_children()
        }

    def content(self) -> bytes:
        """Return its file, as safetensors."""
        facts = {**self.card, "method": METHOD, "widths": asdict(self.network.widths)}
        tensors = {name: t.detach().contiguous() for name, t in self.network.state_dict().items()}
        return save(tensors, {_CARD: json.dumps(facts, sort_keys=True)})

    def save(self, path: Path) -> None:
        """Write it whole or not at all."""
        content = self.content()
        write_atomically(path, lambda file: file.write(content))

    @classmethod
    def load(cls, path: Path) -> TrainedCombiner:
        """Return what `save` wrote.

        Raises:
            Refused: the file is damaged, or something else.
            OSError: it cannot be opened.
        """
        with path.open("rb"):
            pass  # a missing file is an OSError, for safetensors it is one of its own
        try:
            with safe_open(path, "pt") as file:
                card = json.loads(file.metadata()[_CARD])
                network = Combiner(Widths(**card.pop("widths")))
                network.load_state_dict(
                    {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                )
        except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as problem:
            raise Refused("combiner", f"{path.name} is no Combiner: {problem}") from problem
        return cls(network.eval(), card)
