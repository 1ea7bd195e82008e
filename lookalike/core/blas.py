"""Linear algebra in one thread: in many small sums its threads would wait for one another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def blas_alone() -> Iterator[None]:
    """Hold the libraries behind numpy and scipy to one thread."""
    with _controller().limit(limits=1):
        yield


@cache
def _controller() -> ThreadpoolController:
    """Return what knows these libraries: to look for them takes longer than the sums."""
    import numpy.linalg  # noqa: F401, PLC0415 - so that they are there
    import scipy.linalg  # noqa: F401, PLC0415

    return ThreadpoolController()
