"""Threads of our own, in each of which the numeric libraries work alone.

Threads that OpenMP starts spin while they wait for each other. On a machine that also does
something else, that costs several times the work itself; independent parts, one thread each, do
not wait. Results do not depend on the number of threads either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from lookalike.core.cores import available_cores

A = TypeVar("A")
T = TypeVar("T")


class Pool:
    """A pool of such threads; use it in a `with` statement."""

    def __init__(self, n_threads: int | None = None) -> None:
        if n_threads is not None and n_threads < 1:
            raise ValueError(f"n_threads is {n_threads}; it must be at least 1")
        self.n_threads = available_cores() if n_threads is None else n_threads

    def __enter__(self) -> Self:
        self._before = torch.get_num_threads()
        self._limits = threadpool_limits(1, "blas")
        self._threads = ThreadPoolExecutor(
            self.n_threads, initializer=torch.set_num_threads, initargs=(1,)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._limits.restore_original_limits()
        torch.set_num_threads(self._before)

    def each(self, work: Callable[[slice], T], parts: Iterable[slice]) -> list[T]:
        """Return what `work` returns for every part, in order."""
        return list(self.stream(work, parts))

    def stream(self, work: Callable[[slice], T], parts: Iterable[slice]) -> Iterator[T]:
        """Yield what `work` returns for every part, in order, as soon as it is there."""
        return self._threads.map(work, parts)

    def begin(self, work: Callable[[A], T], given: A) -> Future[T]:
        """Let a thread do one piece of work as soon as one is free."""
        return self._threads.submit(work, given)

    def parts(self, n_rows: int) -> list[slice]:
        """Return as many non-empty slices as there are threads, together n_rows rows."""
        cuts = np.linspace(0, n_rows, self.n_threads + 1).astype(int).tolist()
        return [slice(a, b) for a, b in pairwise(cuts) if a < b]
