"""Numbers of pools, judges, photos, rounds and plans with an interval; and the table of all."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from docs.simulations.interval_situations import (
    Situation,
    deepest_of,
    difference_of,
    mean_of,
    micro_of,
    prevalence_of,
    products_of,
    share_of,
    stratum_of,
    successes,
    two_successes,
)
from docs.simulations.interval_worlds import (
    N_PANELS,
    N_SKEWED,
    N_TRUTH,
    Draw,
    World,
    areas,
    crashes,
    easy_areas,
    firsts,
    good_but_for_failures,
    graded_gains,
    hard_hits,
    hits,
    hits_of_ease,
    judged,
    judged_shares,
    long_run,
    percentiles,
    rare_changes,
    rare_losses,
    rng_of,
    trivial_areas,
    two_areas,
    two_firsts,
    two_graded_gains,
    two_hits,
    two_hits_of_ease,
)
from lookalike.agreement.human_line import HumanLine, human_line
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.outsiders import equal_outsider_by_query
from lookalike.core.arrays import Floats, Ints
from lookalike.planning.estimates import estimate
from lookalike.planning.intervals import estimate_interval
from lookalike.planning.rounds import draw_round
from lookalike.planning.simulator import World as SimulatedWorld
from lookalike.planning.simulator import simulate
from lookalike.pooling.probe import additions
from lookalike.stats.intervals import (
    UNDEFINED,
    mean_interval,
)
from lookalike.stats.judge_intervals import judges_interval
from lookalike.stats.proportion import Interval


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
        return people(rng_of(name), N_TRUTH // 20, noise).auc

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
        return float(photos(rng_of(name), N_TRUTH)[0].mean())

    def observe(rng: np.random.Generator, n: int, counts: Floats) -> World:
        hits, products = photos(rng, n)
        totals, sizes = np.bincount(products, weights=hits), np.bincount(products)
        means = (counts @ totals) / (counts @ sizes)
        return truth(), mean_interval(hits, groups=products), percentiles(means)

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
        return float(np.nanmean(values(rng_of(name), N_TRUTH // 20)))

    def observe(rng: np.random.Generator, n: int, _: Floats) -> World:
        return truth(), mean_interval(values(rng, n)), UNDEFINED

    return Situation(name, observe)


def rounds_of(measure: str, name: str) -> Situation:
    """Return a measure of a pool of which two rounds have judged half, by three judges who err."""
    drawn_from = SimulatedWorld(n_images=30, n_models=3, depth=5)

    @cache
    def truth() -> float:
        campaign = simulate(replace(drawn_from, n_queries=N_TRUTH // 20), rng_of(name))
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
        return long_run(draw), Interval(values.mean() - half, values.mean() + half), UNDEFINED

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
