"""The kinds of numbers with an interval on pages, each in worlds with a known truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from docs.simulations.interval_worlds import (
    N_BOOTSTRAPS,
    N_TRUTH,
    N_WORLDS,
    Draw,
    World,
    long_run,
    percentiles,
    rng_of,
)
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.pooling.advice import depth_advice, gains_by_depth
from lookalike.pooling.eds import Proposals
from lookalike.prevalence import strata
from lookalike.stats.bootstrap import query_counts
from lookalike.stats.differences import difference_intervals
from lookalike.stats.intervals import (
    UNDEFINED,
    mean_interval,
    spread_interval,
)
from lookalike.stats.micro_values import micro_values
from lookalike.stats.proportion import Interval
from lookalike.stats.units import Units, unit_spread


@dataclass(frozen=True)
class Situation:
    """A kind of number, in worlds with a known truth.

    Attributes:
        name: as it stands in the table.
        observe: the intervals from one draw of so many queries; `counts` are bootstrap samples.
        n_worlds: draws behind each cell; more where coverage is near the ends of the promise.
    """

    name: str
    observe: Callable[[np.random.Generator, int, Floats], World]
    n_worlds: int = N_WORLDS


def products_of(
    draw: Callable[[np.random.Generator, Floats], Floats],
    truth: float,
    sizes: Sequence[int],
    name: str,
    *,
    is_difference: bool = False,
) -> Situation:
    """Return a mean over queries of which several are photos of one product, equally easy.

    Args:
        draw: values of queries from the ease of each.
        truth: their mean, for an ease of Beta(1, 2).
        sizes: how many queries the products have, in turn.
        name: as it stands in the table.
        is_difference: of two models.
    """

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        repeated = np.resize(sizes, n)
        codes = np.repeat(np.arange(n), repeated)[:n]
        values = draw(rng, rng.beta(1, 2, n)[codes])
        percentile = percentiles(_query_counts(n) @ values / n)
        if is_difference:
            units = Units(codes)
            shown = difference_intervals(
                values[:, None], _unit_counts(n, tuple(sizes)), units=units
            )
            return truth, shown[0], percentile
        return truth, mean_interval(values, groups=codes), percentile

    return Situation(name, observe)


@cache
def _query_counts(n: int) -> Floats:
    return query_counts(n, N_BOOTSTRAPS, rng_of(f"queries {n}"))


@cache
def _unit_counts(n: int, sizes: tuple[int, ...]) -> Floats:
    codes = np.repeat(np.arange(n), np.resize(sizes, n))[:n]
    return query_counts(n, N_BOOTSTRAPS, rng_of(f"units {n}"), Units(codes))


def mean_of(draw: Draw, name: str, n_worlds: int = N_WORLDS) -> Situation:
    """Return a mean over queries."""

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        values = draw(rng, n)
        return long_run(draw), mean_interval(values), percentiles(counts @ values / n)

    return Situation(name, observe, n_worlds)


def successes(low: float, high: float, name: str) -> Situation:
    """Return the share of queries with a hit, its truth between `low` and `high`."""

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        truth = rng.uniform(low, high)
        values = rng.binomial(1, truth, n).astype(np.float64)
        return truth, mean_interval(values), percentiles(counts @ values / n)

    return Situation(name, observe)


def difference_of(draw: Draw, name: str, n_worlds: int = N_WORLDS) -> Situation:
    """Return a mean difference over queries."""

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        values = draw(rng, n)
        shown = difference_intervals(values[:, None], counts)[0]
        return long_run(draw), shown, percentiles(counts @ values / n)

    return Situation(name, observe, n_worlds)


def two_successes(name: str) -> Situation:
    """Return the difference of two models' shares of queries with a hit.

    They differ in a twentieth to half of the queries, mostly one way or as often either way.
    """

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        changed, more = rng.uniform(0.05, 0.5), rng.beta(2, 2)
        chances = (changed * (1 - more), 1 - changed, changed * more)
        values = rng.choice([-1.0, 0.0, 1.0], n, p=chances)
        shown = difference_intervals(values[:, None], counts, is_yes_no=True)[0]
        return changed * (2 * more - 1), shown, percentiles(counts @ values / n)

    return Situation(name, observe)


def micro_of(which: int, name: str, *, is_change: bool = False) -> Situation:
    """Return a micro area, or its change when a third of the pairs lose their labels."""

    def values(rng: np.random.Generator, n: int) -> Floats:
        queries = np.repeat(np.arange(n), 12)
        labels = (rng.random(queries.size) < rng.beta(3, 3, n)[queries]).astype(np.float64)
        level = rng.normal(0.0, 0.5, n)[queries]  # scores of queries are not quite comparable
        scores = rng.normal(size=queries.size) + 1.2 * labels + level
        is_lost = (scores > 0.5) & (rng.random(queries.size) < 0.4)
        kept = np.stack([np.ones(queries.size, bool), ~is_lost])
        found = micro_values(scores[None], labels, queries, n, kept)[which][0]
        value: Floats = found[1] - found[0] if is_change else found[0]
        return value

    @cache
    def truth() -> float:
        return float(values(rng_of(name), N_TRUTH // 10).mean())

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        v = values(rng, n)
        if is_change:
            return truth(), difference_intervals(v[:, None], counts)[0], UNDEFINED
        return truth(), spread_interval(float(v.mean()), unit_spread(v)), UNDEFINED

    return Situation(name, observe)


def share_of(name: str) -> Situation:
    """Return the share of an attribute's value among the positives of all queries."""

    def pairs(rng: np.random.Generator, n: int) -> tuple[Bools, Ints]:
        queries = np.repeat(np.arange(n), 1 + rng.poisson(4, n))
        return rng.random(queries.size) < rng.beta(2, 4, n)[queries], queries

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        is_part, queries = pairs(rng, n)
        own = np.bincount(queries, weights=is_part, minlength=n)
        shares = counts @ own / (counts @ np.bincount(queries, minlength=n))
        return 1 / 3, mean_interval(is_part, groups=queries), percentiles(shares)

    return Situation(name, observe)


def prevalence_of(name: str, *, recall: bool) -> Situation:
    """Return positives of all pairs, or the pool's recall: 50 labels a query, few of them rare."""
    sizes, rates = (20_000, 200_000, 10_000_000), (0.3, 0.1, 0.0007)
    total = 45_920 + sum(n * p for n, p in zip(sizes, rates, strict=True))

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        drawn = (5 * n, 10 * n, 35 * n)
        counts = [strata.StratumCount("pool", 54_170, 54_170, 45_920)]
        counts += [
            strata.StratumCount(str(size), size, k, int(rng.binomial(k, p)))
            for size, k, p in zip(sizes, drawn, rates, strict=True)
        ]
        found = strata.stratified_prevalence(counts)
        if recall:
            return 45_920 / total, found.pool_recall_interval, UNDEFINED
        return total, found.total_interval, UNDEFINED

    return Situation(name, observe)


def stratum_of(name: str) -> Situation:
    """Return the share of similar pairs of one stratum: 10 labels a query, similar 1 to 30 %."""

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        truth = float(np.exp(rng.uniform(np.log(0.01), np.log(0.3))))
        n_positive = int(rng.binomial(10 * n, truth))
        found = strata.estimate_stratum(strata.StratumCount("one", 200_000, 10 * n, n_positive))
        return truth, found.interval, UNDEFINED

    return Situation(name, observe)


def deepest_of(name: str) -> Situation:
    """Return the most that the share of similar pairs of the deepest rank may be: 5 to 30 %."""

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        truth = float(np.exp(rng.uniform(np.log(0.05), np.log(0.3))))
        queries = np.repeat(np.arange(n), 1 + rng.poisson(3, n))
        chance = rng.beta(3 * truth, 3 * (1 - truth), n)[queries]
        is_similar = rng.random(queries.size) < chance
        judged = np.ones(queries.size, np.bool_)
        first = np.zeros(queries.size, np.int64)
        scores = first.astype(np.float32)
        proposals = Proposals(queries, np.arange(queries.size), first, first, scores, n_models=1)
        gains = gains_by_depth(proposals, judged, is_similar, np.ones(1, np.bool_))
        found = depth_advice(gains, 0.05)
        assert found is not None
        return truth, Interval(0.0, found.upper), UNDEFINED

    return Situation(name, observe)
