"""What a device multiplies in the search, and how far its scores can be from the exact ones.

With q = a·x + e and c = b·y + f, where x and y are what the device multiplies, Cauchy-Schwarz
gives |q·c - ab·x·y| <= |e||c| + |a·x||f|; the norms are measured. A GPU's sums may drop bits that
float32 would round (Fasi, Higham, Mikaitis and Pranesh, PeerJ CS 2021): eight times float32's own
bound covers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from lookalike.search.blocks import rounding_slack
from lookalike.search.kernels import Doubles

_TINY = 2.0**-126  # float32's least number of full precision


@dataclass(frozen=True)
class Precision:
    """What a device multiplies, and what its products and sums may be off by.

    Attributes:
        narrow: the type of the factors.
        product: part of |x||y| by which the rounding of a finished sum may be off.
    """

    narrow: torch.dtype
    product: float

    @classmethod
    def of(cls, device: torch.device) -> Precision:
        """Return the fastest that is sound: float16 on CUDA, summed in float32.

        It is as fast as bfloat16 there and twice as fast as TF32, and finer than the one by
        three bits and than the other when rounded; scaling each row keeps it within its range.
        """
        if device.type == "cuda":
            return cls(torch.float16, 2.0**-11)
        return cls(torch.float32, 0.0)

    def bound(
        self, norms: Doubles, errors: Doubles, largest: tuple[float, float], dim: int
    ) -> Doubles:
        """Return what each query's scores may be off by, shape (n_queries,).

        Nine times float32's rounding: eight for the device's sums, one for the exact kernel's.

        Args:
            norms: shape (n_queries,), each query's norm.
            errors: shape (n_queries,), the norm of what narrowing took of it.
            largest: the largest such norms of any image.
            dim: number of dimensions.
        """
        norm, error = largest
        slack = rounding_slack(dim)
        narrow = norms + errors
        rounding = (9 * slack + self.product) * narrow * (norm + error)
        bound: Doubles = errors * norm + narrow * error + rounding
        return bound * (1 + 4 * slack)


def narrowed(
    wide: torch.Tensor, narrow: torch.dtype, *, each: bool = False
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return rows in a narrower type, what one unit of it is worth, and the norms of the errors.

    The largest number of the block, or of each row, is scaled to one; float32 stays as it is.

    Returns:
        Shape (n, d); (n, 1) if for each row, or else (); (n,), in these units.
    """
    if narrow == torch.float32:
        n_units = (len(wide), 1) if each else ()
        zeros = torch.zeros(len(wide), device=wide.device)
        return wide, torch.ones(n_units, device=wide.device), zeros
    size = wide.abs()
    largest = size.amax(dim=1, keepdim=True) if each else size.amax()
    scale = largest.clamp(min=_TINY)
    scaled = wide / scale
    rounded = scaled.to(narrow)
    return rounded, scale, torch.linalg.vector_norm(rounded.float() - scaled, dim=1)


def products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the inner products of rows, shape (len(x), len(y))."""
    return x @ y.T


def largest_norm(wide: torch.Tensor) -> torch.Tensor:
    """Return the largest norm of the rows, which neither overflows nor vanishes on the way."""
    size = wide.abs().amax().clamp(min=_TINY)
    norm: torch.Tensor = torch.linalg.vector_norm(wide / size, dim=1).amax() * size
    return norm


@contextmanager
def whole_sums(device: torch.device) -> Iterator[None]:
    """Have CUDA sum products of float16 in float32 throughout."""
    if device.type != "cuda":
        yield
        return
    matmul = torch.backends.cuda.matmul
    before = matmul.allow_fp16_reduced_precision_reduction, matmul.allow_fp16_accumulation
    matmul.allow_fp16_reduced_precision_reduction = matmul.allow_fp16_accumulation = False
    try:
        yield
    finally:
        matmul.allow_fp16_reduced_precision_reduction, matmul.allow_fp16_accumulation = before
