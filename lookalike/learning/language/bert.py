"""A BERT that reads texts of one length, without the twenty seconds that importing one takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention

POSITIONS = "embeddings.position_ids"  # no weight: numbers from 0


@dataclass(frozen=True)
class Bert:
    """The encoder of Devlin et al. (NAACL 2019), in inference.

    Attributes:
        weights: by the names of the published files, float32.
        n_heads: of attention.
        n_layers: of the encoder.
        eps: added to a variance.
    """

    weights: Mapping[str, torch.Tensor]
    n_heads: int
    n_layers: int
    eps: float

    @property
    def dim(self) -> int:
        """Length of a token's vector."""
        return int(self.weights["embeddings.word_embeddings.weight"].shape[1])

    def states(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the last vectors of tokens, shape (n, length, dim), of ids (n, length).

        All are real tokens: texts that need padding are read in another batch.
        """
        words = embedding(ids, self.weights["embeddings.word_embeddings.weight"])
        places = self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kinds = self.weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(words + kinds + places, "embeddings.LayerNorm")
        for number in range(self.n_layers):
            x = self._layer(x, f"encoder.layer.{number}")
        return x

    def _layer(self, x: torch.Tensor, name: str) -> torch.Tensor:
        n, length, dim = x.shape
        query, key, value = (
            self._linear(x, f"{name}.attention.self.{part}")
            .view(n, length, self.n_heads, dim // self.n_heads)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        seen = (
            scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(n, length, dim)
        )
        seen = self._linear(seen, f"{name}.attention.output.dense")
        x = self._norm(seen + x, f"{name}.attention.output.LayerNorm")
        inner = gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(self._linear(inner, f"{name}.output.dense") + x,
                          f"{name}.output.LayerNorm")  # fmt: skip

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return layer_norm(x, weight.shape, weight, bias, self.eps)
