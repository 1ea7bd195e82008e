"""The pool that rounds draw from: every pair with the rank and score of every model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.units import Units, sample_words


@dataclass(frozen=True)
class RankedPool:
    """The pairs of a pool, by query, and what every model says of them.

    Attributes:
        models: their names.
        n_queries: queries are numbered from 0; one may have no pair.
        queries: shape (n_pairs,), ascending.
        ranks: shape (n_models, n_pairs), from 1 among all candidates of the query; 0 where the
            model does not list the pair.
        scores: shape (n_models, n_pairs), higher is more similar.
        depth: k of the pool: a model proposed a pair that it ranks k or better.
        units: of the queries, see `Units`; None: each query is one.
    """

    models: tuple[str, ...]
    n_queries: int
    queries: Ints
    ranks: Ints
    scores: Floats
    depth: int
    units: Units | None = None

    @property
    def sample(self) -> str:
        """The sample size in words, with units where queries share some."""
        return sample_words(self.n_queries, self.n_units, self.units.name if self.units else "")

    @property
    def n_units(self) -> int:
        """How many independent units the queries have."""
        return self.n_queries if self.units is None else self.units.count()

    @property
    def groups(self) -> Ints | None:
        """The unit of each query, shape (n_queries,); None where each is one."""
        return self.units.codes if self.units is not None and self.units.are_shared else None

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return int(self.queries.size)

    @cached_property
    def columns(self) -> Ints:
        """The place of each pair among its query's, shape (n_pairs,)."""
        starts = np.searchsorted(self.queries, np.arange(self.n_queries))
        return np.arange(self.n_pairs) - starts[self.queries]

    @cached_property
    def exists(self) -> Bools:
        """Which cells of the grid are pairs, shape (n_queries, most pairs of a query)."""
        width = int(self.columns.max(initial=0)) + 1
        exists = np.zeros((self.n_queries, width), dtype=np.bool_)
        exists[self.queries, self.columns] = True
        return exists

    @cached_property
    def proposed(self) -> Bools:
        """Which model proposed which pair, shape (n_models, n_pairs)."""
        proposed: Bools = (self.ranks > 0) & (self.ranks <= self.depth)
        return proposed

    @cached_property
    def places(self) -> Ints:
        """Where in the grid each rank stands, -1 for nowhere: (n_models, n_queries, depth)."""
        places = np.full((len(self.models), self.n_queries, self.depth), -1, dtype=np.int64)
        for m, ranks in enumerate(self.ranks):
            at = self.proposed[m]
            places[m, self.queries[at], ranks[at] - 1] = self.columns[at]
        return places

    @cached_property
    def features(self) -> Floats:
        """What the models say of each pair, shape (n_pairs, 2 n_models + 2).

        For each model 1 / log2(1 + rank), 0 where it does not list the pair, and its score,
        standardised over the pool, the least where it has none; the share of models that propose
        the pair; and the mean of the scores.
        """
        ranks = self.ranks
        gains = np.where(ranks > 0, 1.0 / np.log2(1.0 + np.maximum(ranks, 1)), 0.0)
        scores = np.stack([_standardised(row) for row in self.scores])
        return np.vstack([gains, scores, self.proposed.mean(axis=0), scores.mean(axis=0)]).T

    def grid(self, values: ArrayLike, fill: float = 0.0) -> Floats:
        """Lay values of pairs out by query: (..., n_pairs) to (..., n_queries, width)."""
        v = np.asarray(values, dtype=np.float64)
        cells = np.full((*v.shape[:-1], *self.exists.shape), fill)
        cells[..., self.queries, self.columns] = v
        return cells

    def flat(self, cells: NDArray[np.float64]) -> Floats:
        """Return the values of pairs from a grid: the reverse of `grid`."""
        return cells[..., self.queries, self.columns]


def _standardised(scores: Floats) -> Floats:
    listed = scores[np.isfinite(scores)]
    if not listed.size:
        return np.zeros(scores.shape)
    filled = np.where(np.isfinite(scores), scores, listed.min())
    return np.asarray((filled - filled.mean()) / max(float(filled.std()), 1e-12))
