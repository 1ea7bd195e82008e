"""Several processes that train one network, each on its part of every batch.

Where `torch.distributed` is not in use, there is one process, which has the whole batch, and
everything here leaves its arguments as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import distributed
from torch.distributed.nn.functional import all_gather

from lookalike.core.errors import Refused


@contextmanager
def together() -> Iterator[None]:
    """Join the other processes that torchrun has started, if it has."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    distributed.init_process_group("gloo")  # the processors' own; networks here are small
    try:
        yield
    finally:
        distributed.destroy_process_group()


def n_processes() -> int:
    """Return how many processes train together."""
    in_use = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if in_use else 1


def is_first() -> bool:
    """Whether this is the process that writes files and says how far the work has come."""
    return n_processes() == 1 or distributed.get_rank() == 0


def own_part(batch: torch.Tensor) -> torch.Tensor:
    """Return this process's part of a batch, rows that follow each other.

    Raises:
        Refused: the rows cannot be shared out alike.
    """
    n = n_processes()
    if len(batch) % n:
        raise Refused("batch", f"{len(batch):,} images cannot be shared out among {n} processes")
    return batch if n == 1 else batch.chunk(n)[distributed.get_rank()]


def gathered(vectors: torch.Tensor) -> torch.Tensor:
    """Return the vectors of the whole batch, from the parts of all processes.

    A slope with regard to them passes to the process that computed them, summed over all of
    them; `averaged` makes of that what one process would have found.
    """
    return vectors if n_processes() == 1 else torch.cat(all_gather(vectors))  # type: ignore[no-untyped-call]


def averaged(gradients: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the mean of each gradient over the processes."""
    if (n := n_processes()) > 1:
        for gradient in gradients:
            distributed.all_reduce(gradient)
            gradient.div_(n)
    return list(gradients)
