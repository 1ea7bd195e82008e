"""The share of positives among all pairs, from one uniform sample: the paper's way and ours."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import betaincc, betainccinv

from lookalike.stats.proportion import (
    Interval,
    clopper_pearson,
    jeffreys,
    score_interval,
    wilson,
)


@dataclass(frozen=True)
class Posterior:
    """Uniform prior on (lower bound, 1), binomial answers.

    Attributes:
        median: of the posterior.
        interval: equal-tailed.
    """

    median: float
    interval: Interval


@dataclass(frozen=True)
class Prevalence:
    """What a uniform sample says about the share p of positives.

    Attributes:
        n_positive: positives in the sample (a).
        n_labelled: size of the sample (b).
        lower_bound: positives already known over all pairs (p_LB), 0 if unknown.
        estimate: max(p_LB, a/b), the paper's MAP estimate.
        clopper_pearson: covers the truth at least as often as promised. Show this one.
        wilson: shorter, covers it as often as promised on average.
        jeffreys: posterior under the Jeffreys prior.
        posterior: under the paper's own prior, which its MAP estimate leaves half unused.
        chebyshev: what Chebyshev's inequality guarantees with error probability 1 - level.
        zero_bound: upper 95 % bound if no positive was seen, p < 3/b; None otherwise.
    """

    n_positive: int
    n_labelled: int
    lower_bound: float
    estimate: float
    clopper_pearson: Interval
    wilson: Interval
    jeffreys: Interval
    posterior: Posterior
    chebyshev: Interval
    zero_bound: float | None


def prevalence(
    n_positive: int, n_labelled: int, lower_bound: float = 0.0, level: float = 0.95
) -> Prevalence:
    """Return estimate and intervals of the share of positives among all pairs.

    Source: section 3.3.1 of the VSD paper (Barkan et al.) for `estimate` and `chebyshev`; the
    rest is standard. The per-pair binomial ignores that positives cluster by query, so every
    interval is a little short where a query gives several pairs.

    Args:
        n_positive: positives in a uniform sample of all pairs, 0 <= n_positive <= n_labelled.
        n_labelled: size of the sample, at least 1.
        lower_bound: share of all pairs already known to be positive.
        level: coverage.

    Returns:
        The estimate and its intervals.

    Raises:
        ValueError: if a count, the bound or the level is out of range.
    """
    if n_labelled < 1:
        raise ValueError("a prevalence needs at least one labelled pair")
    if not 0.0 <= lower_bound < 1.0:
        raise ValueError(f"lower bound {lower_bound} is not in [0, 1)")
    exact = clopper_pearson(n_positive, n_labelled, level)
    return Prevalence(
        n_positive=n_positive,
        n_labelled=n_labelled,
        lower_bound=lower_bound,
        estimate=max(lower_bound, n_positive / n_labelled),
        clopper_pearson=exact,
        wilson=wilson(n_positive, n_labelled, level),
        jeffreys=jeffreys(n_positive, n_labelled, level),
        posterior=truncated_posterior(n_positive, n_labelled, lower_bound, level),
        chebyshev=score_interval(n_positive, n_labelled, 1.0 / (1.0 - level)),
        zero_bound=3.0 / n_labelled if n_positive == 0 else None,
    )


def truncated_posterior(
    n_positive: int, n_labelled: int, lower_bound: float = 0.0, level: float = 0.95
) -> Posterior:
    """Return the posterior of p under the paper's uniform prior on (lower_bound, 1).

    It is Beta(a + 1, b - a + 1) cut off below the bound; quantiles by inversion, from the upper
    tail so that a bound far above the sample keeps its digits.

    Args:
        n_positive: a.
        n_labelled: b.
        lower_bound: p_LB.
        level: coverage.

    Returns:
        Median and equal-tailed interval, all at or above the bound.
    """
    a, b = n_positive + 1, n_labelled - n_positive + 1
    upper = betaincc(a, b, lower_bound)
    tail = (1.0 - level) / 2.0
    low, median, high = betainccinv(a, b, upper * (1.0 - np.array([tail, 0.5, 1.0 - tail])))
    return Posterior(float(median), Interval(float(low), float(high)))


def chebyshev_labels(epsilon: float, q: float) -> int:
    """Return how many labels bound the error by ε with probability 1 - q, if p < ε: b = 1/(εq).

    Source: Eq. 3 of the VSD paper, whose text says b = k/ε by a slip. The paper's 2,000 labels
    are ε = .01, q = .05: a guarantee of p < .011 only, ten times its estimate. Assuming p < ε
    presumes what is to be shown.

    Args:
        epsilon: the error, > 0.
        q: the error probability, > 0.

    Returns:
        The number of labels.
    """
    return ceil(1.0 / (epsilon * q) - 1e-9)


@dataclass(frozen=True)
class PoolRecall:
    """The share of all positives that the pool holds.

    Attributes:
        estimate: NaN if nothing is known to be positive anywhere.
        interval: from the Clopper-Pearson interval of the share outside.
    """

    estimate: float
    interval: Interval


def pool_recall(
    n_pool_positive: int,
    n_rest: int,
    n_sampled_positive: int,
    n_sampled: int,
    level: float = 0.95,
) -> PoolRecall:
    """Return pool recall from a sample drawn *outside* the pool.

    The VSD paper's sample covers all pairs, so of its 2 positives .87 were to be expected from
    the pool itself; it says nothing about the rest. Recall-type measures need this beside them.

    Args:
        n_pool_positive: positives in the pool, Pos_S.
        n_rest: pairs outside the pool, |A \\ S|.
        n_sampled_positive: positives in the sample.
        n_sampled: size of the sample.
        level: coverage.

    Returns:
        Pos_S / (Pos_S + p_rest |A \\ S|) with its interval.

    Raises:
        ValueError: if a count is out of range or the sample is empty.
    """
    if n_sampled < 1 or n_rest < n_sampled or n_pool_positive < 0:
        raise ValueError(
            f"{n_sampled} pairs sampled of {n_rest} outside a pool with {n_pool_positive} "
            "positives is impossible"
        )
    share = clopper_pearson(n_sampled_positive, n_sampled, level)

    def recall(rest: float) -> float:
        known = n_pool_positive + rest * n_rest
        return n_pool_positive / known if known > 0 else float("nan")

    return PoolRecall(
        recall(n_sampled_positive / n_sampled), Interval(recall(share.high), recall(share.low))
    )
