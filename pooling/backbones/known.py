"""Say which of a library's names was probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from pooling.backbones.errors import UnknownModelError

MAX_SHOWN = 12


def require_known(name: str, known: Sequence[str], problem: str) -> None:
    """Pass if the name is known.

    Args:
        name: what was asked for.
        known: what there is.
        problem: the message up to the name.

    Raises:
        UnknownModelError: with near matches, or with what there is.
    """
    if name in known:
        return
    near = get_close_matches(name, known, n=4, cutoff=0.6)
    shown = ", ".join(known[:MAX_SHOWN]) + (", …" if len(known) > MAX_SHOWN else "")
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There is: {shown}."
    raise UnknownModelError(f"{problem} {name!r}. {hint}")
