"""Queries with a known truth, from which `coverage.py` draws: values of measures by query."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from zlib import crc32

import numpy as np

from lookalike.core.arrays import Floats, Ints
from lookalike.stats.proportion import Interval
from lookalike.stats.roc_auc import auc_and_ap

N_SKEWED = 8_000
N_WORLDS, N_BOOTSTRAPS, N_TRUTH, N_PANELS = 2_000, 1_000, 200_000, 400

Draw = Callable[[np.random.Generator, int], Floats]
World = tuple[float, Interval, Interval]  # the truth; the interval shown; percentile bootstrap


def areas(rng: np.random.Generator, n: int, gain: float) -> Floats:
    """Return the ROC-AUC of each query with 3 positives and 6 negatives."""
    positive = rng.normal(size=(n, 3)) + rng.normal(gain, 0.6, n)[:, None]
    return share_won(positive, rng.normal(size=(n, 6)))


def two_areas(rng: np.random.Generator, n: int) -> Floats:
    """Return the difference of two models that see the same queries through errors of their own."""
    gain = rng.normal(1.2, 0.6, n)[:, None]
    positive, negative = rng.normal(size=(n, 3)) + gain, rng.normal(size=(n, 6))
    noisy = [x + 0.5 * rng.normal(size=x.shape) for x in (positive + 0.3, negative)]
    return share_won(*noisy) - share_won(positive, negative)


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
    return share_won(positive, rng.normal(size=(n, counts[1])))


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


def hits_of_ease(rng: np.random.Generator, ease: Floats) -> Floats:
    """Return P@5."""
    return rng.binomial(5, ease) / 5


def two_hits_of_ease(rng: np.random.Generator, ease: Floats) -> Floats:
    """Return the difference in P@5 of two models."""
    differences: Floats = (rng.binomial(5, ease) - rng.binomial(5, 0.7 * ease)) / 5
    return differences


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


def share_won(positive: Floats, negative: Floats) -> Floats:
    won: Floats = (positive[:, :, None] > negative[:, None, :]).mean(axis=(1, 2))
    return won


def percentiles(samples: Floats) -> Interval:
    low, high = np.quantile(samples, (0.025, 0.975))
    return Interval(float(low), float(high))


@cache
def long_run(draw: Draw) -> float:
    return float(draw(rng_of("truth"), 10 * N_TRUTH).mean())


def rng_of(name: str) -> np.random.Generator:
    return np.random.default_rng(crc32(name.encode()))
