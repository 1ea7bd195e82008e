"""Which condition a triplet is about, guessed from its three images."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn
from torch.nn.functional import normalize

Branch = Literal["set", "regularised", "concatenation", "lstm", "attention"]
BRANCHES: tuple[Branch, ...] = ("set", "regularised", "concatenation", "lstm", "attention")


class ConditionBranch(nn.Module):
    """Weights of K conditions for each triplet.

    Source: Ye, Shi and Zhan, "Identifying Ambiguous Similarity Conditions via Semantic Matching"
    (CVPR 2022), equations 5 to 7, and their code, which scales anchors alone to length 1. "set"
    takes the largest of what it finds in the pairs anchor-farther and anchor-closer, so swapped
    candidates change nothing; the other kinds, the pair of the candidates among them, tell them
    apart or not, and are regularised.

    Args:
        kind: of BRANCHES.
        dim: of the images' vectors.
        n_conditions: K.
        temperature: of the softmax.
        is_cosine: scale triplets' vectors to length 1, too, as equation 7 does.
    """

    def __init__(
        self,
        kind: Branch,
        dim: int,
        n_conditions: int,
        temperature: float = 1.0,
        *,
        is_cosine: bool = False,
    ) -> None:
        super().__init__()
        self.kind, self.temperature, self.is_cosine = kind, temperature, is_cosine
        self.anchors = nn.Parameter(torch.randn(n_conditions, dim))
        match kind:
            case "concatenation":
                self.body: nn.Module = _layers(3 * dim, 2 * dim, dim)
            case "lstm":
                self.body = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
                self.last = nn.Linear(2 * dim, dim)
            case "attention":
                self.body = nn.MultiheadAttention(2 * dim, 1, dropout=0.5, batch_first=True)
                self.last = nn.Linear(2 * dim, dim)
            case _:
                self.body = _layers(2 * dim, 2 * dim, dim)
                self.last_layers = _layers(dim, 2 * dim, dim)

    def forward(self, parts: torch.Tensor) -> torch.Tensor:
        """Return weights, shape (n, K), rows summing to 1.

        Args:
            parts: vectors of anchors, closer and farther images, shape (3, n, dim).
        """
        guess = self._guess(parts)
        if self.is_cosine:
            guess = normalize(guess, dim=1)
        logits = guess @ normalize(self.anchors, dim=1).T
        return (logits / self.temperature).softmax(dim=1)

    def _guess(self, parts: torch.Tensor) -> torch.Tensor:
        anchors, closer, farther = parts
        if self.kind == "concatenation":
            return torch.as_tensor(self.body(torch.cat([anchors, farther, closer], dim=1)))
        if self.kind == "lstm":
            states, _ = self.body(torch.stack([anchors, farther, closer], dim=1))
            return torch.as_tensor(self.last(states.mean(dim=1)))
        pairs = [torch.cat([anchors, farther], 1), torch.cat([anchors, closer], 1)]
        if self.kind != "set":
            pairs.append(torch.cat([farther, closer], 1))
        together = torch.stack(pairs, dim=1)
        if self.kind == "attention":
            seen, _ = self.body(together, together, together, need_weights=False)
            return torch.as_tensor(self.last((together + seen).sum(dim=1)))
        return torch.as_tensor(self.last_layers(self.body(together).amax(dim=1)))


def overlap(weights: torch.Tensor, swapped: torch.Tensor) -> torch.Tensor:
    """Return how much two guesses share, shape (n,), from 0 to 1.

    >>> overlap(torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.1, 0.3, 0.6]])).item()
    0.4...

    Args:
        weights: of conditions, shape (n, K).
        swapped: of the same with the other two images in each other's place, shape (n, K).
    """
    return torch.minimum(weights, swapped).sum(dim=1)


def _layers(n_in: int, hidden: int, n_out: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, n_out))
