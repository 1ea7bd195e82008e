"""Full memory: how torch words it on each device, and how to make room."""

from __future__ import annotations

import torch

_SAYINGS = (
    "out of memory",  # CUDA error: out of memory; MPS backend out of memory
    "can't allocate memory",  # the processor's
    "_STATUS_ALLOC_FAILED",  # cuBLAS and its relatives
)


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether a device's memory was full, as far as its library lets one tell."""
    if isinstance(problem, torch.OutOfMemoryError | MemoryError):
        return True
    said = str(problem)
    return isinstance(problem, RuntimeError) and any(words in said for words in _SAYINGS)


def free_memory(device: torch.device) -> None:
    """Give back what torch keeps for later on a device."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
