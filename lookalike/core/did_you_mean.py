"""Say which of the known names was probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

MAX_SHOWN = 12


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a sentence with the names nearest to an unknown one, or with what there is.

    >>> did_you_mean("resnet5O", ["resnet50", "vit_base"])
    'Did you mean resnet50?'
    >>> did_you_mean("x", ["resnet50", "vit_base"])
    'There is: resnet50, vit_base.'
    """
    near = get_close_matches(name, known, n=4, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    more = ", …" if len(known) > MAX_SHOWN else ""
    return f"There is: {', '.join(known[:MAX_SHOWN])}{more}."
