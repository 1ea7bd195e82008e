"""Independent pieces of array work, one thread per processor core.

numpy and scipy let go of the interpreter inside operations on large arrays, so threads share
memory and still use all cores. Nothing random may be drawn in them: the order would not be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lookalike.core.cores import available_cores

T = TypeVar("T")
R = TypeVar("R")


def each(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return what `work` returns for every item, in order; its first error is raised."""
    with ThreadPoolExecutor(available_cores()) as threads:
        return list(threads.map(work, items))


def stream_each(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield what `work` returns for every item, in order; where one stops early, none is begun."""
    threads = ThreadPoolExecutor(available_cores())
    try:
        yield from threads.map(work, items)
    finally:
        threads.shutdown(cancel_futures=True)
