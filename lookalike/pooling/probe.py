"""What each model of a pool would add, from a probe of some of its queries.

Pure: the candidates that models propose for the probed queries in, pairs with intervals out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from lookalike.core.arrays import Ints

LEVEL = 0.95
LEAST_PROBED = 3  # two models of one depth always share as much with each other


@dataclass(frozen=True)
class Addition:
    """The pairs that a model adds to those of the models before it, in the whole pool.

    Attributes:
        is_measured: whether it was probed; otherwise it is predicted from what was.
        pairs: expected.
        low, high: interval of 95 % where it was probed; else from the least to the largest
            share of proposals that any probed model has for itself.
    """

    spec: str
    k: int
    is_measured: bool
    pairs: float
    low: float
    high: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Addition:
        return cls(**stored)


def additions(
    depths: Mapping[str, int], found: Mapping[str, Ints], n_queries: int
) -> tuple[list[Addition], Addition]:
    """Return what each model adds, the probed ones first, and the whole pool.

    A probed model adds the candidates that no probed model before it proposed, averaged over
    the probed queries and scaled to all of them; the interval is Student's with the
    correction for a finite population (Cochran, Sampling Techniques, 1977, section 2.8), so
    probing every query leaves none. A model that cannot be probed is taken to have as large a
    share of new proposals as the probed ones have, each against all others: on average, from
    the least to the largest. With fewer than two of them nothing is known, and the share lies
    between none and all. Models that are not probed may also repeat each other, so their sum
    is an upper estimate.

    Args:
        depths: the depth of every model, in the pool's order.
        found: for each probed model the candidates, shape (n_probed, k), -1 for none.
        n_queries: of the pool, at least n_probed.

    Raises:
        ValueError: if probed models answer different numbers of queries.
    """
    if len({len(rows) for rows in found.values()}) > 1:
        raise ValueError("the probed models answer different numbers of queries")
    sets = {spec: [set(row[row >= 0].tolist()) for row in rows] for spec, rows in found.items()}
    measured = [spec for spec in depths if spec in sets]
    known: list[set[int]] = [set() for _ in next(iter(sets.values()), [])]
    rows, total = [], _Total()
    for spec in measured:
        new = np.array([len(mine - before) for mine, before in zip(sets[spec], known, strict=True)])
        known = [mine | before for mine, before in zip(sets[spec], known, strict=True)]
        rows.append(Addition(spec, depths[spec], True, *_scaled(new, n_queries)))
    if measured:
        total.add(*_scaled(np.array([len(one) for one in known]), n_queries))
    least, mean, most = _own_shares(sets)
    for spec, k in depths.items():
        if spec not in sets:
            all_new = k * n_queries
            rows.append(Addition(spec, k, False, mean * all_new, least * all_new, most * all_new))
            total.add(rows[-1].pairs, rows[-1].low, rows[-1].high)
    return rows, Addition("", 0, len(measured) == len(depths), *total.values)


class _Total:
    """Sums of pairs and of the ends of their intervals."""

    def __init__(self) -> None:
        self.values = (0.0, 0.0, 0.0)

    def add(self, *more: float) -> None:
        pairs, low, high = (a + b for a, b in zip(self.values, more, strict=True))
        self.values = (pairs, low, high)


def _scaled(new: Ints, n_queries: int) -> tuple[float, float, float]:
    """Return the mean of a sample of queries times all queries, and its interval."""
    n = len(new)
    mean = float(new.mean())
    if n >= n_queries:
        return mean * n_queries, mean * n_queries, mean * n_queries
    unknown = 1 - n / n_queries
    t = float(stdtrit(n - 1, (1 + LEVEL) / 2))
    half = t * float(new.std(ddof=1)) * (unknown / n) ** 0.5 if n > 1 else mean
    return mean * n_queries, max(0.0, mean - half) * n_queries, (mean + half) * n_queries


def _own_shares(sets: Mapping[str, Sequence[set[int]]]) -> tuple[float, float, float]:
    """Return the least, mean and largest share of a model's proposals that no other makes."""
    shares = []
    for spec, mine in sets.items():
        others = [other for name, other in sets.items() if name != spec]
        n_own = sum(len(one.difference(*rest)) for one, *rest in zip(mine, *others, strict=True))
        n_all = sum(len(one) for one in mine)
        if n_all:
            shares.append(n_own / n_all)
    if len(shares) < LEAST_PROBED:
        return 0.0, float(np.mean(shares)) if len(shares) > 1 else 0.5, 1.0
    return min(shares), float(np.mean(shares)), max(shares)
