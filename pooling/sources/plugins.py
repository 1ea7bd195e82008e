"""Models of your own that are no embeddings: what they must offer, and how they are found.

A dotted path runs code, so only those that the installation's POOL_PLUGINS lists are loaded.
See docs/pooling.md for an example.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from django.conf import settings
from django.utils.module_loading import import_string
from numpy.typing import ArrayLike

from jobs.services import JobError
from lookalike.search.scored import Doubles

BLOCK = 256  # candidates in one call


@runtime_checkable
class Similarity(Protocol):
    """What a plug-in offers.

    Attributes:
        version: a text that changes whenever its scores do; kept with the proposals.
    """

    version: str

    def similarity(self, query: Path, candidates: Sequence[Path]) -> ArrayLike:
        """Return one finite number for each candidate; a larger one is more similar.

        Called many times for a query, with at most `BLOCK` candidates at once; the score of a
        candidate must not depend on the others. The paths are picture files without endings:
        tell their format by their content, as Pillow does.
        """


def is_allowed(dotted: str) -> bool:
    """Whether this installation lets a plug-in of that path run."""
    return dotted in settings.POOL_PLUGINS


def refusal(dotted: str) -> str:
    """Return why a plug-in may not run, and which may."""
    known = ", ".join(settings.POOL_PLUGINS) or "none"
    return f"{dotted} is not among this installation's plug-ins (POOL_PLUGINS: {known})."


def load_plugin(dotted: str) -> Similarity:
    """Return a plug-in: the object of that path, or what the class of that path makes.

    Raises:
        JobError: it is not allowed, cannot be imported, or does not offer what it must.
    """
    if not is_allowed(dotted):
        raise JobError(refusal(dotted))
    try:
        found = import_string(dotted)
    except ImportError as problem:
        raise JobError(f"{dotted}: {problem}; is it on this worker's PYTHONPATH?") from problem
    plugin = found() if isinstance(found, type) else found
    if not isinstance(plugin, Similarity) or not isinstance(plugin.version, str):
        raise JobError(
            f"{dotted} offers no text “version” and method “similarity(query, candidates)”."
        )
    return plugin


def scores_by(plugin: Similarity, dotted: str, query: Path, candidates: Sequence[Path]) -> Doubles:
    """Return a plug-in's score of each candidate.

    Raises:
        JobError: it gave other than one finite number for each candidate; names the first.
    """
    given = np.empty(len(candidates))
    for start in range(0, len(candidates), BLOCK):
        block = candidates[start : start + BLOCK]
        try:
            scores = np.asarray(plugin.similarity(query, block), np.float64)
        except (TypeError, ValueError) as problem:
            raise JobError(f"{dotted}: for the query {query.name}: {problem}") from problem
        if scores.shape != (len(block),):
            raise JobError(
                f"{dotted} gave {scores.shape} scores for {len(block)} candidates of the query "
                f"{query.name}; it must give one number for each."
            )
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            raise JobError(
                f"{dotted} gave {scores[bad[0]]} for the query {query.name} and the candidate "
                f"{block[int(bad[0])].name}; scores must be finite."
            )
        given[start : start + BLOCK] = scores
    return given
