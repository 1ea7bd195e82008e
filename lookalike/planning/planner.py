"""What a budget buys: hours, widths of intervals and the order of models, before judging.

A design is tried out on a pilot: a campaign judged before, or one simulated from assumptions. Its
pairs are cut to the design's depth, labelled by as many judges, judged in rounds to the design's
share; the spread of the estimate over queries then says what any number of queries would leave
open. Fewer judges give more wrong labels, which no number of queries mends: how far they move a
value from what all of the pilot's judges say is a bias, added to the width. Sources: Sakai
(Information Retrieval Journal 2016) for topic-set sizes from the variance of a pilot; Carterette,
Allan, Sitaraman (SIGIR 2006) for the confidence in an order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import ndtr, ndtri

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.blas import blas_alone
from lookalike.core.each import stream_each
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress, Silent
from lookalike.planning.designs import RANGE, Costs, Design, Forecast
from lookalike.planning.estimates import Estimate, estimate
from lookalike.planning.intervals import CampaignSpread, width_range
from lookalike.planning.measures import needed_depth
from lookalike.planning.pilot import Pilot, judged_by, majority_labels, part_of
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import draw_round
from lookalike.planning.simulator import World, simulate
from lookalike.pooling.stats import expert_hours
from lookalike.stats.units import unit_spread

N_ROUNDS = 2
N_TRIES = 3  # of votes and rounds, where a design judges a part: their chance is no query's
N_ASSUMED_QUERIES = 200  # of the campaign that stands in for a pilot
N_ASSUMED_JUDGES = 9  # of each pair, at least: whose majority is next to true
_NODES = ndtri((np.arange(2000) + 0.5) / 2000)  # the normal distribution, in equal parts


def assumed_pilot(world: World, designs: Sequence[Design], seed: int = 0) -> Pilot:
    """Return a simulated campaign that stands in for a pilot.

    Args:
        world: what is assumed; its queries, depth and judges are replaced by what the designs
            need.
        designs: that will be tried out on it; at least one.
        seed: of the simulation.
    """
    enough = replace(
        world,
        n_queries=N_ASSUMED_QUERIES,
        depth=max(design.depth for design in designs),
        n_judges=max(N_ASSUMED_JUDGES, *(design.n_judges for design in designs)),
    )
    campaign = simulate(enough, seed)
    return Pilot.of(campaign.pool, campaign.votes.astype(np.float64))


def forecast(
    pilot: Pilot,
    designs: Sequence[Design],
    measures: Sequence[str],
    costs: Costs,
    seed: int = 0,
    *,
    progress: Progress | None = None,
) -> list[Forecast]:
    """Return what each design would bring by each measure.

    Args:
        pilot: to try them out on.
        designs: any number; those that differ in queries alone cost no more time.
        measures: by name; one that needs a deeper pool than a design's is left out there.
        costs: of judging.
        seed: of votes and rounds.
        progress: told how many designs are tried out.

    Raises:
        Refused: a design deeper than the pilot.
        InputError: a measure without an estimate.
    """
    for name in measures:
        needed_depth(name)
    tried = _all_tried(pilot, designs, measures, seed, progress or Silent())
    return [one for design in designs for one in _forecasts(tried[_effort(design)], design, costs)]


def _effort(design: Design) -> tuple[int, int, float]:
    """Return what tells designs apart whose trial takes time of its own."""
    return design.depth, design.n_judges, design.share


@dataclass(frozen=True)
class _Tried:
    """A design tried out on the pilot.

    Attributes:
        pool: the pilot's, at the design's depth.
        measures: each as all of the pilot's judges say, as the design's judges say of all pairs,
            and as estimated from the pairs that the design judges.
    """

    pool: RankedPool
    measures: tuple[tuple[Estimate, Estimate, Estimate], ...]


def _forecasts(tried: _Tried, design: Design, costs: Costs) -> Iterator[Forecast]:
    """Yield what a design would bring by each measure."""
    pool = tried.pool
    n_pairs = round(pool.n_pairs / pool.n_queries * design.n_queries * design.share)
    hours = expert_hours(n_pairs, costs.seconds, design.n_judges)
    for best, full, some in tried.measures:
        there = replace(some, values=full.values).intervals(n_queries=design.n_queries)
        widths = [(ends.high - ends.low) / 2 for ends in there]
        yield Forecast(
            design=design,
            measure=full.name,
            n_pairs=n_pairs,
            hours=hours,
            money=hours * costs.hourly,
            widths=tuple(widths),
            biases=tuple(np.abs(full.values - best.values).tolist()),
            neighbours=_neighbours(pool.models, best, full, some, design.n_queries),
            ranges=_ranges(widths, some, pool.n_queries, design.n_queries),
        )


def _all_tried(
    pilot: Pilot, designs: Sequence[Design], measures: Sequence[str], seed: int, progress: Progress
) -> dict[tuple[int, int, float], _Tried]:
    """Try designs out on all cores, those of one depth on the same pool."""
    by_effort = {_effort(design): design for design in designs}
    parts = {
        depth: _AtDepth.of(pilot, depth, measures)
        for depth in sorted({design.depth for design in designs})
    }
    done: dict[tuple[int, int, float], _Tried] = {}
    with blas_alone():
        found = stream_each(lambda one: parts[one.depth].tried(one, seed), by_effort.values())
        for effort, tried in zip(by_effort, found, strict=True):
            done[effort] = tried
            progress.update(len(done), len(by_effort), "Trying designs out")
    return done


@dataclass(frozen=True)
class _AtDepth:
    """A pilot's pairs down to a depth, their votes, and the measures that all votes give."""

    pool: RankedPool
    votes: Floats
    best: tuple[Estimate, ...]

    @classmethod
    def of(cls, pilot: Pilot, depth: int, measures: Sequence[str]) -> _AtDepth:
        if depth > pilot.pool.depth:
            known = f"the pilot is {pilot.pool.depth} deep: nothing is known below that"
            raise Refused("depth", known)
        pool, votes = at_depth(pilot, depth)
        names = [name for name in measures if needed_depth(name) <= pool.depth]
        return cls(pool, votes, estimate(pool, majority_labels(votes), [], names).measures)

    def tried(self, design: Design, seed: int) -> _Tried:
        """Judge by a design, several times where chance has a part in which pairs."""
        rng = np.random.default_rng([seed, design.depth, design.n_judges])
        names = [one.name for one in self.best]
        n_tries = N_TRIES if design.share < 1.0 else 1
        tries = [judge_by_design(self.pool, self.votes, design, names, rng) for _ in range(n_tries)]
        wholes, parts = (
            [_together(several) for several in zip(*side, strict=True)]
            for side in zip(*tries, strict=True)
        )
        return _Tried(self.pool, tuple(zip(self.best, wholes, parts, strict=True)))


def at_depth(pilot: Pilot, depth: int) -> tuple[RankedPool, Floats]:
    """Return a pilot's pairs down to a depth, and their votes."""
    ranks = pilot.pool.ranks
    kept: Bools = np.any((ranks > 0) & (ranks <= depth), axis=0)
    pool = replace(part_of(pilot.pool, kept), depth=depth)
    return pool, pilot.votes[kept]


def judge_by_design(
    pool: RankedPool, votes: Floats, design: Design, names: Sequence[str], rng: np.random.Generator
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """Return the measures as the design's judges say of all pairs, and of those it judges.

    Args:
        pool: as deep as the design.
        votes: shape (n_pairs, n_judges), of which the design's judges are drawn.
        design: how many judges, and which share; its number of queries is the pool's.
        names: of measures.
        rng: draws votes and rounds.
    """
    labels = judged_by(votes, design.n_judges, rng)
    whole = estimate(pool, labels, [], names).measures
    if design.share == 1.0:
        return whole, whole
    known, rounds = np.full(pool.n_pairs, np.nan), []
    wanted = max(1, round(design.share * pool.n_pairs / N_ROUNDS))
    for _ in range(N_ROUNDS):
        drawn = draw_round(pool, known, n_wanted=wanted, rng=rng)
        known = np.where(drawn.drawn, labels, known)
        rounds.append(drawn)
    return whole, estimate(pool, known, rounds, names).measures


def _together(tries: Sequence[Estimate]) -> Estimate:
    """Return one estimate with the mean value and the mean variance of several."""
    means = [one.by_query.mean(axis=1, keepdims=True) for one in tries]
    rows = np.concatenate([one.by_query - m for one, m in zip(tries, means, strict=True)], axis=1)
    n = rows.shape[1]
    groups = _groups_of_tries(tries)
    n_units = n if groups is None else np.unique(groups).size
    rows = rows * np.sqrt((n_units - 1.0) / (n_units - len(tries)))
    values = np.mean([one.values for one in tries], axis=0)
    return Estimate(tries[0].name, values, rows + np.mean(means, axis=0), groups)


def _groups_of_tries(tries: Sequence[Estimate]) -> Ints | None:
    """Return the unit of each query of each try; tries have none in common."""
    groups = tries[0].groups
    if groups is None:
        return None
    return np.concatenate([groups + at * (groups.max() + 1) for at in range(len(tries))])


def _ranges(
    widths: Sequence[float], part: Estimate, n_pilot: int, n_queries: int
) -> tuple[tuple[float, float], ...]:
    found = []
    for width, row in zip(widths, part.by_query, strict=True):
        low, high = width_range(row, n_pilot, n_queries, RANGE, part.groups)
        found.append((width * low, width * high))
    return tuple(found)


def _neighbours(
    models: Sequence[str], best: Estimate, whole: Estimate, part: Estimate, n_queries: int
) -> tuple[tuple[str, str, float], ...]:
    """Return how likely each two neighbours are ordered right, the pilot being in doubt, too."""
    order = np.argsort(-best.by_query.mean(axis=1), kind="stable").tolist()
    found = []
    for upper, lower in pairwise(order):
        d, d_whole, d_part = (
            one.by_query[upper] - one.by_query[lower] for one in (best, whole, part)
        )
        error = CampaignSpread.of(d_part, part.groups, n_queries).error
        shift = float(d_whole.mean() - d.mean())
        p = order_probability(d.mean(), unit_spread(d, best.groups).error, error, shift)
        found.append((models[upper], models[lower], p))
    return tuple(found)


def order_probability(difference: float, doubt: float, error: float, shift: float = 0.0) -> float:
    """Return how likely an estimate has the sign of the truth; 1/2 where the truth is 0.

    For a difference and a shift of 0 it is 1/2 + arctan(doubt / error) / pi.

    Args:
        difference: that a pilot found.
        doubt: standard error of it: the truth is normal around it.
        error: standard error of the estimate, normal around the truth plus shift.
        shift: of the estimate, by labels that are wrong.
    """
    truth = difference + doubt * _NODES
    centre = np.sign(truth) * (truth + shift)
    return float(
        np.where(error > 0, ndtr(centre / max(error, 1e-300)), (np.sign(centre) + 1) / 2).mean()
    )
