"""The same seed gives the same bytes, on one machine and whatever else it does."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def stream(seed: int, purpose: str, step: int = 0) -> np.random.Generator:
    """Return the random numbers for one purpose at one step.

    They depend on nothing that was drawn before, so work that goes on needs no state of them.
    """
    return np.random.default_rng([seed, zlib.crc32(purpose.encode()), step])


def normal(shape: tuple[int, ...], std: float, rng: np.random.Generator) -> torch.Tensor:
    """Return independent normal numbers around 0, float32."""
    return torch.from_numpy(std * rng.standard_normal(shape, np.float32))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute on one thread meanwhile: sums of several depend on how many there are."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
