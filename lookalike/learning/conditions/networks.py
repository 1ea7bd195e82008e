"""Networks that embed images once for each condition, with the losses of their papers."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

import torch
from torch import nn
from torch.nn.functional import normalize, relu

from lookalike.conditional.triplet_scores import Metric
from lookalike.core.errors import Refused
from lookalike.learning.conditions.branches import BRANCHES, Branch, ConditionBranch, overlap
from lookalike.learning.conditions.mixture import (
    SCALE,
    TEMPERATURE,
    log_likelihoods,
    mixture_loss,
)
from lookalike.learning.losses.pairs import Sides, distances
from lookalike.learning.losses.triplet import triplet_loss

Method = Literal["single", "CSN", "LSN", "SCE-Net", "DiscoverNet", "mixture"]
METHODS: tuple[Method, ...] = ("single", "CSN", "LSN", "SCE-Net", "DiscoverNet", "mixture")
MARGIN = 0.2
NORM, SPARSITY = 5e-3, 5e-4  # of CSN's vectors and masks
OVERLAP = 0.1  # of DiscoverNet's guesses
SUMMED = 64  # triplets: its code adds up the overlaps of a batch of so many


@dataclass(frozen=True)
class Architecture:
    """The network that is trained.

    DiscoverNet's defaults are those of the released code; its options are the paper's equations.

    Attributes:
        method: one of METHODS.
        n_conditions: number K of embeddings; "single" has one.
        dim: dimensions of each embedding.
        hidden: width of the layer before it; 0 for a linear map.
        branch: DiscoverNet's condition branch g, one of BRANCHES.
        is_residual: DiscoverNet adds the common vector to each condition's (equation 8).
        is_masked: DiscoverNet uses masks instead of linear maps.
        is_branch_trained: DiscoverNet trains the branch and its anchors. The optimiser of the
            released code holds the embedding alone, so both stay as they were drawn.
        is_squared: DiscoverNet compares squared distances (equation 1).
        is_cosine: DiscoverNet matches triplets and anchors by cosines (equation 7); the released
            code scales anchors alone to length 1.
        temperature: of DiscoverNet's softmax over conditions (ς of equation 7; the released code
            has 1), or of the mixture's shares; None for the method's own.
        scale: of the mixture's cosines.
        least_of_batch: LSN takes the condition that is best for a batch, as in DiscoverNet's
            code, and not for each triplet.
        is_by_order: the mixture looks at a triplet's own two candidates, and not for the closer
            one among a batch.
    """

    method: Method
    n_conditions: int = 4
    dim: int = 64
    hidden: int = 128
    branch: Branch = "set"
    is_residual: bool = False
    is_masked: bool = False
    is_branch_trained: bool = False
    is_squared: bool = False
    is_cosine: bool = False
    temperature: float | None = None
    scale: float = SCALE
    least_of_batch: bool = False
    is_by_order: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise Refused("method", f"there is no {self.method!r}, but {', '.join(METHODS)}")
        if self.branch not in BRANCHES:
            raise Refused("branch", f"there is no {self.branch!r}, but {', '.join(BRANCHES)}")
        if min(self.n_conditions, self.dim) < 1 or self.hidden < 0:
            raise Refused("conditions", "a network needs a condition and a number to embed into")
        for name in ("temperature", "scale"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise Refused(name, f"{value} is not above 0")
        for name, methods in OPTIONS_OF.items():
            if self.method not in methods and getattr(self, name) != DEFAULTS[name]:
                raise Refused(name, f"is an option of {methods[0]}, not of {self.method}")

    @property
    def n_embeddings(self) -> int:
        """How many embeddings come out."""
        return 1 if self.method == "single" else self.n_conditions

    @property
    def has_maps(self) -> bool:
        """Whether a matrix makes each condition's vector of the common one, and not a mask."""
        return self.method == "mixture" or (self.method == "DiscoverNet" and not self.is_masked)

    @property
    def metric(self) -> Metric:
        """By which its embeddings are compared: as they are trained."""
        return "euclidean" if self.method == "CSN" else "cosine"


OPTIONS_OF: dict[str, tuple[Method, ...]] = {
    "is_residual": ("DiscoverNet",),
    "is_masked": ("DiscoverNet",),
    "is_branch_trained": ("DiscoverNet",),
    "is_squared": ("DiscoverNet",),
    "is_cosine": ("DiscoverNet",),
    "temperature": ("DiscoverNet", "mixture"),
    "scale": ("mixture",),
}
DEFAULTS = {of.name: of.default for of in fields(Architecture)}


class ConditionNetwork(nn.Module):
    """One body on fixed vectors, and what makes an embedding of each condition of it.

    Source: Veit, Belongie and Karaletsos, "Conditional Similarity Networks" (CVPR 2017; CSN: masks,
    conditions known); Nigam, Tokmakov and Ramanan, "Towards Latent Attribute Discovery from
    Triplet Similarities" (ICCV 2019; LSN: the best condition of a triplet counts); Tan et al.,
    "Learning Similarity Conditions Without Explicit Supervision" (ICCV 2019; SCE-Net: masked
    vectors, weighted by what is guessed); Ye, Shi and Zhan (CVPR 2022; DiscoverNet: distances,
    weighted by what is guessed). "mixture" is our own. DiscoverNet's regulariser is that of the
    released code, not equation 10 of the paper: what two guesses share, of triplets alone that are
    right both ways, 64 to a batch.

    Args:
        n_in: length of the vectors that go in.
        architecture: what is made of them.
    """

    def __init__(self, n_in: int, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        K, d, hidden = architecture.n_embeddings, architecture.dim, architecture.hidden
        first = [nn.Linear(n_in, hidden), nn.ReLU()] if hidden else []
        self.body = nn.Sequential(*first, nn.Linear(hidden or n_in, d))
        method = architecture.method
        if method == "DiscoverNet":
            self.branch = ConditionBranch(
                architecture.branch, d, K, architecture.temperature or 1.0,
                is_cosine=architecture.is_cosine,
            )  # fmt: skip
            self.branch.requires_grad_(architecture.is_branch_trained)
        if method == "SCE-Net":
            self.guess = nn.Sequential(nn.Linear(3 * d, 32), nn.ReLU(), nn.Linear(32, K))
        if architecture.has_maps:
            self.maps = nn.Parameter(torch.randn(K, d, d) / d**0.5)
        elif method != "single":
            self.masks = nn.Parameter(0.9 + 0.7 * torch.randn(K, d))

    def embeddings(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return an embedding of each image for each condition.

        Args:
            vectors: shape (n, n_in).

        Returns:
            Shape (n, K, dim); unit rows, but for CSN, whose distances heed lengths.
        """
        common = self.body(vectors)
        match self.architecture.method:
            case "single":
                return normalize(common, dim=1)[:, None]
            case "CSN":
                return self._conditional(common)
            case _:
                return self._unit(common)

    def loss(self, parts: torch.Tensor, conditions: torch.Tensor) -> torch.Tensor:
        """Return the loss of triplets.

        Args:
            parts: vectors of anchors, closer and farther images, shape (3, n, n_in).
            conditions: of the triplets, shape (n,); CSN alone looks at them.
        """
        common = self.body(parts.flatten(0, 1)).unflatten(0, parts.shape[:2])
        match self.architecture.method:
            case "single":
                near, far = _sides(normalize(common, dim=2)[:, :, None])
                return triplet_loss(near, far, margin=MARGIN)
            case "CSN":
                return self._csn(common, conditions)
            case "LSN":
                return self._least(common)
            case "SCE-Net":
                return self._sce(common)
            case "mixture":
                return self._mixture(common)
            case _:
                return self._discover(common)

    def weights(self, common: torch.Tensor) -> torch.Tensor:
        """Return which condition each triplet is taken to be about, shape (n, K).

        Args:
            common: what the body makes of the images, shape (3, n, dim).
        """
        if self.architecture.method == "SCE-Net":
            joined = torch.cat([*normalize(common, dim=2)], dim=1)
            return torch.as_tensor(self.guess(joined).softmax(dim=1))
        return torch.as_tensor(self.branch(common))

    def _conditional(self, common: torch.Tensor) -> torch.Tensor:
        """Return shape (..., K, dim), of any length."""
        architecture = self.architecture
        if architecture.has_maps:
            found: torch.Tensor = torch.einsum("...d,ked->...ke", common, self.maps)
        else:
            found = relu(self.masks) * common[..., None, :]
        return found + common[..., None, :] if architecture.is_residual else found

    def last_map(self, condition: int) -> torch.Tensor:
        """Return the matrix from the common vector to a condition's, shape (dim, dim)."""
        architecture = self.architecture
        if architecture.has_maps:
            found = self.maps[condition]
        else:
            found = torch.diag(relu(self.masks[condition]))
        return found + torch.eye(len(found)) if architecture.is_residual else found

    def _unit(self, common: torch.Tensor) -> torch.Tensor:
        return normalize(self._conditional(common), dim=-1)

    def _length(self, common: torch.Tensor) -> torch.Tensor:
        """Return the mean over roles of the length of all vectors, of a batch of any size."""
        lengths: torch.Tensor = common.flatten(1).norm(dim=1)
        return lengths.mean() / math.sqrt(common.shape[1])

    def _mixture(self, common: torch.Tensor) -> torch.Tensor:
        architecture = self.architecture
        found = log_likelihoods(
            self._unit(common), is_by_order=architecture.is_by_order, scale=architecture.scale
        )
        return mixture_loss(found, architecture.temperature or TEMPERATURE)

    def _csn(self, common: torch.Tensor, conditions: torch.Tensor) -> torch.Tensor:
        masks = relu(self.masks)[conditions]
        near, far = _sides((common * masks)[:, :, None])
        loss = triplet_loss(near, far, margin=MARGIN) + NORM * self._length(common)
        return loss + SPARSITY * masks.sum() / len(conditions)

    def _least(self, common: torch.Tensor) -> torch.Tensor:
        near, far = _sides(self._unit(common))
        each = relu(near - far + MARGIN)
        if self.architecture.least_of_batch:
            return each.mean(dim=0).min()
        return each.amin(dim=1).mean()

    def _sce(self, common: torch.Tensor) -> torch.Tensor:
        weights = self.weights(common)
        joined = (self._unit(common) * weights[None, :, :, None]).sum(dim=2)
        near, far = _sides(joined[:, :, None])
        sparse = relu(self.masks).sum() / self.architecture.n_conditions
        loss = triplet_loss(near, far, margin=MARGIN) + NORM * self._length(common)
        return loss + SPARSITY * sparse

    def _discover(self, common: torch.Tensor) -> torch.Tensor:
        sides, weights = _sides(self._unit(common)), self.weights(common)
        if self.architecture.is_squared:
            sides = Sides(sides.near.square(), sides.far.square())
        near, far = fuse(sides, weights)
        loss = triplet_loss(near, far, margin=MARGIN)
        if self.architecture.branch == "set":
            return loss  # swapped candidates change no weight, so no triplet is valid both ways
        with torch.no_grad():
            swapped = self.weights(common[[0, 2, 1]])
            back = fuse(Sides(sides.far, sides.near), swapped)
            both = (far > near) & (back.far > back.near)
        shared = overlap(weights, swapped)[both].sum() * (SUMMED / len(both))
        return loss + OVERLAP * shared


def fuse(sides: Sides, weights: torch.Tensor) -> Sides:
    """Return distances that are joined over conditions, shape (n,) each.

    >>> sides = Sides(torch.tensor([[0.5, 0.9]]), torch.tensor([[1.0, 0.4]]))
    >>> [round(side.item(), 4) for side in fuse(sides, torch.tensor([[0.8, 0.2]]))]
    [0.58, 0.88]
    """
    return Sides((sides.near * weights).sum(dim=1), (sides.far * weights).sum(dim=1))


def _sides(parts: torch.Tensor) -> Sides:
    """Return the distances of anchors to both candidates, from shape (3, n, K, dim)."""
    anchors, closer, farther = parts
    return Sides(distances(anchors, closer), distances(anchors, farther))
