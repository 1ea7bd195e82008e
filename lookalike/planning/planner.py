"""What a budget buys: hours, widths of intervals and the order of models, before judging.

A design is tried out on a pilot: a campaign judged before, or one simulated from assumptions. Its
pairs are cut to the design's depth, labelled by as many judges, judged in rounds to the design's
share; the spread of the estimate over queries then says what any number of queries would leave
open. Sources: Sakai (Information Retrieval Journal 2016) for topic-set sizes from the variance of
a pilot; Carterette, Allan, Sitaraman (SIGIR 2006) for the confidence in an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from lookalike.core.arrays import Bools, Floats
from lookalike.core.errors import Refused
from lookalike.planning.estimates import Estimates, estimate
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import draw_round
from lookalike.stats.intervals import LEAST_QUERIES, standard_error, statistic_interval

SECONDS_PER_HOUR = 3600
N_ROUNDS = 2
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, order=True)
class Design:
    """How a campaign would be judged.

    Attributes:
        n_queries: of the campaign.
        depth: k of its pool.
        n_judges: of each pair.
        share: of the pairs that is judged.
    """

    n_queries: int
    depth: int
    n_judges: int
    share: float

    def __post_init__(self) -> None:
        if self.n_queries < LEAST_QUERIES:
            reason = f"{self.n_queries} queries have no interval; at least {LEAST_QUERIES}"
            raise Refused("queries", reason)
        if self.depth < 1 or self.n_judges < 1:
            raise Refused("depth" if self.depth < 1 else "judges", "must be at least 1")
        if not 0.0 < self.share <= 1.0:
            raise Refused("share", f"{self.share:g} is not in (0, 1]")


@dataclass(frozen=True)
class Costs:
    """What judging costs.

    Attributes:
        seconds: of one judge for one pair.
        hourly: money for an hour of a judge.
    """

    seconds: float = 5.0
    hourly: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < np.inf:
            raise Refused("seconds", f"{self.seconds:g} seconds for a pair")
        if not 0.0 <= self.hourly < np.inf:
            raise Refused("hourly", f"{self.hourly:g} for an hour")


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
        pilot = cls(_part(pool, kept, np.cumsum(whole) - 1, int(whole.sum())), votes[kept])
        if np.nanmin(pilot.votes) == np.nanmax(pilot.votes):
            raise Refused("pilot", "all its labels are equal: it tells nothing of measures")
        return pilot


@dataclass(frozen=True)
class Forecast:
    """What a design would bring by one measure.

    Attributes:
        design: of the campaign.
        measure: its name.
        n_pairs: that would be judged.
        hours: of all judges.
        money: for them.
        widths: half of each model's interval; NaN where there is none.
        neighbours: (upper, lower, probability) that the estimates order two neighbours right.
    """

    design: Design
    measure: str
    n_pairs: int
    hours: float
    money: float
    widths: tuple[float, ...]
    neighbours: tuple[tuple[str, str, float], ...]

    @property
    def widest(self) -> float:
        """The largest of the widths; NaN if one is unknown."""
        return float(np.max(self.widths))

    @property
    def order(self) -> float:
        """A lower bound of the probability that the whole order is right."""
        return max(0.0, 1.0 - sum(1.0 - p for _, _, p in self.neighbours))


@dataclass(frozen=True)
class Wish:
    """What a campaign should bring; None does not matter.

    Attributes:
        width: half of the widest interval, at most.
        order: probability that the whole order is right, at least.
    """

    width: float | None = None
    order: float | None = None

    def __post_init__(self) -> None:
        if self.width is not None and not 0.0 < self.width < 1.0:
            raise Refused("width", f"{self.width:g} is not between 0 and 1")
        if self.order is not None and not 0.0 < self.order < 1.0:
            raise Refused("order", f"{self.order:g} is not between 0 and 1")

    def is_met(self, forecast: Forecast) -> bool:
        """Whether a forecast has all that is wished."""
        narrow = self.width is None or forecast.widest <= self.width
        return narrow and (self.order is None or forecast.order >= self.order)


def forecast(
    pilot: Pilot, designs: Iterable[Design], measures: Sequence[str], costs: Costs, seed: int = 0
) -> list[Forecast]:
    """Return what each design would bring by each measure.

    Args:
        pilot: to try them out on.
        designs: any number; those that differ in queries alone cost no more time.
        measures: by name; one that needs a deeper pool than a design's is left out there.
        costs: of judging.
        seed: of votes and rounds.

    Raises:
        Refused: a design deeper than the pilot.
        InputError: a measure without an estimate.
    """
    found, tried = [], dict[tuple[int, int, float], tuple[RankedPool, Estimates, Estimates]]()
    for design in designs:
        key = (design.depth, design.n_judges, design.share)
        if key not in tried:
            tried[key] = _tried(pilot, design, measures, seed)
        pool, whole, part = tried[key]
        per_query = pool.n_pairs / pool.n_queries
        n_pairs = round(per_query * design.n_queries * design.share)
        hours = n_pairs * design.n_judges * costs.seconds / SECONDS_PER_HOUR
        for full, some in zip(whole.measures, part.measures, strict=True):
            widths = [
                _half_width(float(value), row, design.n_queries)
                for value, row in zip(full.values, some.by_query, strict=True)
            ]
            found.append(
                Forecast(
                    design=design,
                    measure=full.name,
                    n_pairs=n_pairs,
                    hours=hours,
                    money=hours * costs.hourly,
                    widths=tuple(widths),
                    neighbours=_neighbours(pool, full.by_query, some.by_query, design.n_queries),
                )
            )
    return found


def cheapest(forecasts: Iterable[Forecast], wish: Wish) -> Forecast | None:
    """Return the forecast of fewest hours that meets a wish, None if no design does."""
    met = [one for one in forecasts if wish.is_met(one)]
    return min(met, key=lambda one: (one.hours, one.design), default=None)


def frontier(forecasts: Iterable[Forecast]) -> list[Forecast]:
    """Return, by rising hours, the designs that no cheaper one matches in width."""
    best: list[Forecast] = []
    for one in sorted(forecasts, key=lambda f: (f.hours, f.widest)):
        if not np.isnan(one.widest) and (not best or one.widest < best[-1].widest):
            best.append(one)
    return best


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
    labels: Floats = (
        2 * np.take_along_axis(ordered, chosen, axis=1).sum(axis=1) > n_judges
    ).astype(np.float64)
    return labels


def _tried(
    pilot: Pilot, design: Design, measures: Sequence[str], seed: int
) -> tuple[RankedPool, Estimates, Estimates]:
    """Return the pool at a design's depth, its estimates fully judged, and as designed."""
    if design.depth > pilot.pool.depth:
        raise Refused("depth", f"the pilot is {pilot.pool.depth} deep: nothing is known below that")
    rng = np.random.default_rng([seed, design.depth, design.n_judges])
    ranks = pilot.pool.ranks
    kept: Bools = np.any((ranks > 0) & (ranks <= design.depth), axis=0)
    n = pilot.pool.n_queries
    pool = replace(_part(pilot.pool, kept, np.arange(n), n), depth=design.depth)
    votes = pilot.votes[kept]
    labels = judged_by(votes, design.n_judges, rng)
    names = [name for name in measures if "@" not in name or int(name.split("@")[1]) <= pool.depth]
    whole = estimate(pool, labels, [], names)
    if design.share == 1.0:
        return pool, whole, whole
    known, rounds = np.full(pool.n_pairs, np.nan), []
    wanted = max(1, round(design.share * pool.n_pairs / N_ROUNDS))
    for _ in range(N_ROUNDS):
        drawn = draw_round(pool, known, n_wanted=wanted, rng=rng)
        known = np.where(drawn.drawn, labels, known)
        rounds.append(drawn)
    return pool, whole, estimate(pool, known, rounds, names)


def _half_width(value: float, by_query: Floats, n_queries: int) -> float:
    error = standard_error(by_query) * np.sqrt(by_query.size / n_queries)
    ends = statistic_interval(value, float(error), n_queries)
    return (ends.high - ends.low) / 2


def _neighbours(
    pool: RankedPool, whole: Floats, part: Floats, n_queries: int
) -> tuple[tuple[str, str, float], ...]:
    """Return how likely each two neighbours are ordered right, the pilot being in doubt, too."""
    order = np.argsort(-whole.mean(axis=1), kind="stable").tolist()
    found = []
    for upper, lower in pairwise(order):
        d = whole[upper] - whole[lower]
        error = standard_error(part[upper] - part[lower]) * np.sqrt(d.size / n_queries)
        truths = np.abs(d.mean() + standard_error(d) * _NODES)
        if error > 0:
            p = float(_NODE_WEIGHTS @ ndtr(truths / error) / _NODE_WEIGHTS.sum())
        else:
            p = 1.0 if d.mean() > 0 else 0.5
        found.append((pool.models[upper], pool.models[lower], p))
    return tuple(found)


def _part(pool: RankedPool, kept: Bools, number_of: np.ndarray, n_queries: int) -> RankedPool:
    """Return some pairs of a pool, with queries numbered anew."""
    return replace(
        pool,
        n_queries=n_queries,
        queries=number_of[pool.queries[kept]].astype(np.int64),
        ranks=pool.ranks[:, kept],
        scores=pool.scores[:, kept],
    )
