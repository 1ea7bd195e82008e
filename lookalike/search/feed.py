"""Blocks of a catalog on their way to a device, the next one while the last is worked on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from lookalike.core.threads import Pool
from lookalike.search.exact import Vectors, slices


def fed(
    shards: list[Vectors], begin: int, block_rows: int, device: torch.device, pool: Pool
) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield (first catalog row, rows as stored, on the device) from row `begin` on, in order.

    On CUDA a block is read by all threads into pinned memory and copied on a stream of its own,
    while the device works on the block before it; a block's memory is used again once that is
    done.
    """
    blocks = slices(shards, block_rows, begin)
    if device.type != "cuda":
        for first, block in blocks:
            yield first, torch.from_numpy(np.array(block)).to(device)
        return
    size = max(shard[:block_rows].nbytes for shard in shards)
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    lanes = [_Lane(size, stream, device, pool) for _ in range(2)]
    for number, (first, block) in enumerate(blocks):
        lane = lanes[number % 2]
        yield first, lane.sent(block)
        lane.is_done.record(torch.cuda.current_stream(device))


class _Lane:
    """One of two ways to the device."""

    def __init__(
        self, size: int, stream: torch.cuda.Stream, device: torch.device, pool: Pool
    ) -> None:
        self._pinned = torch.empty(size, dtype=torch.uint8, pin_memory=True)
        self._stream, self._device, self._pool = stream, device, pool
        self.is_done = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def sent(self, block: Vectors) -> torch.Tensor:
        """Begin to copy a block; what is computed from now on waits for it."""
        self.is_done.synchronize()  # the last block of this lane
        dtype = torch.float16 if block.dtype == np.float16 else torch.float32
        host = self._pinned[: block.nbytes].view(dtype).view(block.shape)
        rows = host.numpy()
        self._pool.each(
            lambda part: np.copyto(rows[part], block[part]), self._pool.parts(len(rows))
        )
        now = torch.cuda.current_stream(self._device)
        with torch.cuda.stream(self._stream):
            there = host.to(self._device, non_blocking=True)
        now.wait_stream(self._stream)
        there.record_stream(now)
        return there
