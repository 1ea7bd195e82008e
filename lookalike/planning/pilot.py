"""A pool judged whole, to try designs out on, and the labels that fewer judges would give it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lookalike.agreement.majority import majority
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.errors import Refused
from lookalike.planning.pool import RankedPool
from lookalike.stats.intervals import LEAST_QUERIES


@dataclass(frozen=True)
class Pilot:
    """A pool of which every pair is judged.

    Attributes:
        pool: the pairs.
        votes: shape (n_pairs, n_judges), 0 or 1, NaN where a judge did not judge; at least one
            of each pair.
    """

    pool: RankedPool
    votes: Floats

    @classmethod
    def of(cls, pool: RankedPool, votes: Floats) -> Pilot:
        """Keep the queries of which every pair has a vote.

        Raises:
            Refused: they are too few to tell a spread, or their labels are all equal.
        """
        has_vote = ~np.isnan(votes).all(axis=1)
        lacks = np.bincount(pool.queries[~has_vote], minlength=pool.n_queries)
        whole = (lacks == 0) & (np.bincount(pool.queries, minlength=pool.n_queries) > 0)
        if whole.sum() < LEAST_QUERIES:
            raise Refused(
                "pilot",
                f"{int(whole.sum())} queries are judged whole: their spread says nothing; a pilot "
                f"needs {LEAST_QUERIES}",
            )
        kept = whole[pool.queries]
        pilot = cls(part_of(pool, kept, np.flatnonzero(whole)), votes[kept])
        if np.nanmin(pilot.votes) == np.nanmax(pilot.votes):
            raise Refused("pilot", "all its labels are equal: it tells nothing of measures")
        return pilot


def judged_by(votes: Floats, n_judges: int, rng: np.random.Generator) -> Floats:
    """Return labels by the majority of so many votes of each pair; a tie is different.

    They are drawn from the pair's own: without replacement while there are enough.

    Args:
        votes: shape (n_pairs, n_voters), NaN where there is none.
        n_judges: votes of each pair.
        rng: draws them.
    """
    given = ~np.isnan(votes)
    n_given = given.sum(axis=1)
    by_chance = np.where(given, rng.random(votes.shape), np.inf)
    ordered = np.take_along_axis(votes, by_chance.argsort(axis=1), axis=1)
    at = np.broadcast_to(np.arange(n_judges), (votes.shape[0], n_judges))
    again = (rng.random(at.shape) * n_given[:, None]).astype(np.int64)
    chosen = np.where((n_given >= n_judges)[:, None], at, again)
    return majority_labels(np.take_along_axis(ordered, chosen, axis=1))


def majority_labels(votes: Floats) -> Floats:
    """Return the label of each pair from all its votes; a tie is different, as in the VSD paper.

    Args:
        votes: shape (n_pairs, n_judges), 0 or 1, NaN where there is none.
    """
    similar, different = (votes == 1).sum(axis=1), (votes == 0).sum(axis=1)
    return majority(similar, different, "negative").is_similar.astype(np.float64)


def part_of(pool: RankedPool, kept: Bools, queries: Ints | None = None) -> RankedPool:
    """Return some pairs of a pool, its queries numbered again.

    Args:
        pool: the pairs.
        kept: shape (n_pairs,), which of them.
        queries: shape (n_kept_queries,), ascending, the numbers of the queries that stay, of all
            the pairs among them; None: all stay, also without a pair.
    """
    stay = np.arange(pool.n_queries) if queries is None else queries
    return replace(
        pool,
        n_queries=stay.size,
        queries=np.searchsorted(stay, pool.queries[kept]),
        ranks=pool.ranks[:, kept],
        scores=pool.scores[:, kept],
        units=None if pool.units is None else pool.units.part(stay),
    )
