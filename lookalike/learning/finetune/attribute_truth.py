"""Which products truly look alike, where a rule over known attributes says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.core.arrays import Bools, Ints
from lookalike.core.errors import Refused


@dataclass(frozen=True)
class SimilarityRule:
    """Products are similar if they agree in enough points.

    Attributes:
        points: what each attribute is worth.
        threshold: points from which products are similar.
        kindred: {attribute: pairs of values that earn half its points}.
        hidden: {attribute: values of others under which it does not show}; two products that
            both do not show it agree in it.
    """

    points: Mapping[str, int]
    threshold: int
    kindred: Mapping[str, Sequence[Sequence[str]]]
    hidden: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> SimilarityRule:
        """Return the rule that a recipe says."""
        return cls(said["points"], said["threshold"], said["kindred"], said["hidden"])

    def agreement(self, products: Sequence[Mapping[str, str]]) -> Ints:
        """Return the points in which products agree, shape (n, n).

        Args:
            products: attributes of each.

        Raises:
            Refused: a product lacks one.
        """
        found = np.zeros((len(products), len(products)), np.int64)
        for name, points in self.points.items():
            values = _values(products, name)
            halves = 2 * (values[:, None] == values)
            for pair in self.kindred.get(name, ()):
                one, other = (values == value for value in pair)
                halves[np.ix_(one, other)] = halves[np.ix_(other, one)] = 1
            if name in self.hidden:
                out = np.all([_values(products, of) == value
                              for of, value in self.hidden[name].items()], axis=0)  # fmt: skip
                halves[np.ix_(out, out)] = 2
            found += points * halves // 2
        return found

    def similar(self, products: Sequence[Mapping[str, str]]) -> Bools:
        """Return which products are similar, shape (n, n); none is to itself.

        >>> rule = SimilarityRule({"cut": 2, "colour": 2}, 3, {"colour": [["red", "pink"]]}, {})
        >>> red, pink = {"cut": "a", "colour": "red"}, {"cut": "a", "colour": "pink"}
        >>> rule.similar([red, pink, {"cut": "b", "colour": "red"}]).astype(int).tolist()
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]]

        Raises:
            Refused: a product lacks an attribute.
        """
        alike: Bools = self.agreement(products) >= self.threshold
        np.fill_diagonal(alike, val=False)
        return alike


def _values(products: Sequence[Mapping[str, str]], name: str) -> np.ndarray[Any, Any]:
    if absent := [number for number, of in enumerate(products) if not of.get(name)]:
        raise Refused("attributes", f"product {absent[0] + 1} has no {name}")
    return np.array([of[name] for of in products])
