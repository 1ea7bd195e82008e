"""Scores over repetitions, as a table prints them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from lookalike.learning.recipes.recipe import Published

Values = dict[str, dict[str, dict[str, Published]]]


class Repetitions:
    """Scores by row, method and measure, one for each repetition.

    >>> scores = Repetitions()
    >>> scores.add("cars", "ELG", {"R@1": 0.5})
    >>> scores.add("cars", "ELG", {"R@1": 0.7})
    >>> scores.percent()["cars"]["ELG"]["R@1"].mean
    60.0
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, list[float]]] = {}

    def add(self, row: str, method: str, scores: Mapping[str, float]) -> None:
        """Keep the scores of one repetition, shares of 1."""
        of = self._found.setdefault((row, method), defaultdict(list))
        for measure, value in scores.items():
            of[measure].append(100 * value)

    def percent(self) -> Values:
        """Return mean and population standard deviation, times 100."""
        values: Values = {}
        for (row, method), measured in self._found.items():
            values.setdefault(row, {})[method] = {
                measure: Published(float(np.mean(of)), float(np.std(of)))
                for measure, of in measured.items()
            }
        return values
