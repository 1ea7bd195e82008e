"""Simulate queries with a known truth: how often does each interval that a page shows hold it?

    python docs/simulations/coverage.py          prints the figures and writes them to the document
    python docs/simulations/coverage.py --check  exits with 1 if the document says otherwise, or
                                                 if a row breaks the promise from 20 queries on
    ... --only "product"                         only the rows with that in their name

A cell is blank where fewer than one world in ten shows an interval: there the rules on the data
leave it out, and no coverage is promised.

Rows are simulated in as many processes as there are cores. Another processor may round otherwise
and so hold a truth that ended within a rounding error of an interval: a world or two of a cell.

Every row is a kind of number on a page, in worlds whose true value is known. Beside the interval
that is shown stands what the percentile bootstrap covers, which stood there before. Where a number
takes few values (yes or no, one stratum), coverage jumps from one true value to the next whatever
the interval, so the truth is drawn anew for each world.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lookalike.agreement.human_line import HumanLine, human_line  # noqa: E402
from lookalike.bias.evidence.pool import PoolEvidence  # noqa: E402
from lookalike.bias.outsiders import equal_outsider_by_query  # noqa: E402
from lookalike.core.arrays import Bools, Floats, Ints  # noqa: E402
from lookalike.core.cores import available_cores  # noqa: E402
from lookalike.planning.estimates import estimate  # noqa: E402
from lookalike.planning.intervals import estimate_interval  # noqa: E402
from lookalike.planning.rounds import draw_round  # noqa: E402
from lookalike.planning.simulator import World as SimulatedWorld  # noqa: E402
from lookalike.planning.simulator import simulate  # noqa: E402
from lookalike.pooling.advice import depth_advice, gains_by_depth  # noqa: E402
from lookalike.pooling.eds import Proposals  # noqa: E402
from lookalike.pooling.probe import additions  # noqa: E402
from lookalike.prevalence import strata  # noqa: E402
from lookalike.stats.bootstrap import query_counts  # noqa: E402
from lookalike.stats.differences import difference_intervals  # noqa: E402
from lookalike.stats.intervals import (  # noqa: E402
    UNDEFINED,
    mean_interval,
    spread_interval,
)
from lookalike.stats.judge_intervals import judges_interval  # noqa: E402
from lookalike.stats.micro_values import micro_values  # noqa: E402
from lookalike.stats.proportion import Interval  # noqa: E402
from lookalike.stats.roc_auc import auc_and_ap  # noqa: E402
from lookalike.stats.units import Units, unit_spread  # noqa: E402

DOCUMENT = ROOT / "docs/measures.md"
BEGIN, END = "<!-- coverage of the intervals -->", "<!-- end of the coverage -->"
N_QUERIES = (10, 20, 50, 200)
N_SKEWED = 8_000
N_WORLDS, N_BOOTSTRAPS, N_TRUTH, N_PANELS = 2_000, 1_000, 200_000, 400
PROMISED = (0.93, 0.97)
SELDOM = 0.1  # share of worlds with an interval below which a cell is blank
ROUNDING = 0.15  # percentage points: two worlds of a cell

Draw = Callable[[np.random.Generator, int], Floats]
World = tuple[float, Interval, Interval]  # the truth; the interval shown; percentile bootstrap


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


@dataclass(frozen=True)
class Coverage:
    """How often the truth was held: where an interval was shown, and by percentiles."""

    held: float
    shown: float
    percentile: float


def areas(rng: np.random.Generator, n: int, gain: float) -> Floats:
    """Return the ROC-AUC of each query with 3 positives and 6 negatives."""
    positive = rng.normal(size=(n, 3)) + rng.normal(gain, 0.6, n)[:, None]
    return _won(positive, rng.normal(size=(n, 6)))


def two_areas(rng: np.random.Generator, n: int) -> Floats:
    """Return the difference of two models that see the same queries through errors of their own."""
    gain = rng.normal(1.2, 0.6, n)[:, None]
    positive, negative = rng.normal(size=(n, 3)) + gain, rng.normal(size=(n, 6))
    noisy = [x + 0.5 * rng.normal(size=x.shape) for x in (positive + 0.3, negative)]
    return _won(*noisy) - _won(positive, negative)


def hits(rng: np.random.Generator, n: int) -> Floats:
    """Return P@5 of queries of which some are easy and most are not."""
    return rng.binomial(5, rng.beta(1, 2, n)) / 5


def graded_gains(rng: np.random.Generator, n: int) -> Floats:
    """Return nDCG@5 of queries with ten candidates of grades 0 to 3, most of them 0."""
    grades = _grades(rng, n)
    return _gains(grades, grades + rng.normal(0, 1.5, (n, 1)) * rng.normal(size=(n, 10)))


def two_graded_gains(rng: np.random.Generator, n: int) -> Floats:
    """Return the difference in nDCG@5 of two models that share half of their errors."""
    grades = _grades(rng, n)
    ease, common = rng.normal(0, 1.5, (n, 1)), rng.normal(size=(n, 10))
    first, second = (grades + ease * (common + rng.normal(size=(n, 10))) for _ in range(2))
    return _gains(grades, first) - _gains(grades, second + 0.3 * rng.normal(size=(n, 10)))


def _grades(rng: np.random.Generator, n: int) -> Ints:
    grades = rng.choice(4, (n, 10), p=(0.6, 0.2, 0.12, 0.08))
    grades[:, 0] = np.maximum(grades[:, 0], 1)  # a query without a gain is not defined
    return grades


def _gains(grades: Ints, seen: Floats) -> Floats:
    discount = 1.0 / np.log2(np.arange(2, 7))
    ranked = np.take_along_axis(grades, np.argsort(-seen, axis=1), axis=1)[:, :5]
    best = -np.sort(-grades, axis=1)[:, :5]
    gains: Floats = (ranked @ discount) / (best @ discount)
    return gains


def judged_shares(rng: np.random.Generator, n: int) -> Floats:
    """Return judged@5 of queries of which most, but not all, have all of the first five judged."""
    return rng.binomial(5, rng.beta(6, 1, n)) / 5


def two_hits(rng: np.random.Generator, n: int) -> Floats:
    """Return the difference in P@5 of two models."""
    ease = rng.beta(2, 2, n)
    differences: Floats = (rng.binomial(5, ease) - rng.binomial(5, ease * 0.8)) / 5
    return differences


def firsts(rng: np.random.Generator, n: int) -> Floats:
    """Return reciprocal ranks of the first positive."""
    return 1.0 / np.minimum(rng.geometric(0.5, n), 10)


def two_firsts(rng: np.random.Generator, n: int) -> Floats:
    """Return the difference in the reciprocal rank of the first positive of two models."""
    ease = rng.uniform(0.3, 0.9, n)
    first, second = (1.0 / np.minimum(rng.geometric(p), 10) for p in (ease, 0.8 * ease))
    return first - second


def rare_changes(rng: np.random.Generator, n: int) -> Floats:
    """Return self-deltas of a model of whose queries four in five do not change at all."""
    return np.where(rng.random(n) < 0.8, 0.0, rng.beta(1, 6, n))


def easy_areas(rng: np.random.Generator, n: int) -> Floats:
    """Return ROC-AUC of about .95 of queries with one positive and 8 negatives."""
    return _skewed_areas(rng, n, 2.5, (1, 8))


def trivial_areas(rng: np.random.Generator, n: int) -> Floats:
    """Return ROC-AUC of about .99 of queries with two positives and 8 negatives."""
    return _skewed_areas(rng, n, 3.7, (2, 8))


def _skewed_areas(rng: np.random.Generator, n: int, gain: float, counts: tuple[int, int]) -> Floats:
    positive = rng.normal(size=(n, counts[0])) + rng.normal(gain, 0.6, n)[:, None]
    return _won(positive, rng.normal(size=(n, counts[1])))


def hard_hits(rng: np.random.Generator, n: int) -> Floats:
    """Return P@5 of about .1: most queries have none."""
    return rng.binomial(5, rng.beta(0.3, 2.7, n)) / 5


def good_but_for_failures(rng: np.random.Generator, n: int) -> Floats:
    """Return values next to 1, of which one in twenty fails."""
    return np.where(rng.random(n) < 0.05, rng.beta(1, 3, n), rng.beta(60, 1, n))


def rare_losses(rng: np.random.Generator, n: int) -> Floats:
    """Return differences of which 85 % are 0, most of the others gains, one in twenty -0.8."""
    return rng.choice([0.0, 0.1, -0.8], n, p=(0.85, 0.1, 0.05))


def crashes(rng: np.random.Generator, n: int) -> Floats:
    """Return small differences in ROC-AUC, and one crash in twenty queries."""
    return rng.normal(0.01, 0.03, n) - np.where(rng.random(n) < 0.05, 0.8, 0.0)


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
        percentile = _percentiles(_query_counts(n) @ values / n)
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
    return query_counts(n, N_BOOTSTRAPS, _rng(f"queries {n}"))


@cache
def _unit_counts(n: int, sizes: tuple[int, ...]) -> Floats:
    codes = np.repeat(np.arange(n), np.resize(sizes, n))[:n]
    return query_counts(n, N_BOOTSTRAPS, _rng(f"units {n}"), Units(codes))


def hits_of_ease(rng: np.random.Generator, ease: Floats) -> Floats:
    """Return P@5."""
    return rng.binomial(5, ease) / 5


def two_hits_of_ease(rng: np.random.Generator, ease: Floats) -> Floats:
    """Return the difference in P@5 of two models."""
    differences: Floats = (rng.binomial(5, ease) - rng.binomial(5, 0.7 * ease)) / 5
    return differences


def mean_of(draw: Draw, name: str, n_worlds: int = N_WORLDS) -> Situation:
    """Return a mean over queries."""

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        values = draw(rng, n)
        return _long_run(draw), mean_interval(values), _percentiles(counts @ values / n)

    return Situation(name, observe, n_worlds)


def successes(low: float, high: float, name: str) -> Situation:
    """Return the share of queries with a hit, its truth between `low` and `high`."""

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        truth = rng.uniform(low, high)
        values = rng.binomial(1, truth, n).astype(np.float64)
        return truth, mean_interval(values), _percentiles(counts @ values / n)

    return Situation(name, observe)


def difference_of(draw: Draw, name: str, n_worlds: int = N_WORLDS) -> Situation:
    """Return a mean difference over queries."""

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        values = draw(rng, n)
        shown = difference_intervals(values[:, None], counts)[0]
        return _long_run(draw), shown, _percentiles(counts @ values / n)

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
        return changed * (2 * more - 1), shown, _percentiles(counts @ values / n)

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
        return float(values(_rng(name), N_TRUTH // 10).mean())

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
        return 1 / 3, mean_interval(is_part, groups=queries), _percentiles(shares)

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


def people_of(name: str) -> Situation:
    """Return the macro ROC-AUC of three judges, each against the majority of the others."""

    def people(rng: np.random.Generator, n: int, noise: float) -> HumanLine:
        look = rng.normal(size=(n, 8)) + rng.normal(0, 0.5, n)[:, None]
        answers = look[..., None] + noise * rng.normal(size=(n, 8, 3)) > 0.3
        query, pair, judge = np.indices(answers.shape).reshape(3, -1)
        found = human_line(query, 8 * query + pair, judge, answers.ravel())
        assert found is not None
        return found

    @cache
    def truth(noise: float) -> float:
        return people(_rng(name), N_TRUTH // 20, noise).auc

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        noise = float(rng.choice([0.25, 0.5, 1.0]))
        return truth(noise), people(rng, n, noise).interval, UNDEFINED

    return Situation(name, observe)


def probe_of(name: str) -> Situation:
    """Return the pairs that a model adds, from a probe of some of 100,000 queries."""
    n_all = 100_000

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        first = np.arange(6)[None] + np.zeros((n, 1), np.int64)
        new = rng.binomial(6, rng.beta(2, 3, n))
        second = first + 6 * (np.arange(6)[None] < new[:, None])
        added = additions({"a": 6, "b": 6}, {"a": first, "b": second}, n_all)[0][1]
        return 6 * 0.4 * n_all, Interval(added.low, added.high), UNDEFINED

    return Situation(name, observe)


def judged(rng: np.random.Generator, n: int, n_judges: int, taste: float) -> tuple[Floats, Floats]:
    """Return the difference in ROC-AUC of two models by query, by a panel and each judge.

    Of 12 candidates of a query a judge finds similar what exceeds the judge's own threshold in a
    mixture of two traits; judges weigh the second by taste. The second model sees more of it.
    """
    trait, other = rng.normal(size=(2, n, 12))
    trait += rng.normal(0, 0.5, n)[:, None]
    weights, thresholds = rng.normal(0.3, taste, n_judges), rng.normal(0, taste, n_judges)
    noise = 0.6 * rng.normal(size=(n_judges, n, 12))
    seen = trait + weights[:, None, None] * other + noise
    yes = seen > thresholds[:, None, None]
    first = trait + 0.8 * rng.normal(size=trait.shape)
    second = 0.8 * trait + 0.5 * other + 0.7 * rng.normal(size=trait.shape)
    labels = np.concatenate([(2 * yes.sum(axis=0) > n_judges)[None], yes])
    weights_of = np.concatenate([labels, ~labels], axis=1).reshape(n_judges + 1, -1)
    found = auc_and_ap(
        np.stack([np.tile(scores.ravel(), 2) for scores in (first, second)]),
        np.repeat([1.0, 0.0], trait.size),
        np.tile(np.repeat(np.arange(n), 12), 2),
        n,
        weights_of.astype(np.float64),
    ).auc
    differences: Floats = found[0] - found[1]
    return differences[0], differences[1:]


def judged_of(n_judges: int, taste: float, name: str) -> Situation:
    """Return a difference of two models where queries and judges are drawn anew."""

    @cache
    def truth() -> float:
        rng = np.random.default_rng(n_judges)
        panels = (judged(rng, 100, n_judges, taste)[0] for _ in range(N_PANELS))
        return float(np.mean([np.nanmean(panel) for panel in panels]))

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        return truth(), judges_interval(*judged(rng, n, n_judges, taste)), UNDEFINED

    return Situation(name, observe)


def identity_of(name: str) -> Situation:
    """Return vsd_hr@5 of photos, of which those of one product are found together, or not."""

    def photos(rng: np.random.Generator, n: int) -> tuple[Floats, Ints]:
        products = np.repeat(np.arange(n), 2 + rng.poisson(2, n))
        n_others = np.minimum(np.bincount(products)[products] - 1, 5)
        return rng.binomial(n_others, rng.beta(2, 2, n)[products]) / 5, products

    @cache
    def truth() -> float:
        return float(photos(_rng(name), N_TRUTH)[0].mean())

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        hits, products = photos(rng, n)
        totals, sizes = np.bincount(products, weights=hits), np.bincount(products)
        means = (counts @ totals) / (counts @ sizes)
        return truth(), mean_interval(hits, groups=products), _percentiles(means)

    return Situation(name, observe)


def outsiders_of(name: str) -> Situation:
    """Return the equal-outsider AUC of the best of four models that built a pool."""
    drawn_from = SimulatedWorld(n_images=30, n_models=4, depth=5, positives=0.2)

    def values(rng: np.random.Generator, n: int) -> Floats:
        campaign = simulate(replace(drawn_from, n_queries=n), rng)
        pool, queries = campaign.pool, [str(q) for q in range(n)]
        evidence = PoolEvidence(
            n_queries=n,
            queries=pool.queries,
            candidates=campaign.candidates,
            labels=campaign.labels,
            generators=pool.models,
            ranks=np.where(pool.proposed, pool.ranks, 0),
            models=pool.models,
            scores=pool.scores,
        )
        return equal_outsider_by_query(evidence, queries, queries)[pool.models[0]]

    @cache
    def truth() -> float:
        return float(np.nanmean(values(_rng(name), N_TRUTH // 20)))

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        return truth(), mean_interval(values(rng, n)), UNDEFINED

    return Situation(name, observe)


def rounds_of(measure: str, name: str) -> Situation:
    """Return a measure of a pool of which two rounds have judged half, by three judges who err."""
    drawn_from = SimulatedWorld(n_images=30, n_models=3, depth=5)

    @cache
    def truth() -> float:
        campaign = simulate(replace(drawn_from, n_queries=N_TRUTH // 20), _rng(name))
        [found] = estimate(campaign.pool, campaign.labels, [], [measure]).measures
        return float(found.values[0])

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        campaign = simulate(replace(drawn_from, n_queries=n), rng)
        pool, rounds = campaign.pool, []
        labels = np.full(pool.n_pairs, np.nan)
        for _round in range(2):
            drawn = draw_round(pool, labels, n_wanted=pool.n_pairs // 4, rng=rng)
            labels[drawn.drawn] = campaign.labels[drawn.drawn]
            rounds.append(drawn)
        [found] = estimate(pool, labels, rounds, [measure]).measures
        return truth(), found.intervals()[0], UNDEFINED

    return Situation(name, observe)


def planned_of(draw: Draw, name: str) -> Situation:
    """Return a mean, give or take what was foretold from another campaign of as many queries."""

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        pilot, values = draw(rng, n), draw(rng, n)
        foretold = estimate_interval(float(pilot.mean()), pilot, 0.0, 0.95, n_queries=n)
        half = (foretold.high - foretold.low) / 2
        return _long_run(draw), Interval(values.mean() - half, values.mean() + half), UNDEFINED

    return Situation(name, observe)


SITUATIONS = (
    successes(0.4, 0.6, "Success@5 of about half the queries"),
    successes(0.9, 1.0, "Success@5 of nine in ten to all queries"),
    mean_of(hits, "P@5, vsd_hr@5"),
    mean_of(graded_gains, "nDCG@5 of grades"),
    mean_of(firsts, "MRR@5"),
    mean_of(judged_shares, "judged@5, hole@5, P@5 at most"),
    mean_of(lambda rng, n: areas(rng, n, 1.2), "macro ROC-AUC of fair models"),
    mean_of(lambda rng, n: areas(rng, n, 2.2), "macro ROC-AUC of good models"),
    mean_of(lambda rng, n: rng.beta(5, 2, n), "macro AP"),
    outsiders_of("equal-outsider AUC"),
    micro_of(0, "micro ROC-AUC"),
    micro_of(1, "micro PR-AUC"),
    two_successes("difference of two models in Success@5"),
    difference_of(two_hits, "difference in P@5"),
    difference_of(two_firsts, "difference in MRR@5"),
    difference_of(two_graded_gains, "difference in nDCG@5 of grades"),
    difference_of(two_areas, "difference in macro ROC-AUC, or self-delta"),
    micro_of(0, "self-delta of micro ROC-AUC", is_change=True),
    micro_of(1, "self-delta of micro PR-AUC", is_change=True),
    difference_of(rare_changes, "self-delta where four queries in five do not change"),
    share_of("share of an attribute’s value"),
    people_of("macro ROC-AUC of the judges, each against the others"),
    deepest_of("similar pairs of the deepest rank, 5 % and more: at most"),
    probe_of("pairs that a model adds, from a probe"),
    prevalence_of("similar pairs of the catalog, 50 labels a query", recall=False),
    prevalence_of("recall of the pool, 50 labels a query", recall=True),
    stratum_of("similar pairs of one stratum, 10 labels a query"),
    judged_of(5, 0.0, "difference, other queries and 5 judges who are alike"),
    judged_of(5, 0.3, "difference, other queries and 5 judges of some taste"),
    rounds_of("P@5", "P@5 where rounds have judged half of the pool"),
    rounds_of("macro_roc_auc", "macro ROC-AUC where rounds have judged half of the pool"),
    planned_of(hits, "P@5, give or take what a plan foretold"),
    mean_of(easy_areas, "macro ROC-AUC of about .95, one positive a query", N_SKEWED),
    mean_of(trivial_areas, "macro ROC-AUC of about .99, two positives a query", N_SKEWED),
    mean_of(hard_hits, "P@5 of about .1, most queries without a hit", N_SKEWED),
    mean_of(
        good_but_for_failures,
        "mean of about .95, next to 1 but for one failure in twenty",
        N_SKEWED,
    ),
    difference_of(
        rare_losses, "difference, 85 % of queries equal, one in twenty loses .8", N_SKEWED
    ),
    difference_of(crashes, "difference in macro ROC-AUC, one query in twenty crashes", N_SKEWED),
    products_of(hits_of_ease, 1 / 3, (2,), "P@5, queries in pairs of a product"),
    products_of(hits_of_ease, 1 / 3, (4,), "P@5, queries in fours of a product"),
    products_of(hits_of_ease, 1 / 3, (1, 1, 6, 1, 2), "P@5, queries of products of unequal size"),
    products_of(
        two_hits_of_ease,
        0.1,
        (2,),
        "difference in P@5, queries in pairs of a product",
        is_difference=True,
    ),
    products_of(
        two_hits_of_ease,
        0.1,
        (4,),
        "difference in P@5, queries in fours of a product",
        is_difference=True,
    ),
    identity_of("vsd_hr@5 of photos (identity), by products instead of queries"),
)


def coverage(situation: Situation, n: int, n_worlds: int = 0) -> Coverage:
    """Return how often the intervals of `n` queries hold the truth."""
    n_worlds = n_worlds or situation.n_worlds
    rng = _rng(f"{situation.name} {n}")
    counts = query_counts(n, N_BOOTSTRAPS, rng)
    truths, *sides = zip(*(situation.observe(rng, n, counts) for _ in range(n_worlds)), strict=True)
    held, percentile = (
        [
            i.low - 1e-12 <= truth <= i.high + 1e-12
            for truth, i in zip(truths, side, strict=True)
            if i.is_defined
        ]
        for side in sides
    )
    return Coverage(
        float(np.mean(held)) if held else float("nan"),
        len(held) / n_worlds,
        float(np.mean(percentile)) if percentile else float("nan"),
    )


def table(only: str = "") -> Iterator[str]:
    """Yield the figures as a Markdown table, each row as soon as it and those above are there."""
    chosen = [at for at, one in enumerate(SITUATIONS) if only in one.name]
    heads = [f"{n} queries" for n in N_QUERIES]
    yield f"| 95 % interval of | {' | '.join(heads)} | percentile bootstrap, 20 queries |"
    yield "|---|" + "---|" * (1 + len(N_QUERIES))
    with ProcessPoolExecutor(
        available_cores(), initializer=threadpool_limits, initargs=(1,)
    ) as pool:
        yield from pool.map(_row_at, chosen)


def _row_at(place: int) -> str:
    return row(SITUATIONS[place])


def row(situation: Situation, n_worlds: int = 0) -> str:
    """Return the figures of one kind of number as a row of a Markdown table."""
    found = [coverage(situation, n, n_worlds) for n in N_QUERIES]
    before = found[N_QUERIES.index(20)].percentile
    cells = [_shown(one) for one in found] + ["" if np.isnan(before) else f"{before:.1%}"]
    return f"| {situation.name} | {' | '.join(cells)} |"


def _shown(found: Coverage) -> str:
    if np.isnan(found.held):
        return "blank"
    if found.shown < SELDOM:
        return f"blank ({found.shown:.0%} shown)"
    partly = f" ({found.shown:.0%} shown)" if found.shown < 0.995 else ""
    return f"{found.held:.1%}{partly}"


def _won(positive: Floats, negative: Floats) -> Floats:
    won: Floats = (positive[:, :, None] > negative[:, None, :]).mean(axis=(1, 2))
    return won


def _percentiles(samples: Floats) -> Interval:
    low, high = np.quantile(samples, (0.025, 0.975))
    return Interval(float(low), float(high))


@cache
def _long_run(draw: Draw) -> float:
    return float(draw(_rng("truth"), 10 * N_TRUTH).mean())


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng(crc32(name.encode()))


def faults(figures: str, documented: str) -> Iterator[str]:
    """Yield where a document says otherwise than the figures, and where they break the promise."""
    rows, others = ([_cells(line) for line in of.splitlines()] for of in (figures, documented))
    if [row[0] for row in rows] != [row[0] for row in others]:
        yield "the document has other rows"
    for (name, *cells), (_, *told) in zip(rows, others, strict=False):
        for cell, other in zip(cells, told, strict=False):
            if not _is_alike(cell, other):
                yield f"{name}: {cell}, but {other} in the document"
        for n, cell in zip(N_QUERIES, cells, strict=False):
            if (
                n >= 20
                and "%" in cell
                and cell[:1].isdigit()
                and not PROMISED[0] <= _percent(cell) / 100 <= PROMISED[1]
            ):
                yield f"{name}: {cell} at {n} queries"


def _replaced(documented: str, rows: Sequence[str]) -> str:
    """Return the table of the document with some rows made again, in the order of situations."""
    new = {_cells(row)[0]: row for row in rows}
    head, old = documented.splitlines()[:2], documented.splitlines()[2:]
    known = {_cells(row)[0]: row for row in old} | new
    return "\n".join([*head, *(known[one.name] for one in SITUATIONS if one.name in known)])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _percent(cell: str) -> float:
    return float(cell.partition("%")[0])


def _is_alike(cell: str, other: str) -> bool:
    (held, *rest), (told, *others) = cell.partition("%"), other.partition("%")
    if not (held[:1].isdigit() and told[:1].isdigit()):
        return cell == other
    return rest == others and (held == told or abs(float(held) - float(told)) < ROUNDING)


def main() -> int:
    """Simulate, print the figures, and write or check the document."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare the document, write nothing")
    parser.add_argument("--only", default="", help="rows with this in their name")
    arguments = parser.parse_args()
    lines = []
    for line in table(arguments.only):
        print(line, flush=True)
        lines.append(line)
    figures = "\n".join(lines)
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    documented, tail = rest.split(END)
    if arguments.only:
        figures = _replaced(documented.strip(), lines[2:])
        if arguments.check:
            documented = "\n".join(row for row in documented.splitlines() if arguments.only in row)
            figures = "\n".join(lines[2:])
    if arguments.check:
        found = list(faults(figures, documented.strip()))
        n_off = sum(a != b for a, b in zip(lines, documented.strip().splitlines(), strict=False))
        print(
            *found or [f"The document holds; {n_off} rows end in another processor's digits."],
            sep="\n",
        )
        return int(bool(found))
    DOCUMENT.write_text(f"{head}{BEGIN}\n{figures}\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
