"""Bootstrap over queries: the queries are the sample, the pairs of one query belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats
from lookalike.stats.defined_values import ratio
from lookalike.stats.differences import difference_intervals
from lookalike.stats.proportion import Interval
from lookalike.stats.units import Units


@dataclass(frozen=True)
class Resampling:
    """The random draws that every interval and test of one report shares.

    Attributes:
        counts: shape (n_bootstraps, n_queries), from `query_counts`; all statistics use the
            same samples, so that differences are paired.
        rng: for permutations.
        level: coverage of the intervals.
        n_permutations: sign flips or orders drawn where not all can be tried.
        units: of the queries, which are drawn and flipped together; None: each query is a unit.
    """

    counts: Floats
    rng: np.random.Generator
    level: float = 0.95
    n_permutations: int = 10_000
    units: Units | None = None

    @classmethod
    def of(
        cls,
        n_queries: int,
        *,
        n_bootstraps: int,
        rng: np.random.Generator,
        level: float = 0.95,
        n_permutations: int = 10_000,
        units: Units | None = None,
    ) -> Resampling:
        """Draw the bootstrap samples, of `units` if given."""
        counts = query_counts(n_queries, n_bootstraps, rng, units)
        return cls(counts, rng, level, n_permutations, units)

    def differences(self, values: ArrayLike, *, is_yes_no: bool = False) -> list[Interval]:
        """Return the interval of each column's mean; see `difference_intervals`."""
        return difference_intervals(
            values, self.counts, self.level, is_yes_no=is_yes_no, units=self.units
        )


def query_counts(
    n_queries: int, n_bootstraps: int, rng: np.random.Generator, units: Units | None = None
) -> Floats:
    """Return how often each query is drawn in each bootstrap sample.

    Args:
        n_queries: size of the sample, drawn with replacement.
        n_bootstraps: how many samples.
        rng: draws them.
        units: of the queries: as many units are drawn as there are, each with all its queries.

    Returns:
        Shape (n_bootstraps, n_queries), whole numbers; without units every row sums to
        `n_queries`.

    Raises:
        ValueError: units of another number of queries.
    """
    if n_queries == 0:
        return np.zeros((n_bootstraps, 0))
    if units is not None and units.codes.size != n_queries:
        raise ValueError(f"units of {units.codes.size} queries do not fit {n_queries}")
    codes = (
        np.arange(n_queries) if units is None else np.unique(units.codes, return_inverse=True)[1]
    )
    n_units = int(codes.max()) + 1
    share = np.full(n_units, 1.0 / n_units)
    return rng.multinomial(n_units, share, size=n_bootstraps).astype(np.float64)[:, codes]


def bootstrap_means(values: ArrayLike, counts: Floats) -> Floats:
    """Return the mean over queries of every column in every bootstrap sample.

    A NaN is left out of its own column's mean, as in `mean_defined`. Columns that are to be
    compared should be NaN at the same queries.

    Args:
        values: shape (n_queries, ...), NaN where undefined.
        counts: shape (n_bootstraps, n_queries), from `query_counts`.

    Returns:
        Shape (n_bootstraps, ...); NaN where a sample drew no defined query.
    """
    v = np.asarray(values, dtype=np.float64)
    flat = v.reshape(v.shape[0], -1)
    is_defined = ~np.isnan(flat)
    total = counts @ np.where(is_defined, flat, 0.0)
    is_shared = bool((is_defined == is_defined[:, :1]).all())  # one column speaks for all
    n_drawn = counts @ is_defined[:, : 1 if is_shared else None].astype(np.float64)
    return ratio(total, n_drawn).reshape(len(counts), *v.shape[1:])
