"""Which judged pairs are worth a second panel: votes near a tie, and much that hangs on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.planning.measures import MICRO, Measures, PartSums
from lookalike.planning.pilot import majority_labels
from lookalike.planning.pool import RankedPool

_PRIOR = 0.5  # of Jeffreys: who agree may be wrong together
_COLUMNS = 8  # of the grid at a time


@dataclass(frozen=True)
class SecondOpinions:
    """What a second panel would do to each pair, in the order of the pool's pairs.

    Attributes:
        measure: that is looked at.
        chance: shape (n_pairs,), that a second panel of as many says otherwise; 0 of a pair
            without votes.
        moves: shape (n_models, n_pairs), by how much each value would move then.
        worth: shape (n_pairs,), chance times the largest move.
        order: the pairs with votes, the worthiest first.
    """

    measure: str
    chance: Floats
    moves: Floats
    worth: Floats
    order: Ints


def second_opinions(pool: RankedPool, votes: Floats, measure: str) -> SecondOpinions:
    """Return what another panel would change, pair by pair.

    A pair with s of n votes is taken for one whose judges say similar with a chance drawn from
    Beta(s + 1/2, n - s + 1/2) (Jeffreys): another panel of n has another majority by the
    beta-binomial distribution. Each pair is turned alone; a pair without votes counts as
    different.

    Args:
        pool: the pairs.
        votes: shape (n_pairs, n_voters), 0 or 1, NaN where there is none.
        measure: by name; not a micro area, which no query has of its own.

    Raises:
        InputError: no such measure, or a micro area.
        Refused: no pair has a vote.
    """
    if measure in MICRO:
        raise InputError(f"{measure!r} is of all pairs at once; name a measure by query")
    given = (~np.isnan(votes)).sum(axis=1)
    if not given.any():
        raise Refused("votes", "no pair of the pool has a vote")
    similar = np.nansum(votes, axis=1).astype(np.int64)
    labels = majority_labels(votes)
    chance = _chances(similar, given, labels > 0)
    moves = _moves(Measures(pool, [measure]), labels)
    worth = chance * np.abs(moves).max(axis=0)
    order = np.argsort(-worth, kind="stable")
    return SecondOpinions(measure, chance, moves, worth, order[given[order] > 0])


def _chances(similar: Ints, given: Ints, is_similar: Bools) -> Floats:
    """Return how likely a second panel of as many votes has another majority."""
    chances = np.zeros(given.size)
    for s, n in {*zip(similar.tolist(), given.tolist(), strict=True)} - {(0, 0)}:
        k = np.arange(n + 1)
        a, b = s + _PRIOR, n - s + _PRIOR
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        p = np.exp(ways + betaln(k + a, n - k + b) - betaln(a, b))
        at = (similar == s) & (given == n)
        is_above = float(p[2 * k > n].sum())  # a tie is different
        chances[at] = np.where(is_similar[at], 1.0 - is_above, is_above)
    return chances


def _moves(measures: Measures, labels: Floats) -> Floats:
    """Return by how much every value moves where one pair is turned: (n_models, n_pairs)."""
    pool, (name,) = measures.pool, measures.by_query
    grid = pool.grid(labels)
    now = measures.parts(grid[None])[name]
    values, defined = now.values[0].sum(axis=1), float(now.defined[0].sum())
    width = grid.shape[1]
    cells = np.zeros((len(pool.models), *grid.shape))
    for start in range(0, width, _COLUMNS):
        columns = np.arange(start, min(start + _COLUMNS, width))
        tables = np.repeat(grid[None], columns.size, axis=0)
        tables[np.arange(columns.size), :, columns] = 1.0 - grid[:, columns].T
        turned = measures.parts(tables)[name]
        cells[:, :, columns] = _difference(now, turned, values, defined).transpose(1, 2, 0)
    return pool.flat(cells)


def _difference(now: PartSums, turned: PartSums, values: Floats, defined: float) -> Floats:
    """Return how far each value moves if one query is as turned: (tables, models, queries)."""
    sums = values[:, None] + turned.values - now.values
    counts = (defined + turned.defined - now.defined)[:, None]
    was = np.divide(values, defined, out=np.zeros_like(values), where=defined > 0)
    become = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    moved: Floats = become - was[:, None]
    return moved
