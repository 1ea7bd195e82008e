"""How the queries of a pool are chosen: a seeded sample or a list, with attribute filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


class QueryRuleError(ValueError):
    """A rule does not read as one; the message says which part and why."""


@dataclass(frozen=True)
class QueryRule:
    """Which images ask.

    Attributes:
        n: how many to draw, or None for every image that is left.
        names: an explicit list (paths, uids or SHA-256 sums) in the order of asking; when
            given, nothing is drawn.
        filters: attribute name to the values of which one must hold; all names must hold.
        strata: an attribute over whose values the sample is spread evenly, or "".
        one_per_product: ask one image of each product, drawn at random, and then draw from
            these; an image of no known product is a product of its own.
    """

    n: int | None = None
    names: tuple[str, ...] = ()
    filters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    strata: str = ""
    one_per_product: bool = False

    def __post_init__(self) -> None:
        if self.names and self.n is not None:
            raise QueryRuleError("give either a number of queries or a list of them, not both")
        if self.names and (self.strata or self.one_per_product):
            raise QueryRuleError("a list says by itself which images ask; nothing is drawn from it")
        if self.strata and self.n is None:
            raise QueryRuleError(f"say how many to draw evenly over {self.strata!r}")
        if self.n is not None and self.n < 1:
            raise QueryRuleError(f"{self.n} queries were asked for; at least 1 is needed")
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise QueryRuleError(f"the list names {name!r} twice")
            seen.add(name)

    def as_json(self) -> dict[str, Any]:
        """Return the rule as a pool stores it."""
        return {
            "n": self.n,
            "names": list(self.names),
            "filters": {name: list(values) for name, values in self.filters.items()},
            "strata": self.strata,
            "one_per_product": self.one_per_product,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> QueryRule:
        """Return the rule that `as_json` wrote."""
        return cls(
            n=stored.get("n"),
            names=tuple(stored.get("names", ())),
            filters={name: tuple(values) for name, values in stored.get("filters", {}).items()},
            strata=stored.get("strata", ""),
            one_per_product=stored.get("one_per_product", False),
        )

    def describe(self) -> str:
        """Return the rule as words, for a page."""
        if self.names:
            words = f"a list of {len(self.names)}"
        else:
            words = "every image" if self.n is None else f"a random sample of {self.n}"
            words += f" spread evenly over {self.strata}" if self.strata else ""
            words += ", one of each product" if self.one_per_product else ""
        limits = [f"{name} = {' or '.join(values)}" for name, values in self.filters.items()]
        return f"{words}, only {', '.join(limits)}" if limits else words


def parse_filters(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return filters from lines such as `colour=red`; the same name twice means either value.

    Raises:
        QueryRuleError: a line has no name or no value; names the line.
    """
    filters: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if not line.strip():
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals and value):
            raise QueryRuleError(f"{line.strip()!r} is not a filter; write it as colour=red")
        filters[name] = (*filters.get(name, ()), value)
    return filters


def parse_names(text: str) -> tuple[str, ...]:
    """Return the names in a list of one per line; blank lines and lines from # on are left out."""
    stripped = (line.strip() for line in text.splitlines())
    return tuple(line for line in stripped if line and not line.startswith("#"))


def draw(n_available: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `n` of `n_available` positions uniformly without replacement.

    Args:
        n_available: size of the population.
        n: 1 <= n <= n_available.
        rng: the pool stores its seed.

    Returns:
        Shape (n,), in the order of drawing.

    Raises:
        ValueError: if n is out of range.
    """
    if not 1 <= n <= n_available:
        raise ValueError(f"cannot draw {n} of {n_available}")
    return rng.permutation(n_available)[:n].astype(np.int64)


def draw_evenly(values: Sequence[str], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `n` positions so that every value is drawn as often as every other, where it can be.

    Rare values are drawn whole, and the others share what is left; which of them get one more
    than the rest is drawn too. An empty value counts as a value.

    Args:
        values: shape (n_available,), what each position is spread by.
        n: 1 <= n <= n_available.
        rng: the pool stores its seed.

    Returns:
        Shape (n,): one of each value first, then a second of each, and so on.

    Raises:
        ValueError: if n is out of range.
    """
    order = draw(len(values), len(values), rng)
    if not 1 <= n <= len(values):
        raise ValueError(f"cannot draw {n} of {len(values)}")
    _, stratum = np.unique(np.asarray(values)[order], return_inverse=True)
    place_of_stratum = rng.permutation(int(stratum.max()) + 1)
    seen: dict[int, int] = {}
    turn = np.zeros(len(order), np.int64)
    for place, which in enumerate(stratum.tolist()):
        turn[place] = seen.get(which, 0)
        seen[which] = int(turn[place]) + 1
    return order[np.lexsort((place_of_stratum[stratum], turn))[:n]]


def one_of_each(products: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw one position of each product, uniformly; an empty product is one of its own.

    Returns:
        Ascending positions.
    """
    first: dict[str, int] = {}
    alone = []
    for position in rng.permutation(len(products)).tolist():
        if products[position]:
            first.setdefault(products[position], position)
        else:
            alone.append(position)
    return np.array(sorted([*first.values(), *alone]), np.int64)
