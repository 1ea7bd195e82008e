"""Reads of text spaces, named by what they return."""

from __future__ import annotations

from learning.models import TextSpace
from lookalike.core.errors import Refused


def space_by_slug(slug: str) -> TextSpace:
    """Return a text space.

    Raises:
        Refused: there is none of that name; names those that there are.
    """
    spaces = TextSpace.objects.select_related("projection", "run__catalog")
    found = spaces.filter(projection__slug=slug).first()
    if found is None:
        known = ", ".join(sorted(spaces.values_list("projection__slug", flat=True)))
        there_is = f"there is {known}" if known else "there is none yet"
        raise Refused("space", f"no text space is called {slug!r}; {there_is}.")
    return found
