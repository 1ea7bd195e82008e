"""The threads of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
import torch
from threadpoolctl import threadpool_limits

T = TypeVar("T")


class Pool:
    """Our own threads, in each of which torch and numpy work alone.

    Threads that OpenMP starts spin while they wait for each other, which on a busy machine
    costs several times the work itself.
    """

    def __init__(self, n_threads: int) -> None:
        if n_threads < 1:
            raise ValueError(f"n_threads is {n_threads}; it must be at least 1")
        self._n_threads = n_threads

    def __enter__(self) -> Self:
        self._before = torch.get_num_threads()
        self._limits = threadpool_limits(1, "blas")
        self._threads = ThreadPoolExecutor(
            self._n_threads, initializer=torch.set_num_threads, initargs=(1,)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown()
        self._limits.restore_original_limits()
        torch.set_num_threads(self._before)

    def each(self, work: Callable[[slice], T], parts: Iterable[slice]) -> list[T]:
        """Return what `work` returns for every part, in order."""
        return list(self._threads.map(work, parts))

    def parts(self, n_rows: int) -> list[slice]:
        """Return as many non-empty slices as there are threads, together n_rows rows."""
        cuts = np.linspace(0, n_rows, self._n_threads + 1).astype(int).tolist()
        return [slice(a, b) for a, b in pairwise(cuts) if a < b]
