"""Loops compiled by numba where it is installed, and plain Python where it is not.

numba and its compiler take 190 MB, which is more than scipy. Those who score files need neither.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])
IS_COMPILED = find_spec("numba") is not None


def compiled(function: F) -> F:
    """Return the function compiled when it is first called, or as it is without numba."""
    if not IS_COMPILED:
        return function
    njit: Callable[[F], F] = import_module("numba").njit(cache=True, nogil=True)
    return njit(function)
