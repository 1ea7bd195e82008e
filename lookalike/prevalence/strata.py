"""The share of positives from samples at several depths below the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats, Ints
from lookalike.stats.bootstrap import percentile_interval, query_counts
from lookalike.stats.proportion import Interval, clopper_pearson


@dataclass(frozen=True)
class StratumCount:
    """What was labelled in one stratum.

    Attributes:
        name: such as "ranks 7-20".
        n_pairs: its size, N_h.
        n_sampled: labels drawn from it, n_h; all of it is a census, as in the pool.
        n_positive: positives among them, a_h.
    """

    name: str
    n_pairs: int
    n_sampled: int
    n_positive: int

    @property
    def is_census(self) -> bool:
        """Whether every pair was labelled."""
        return self.n_sampled == self.n_pairs


@dataclass(frozen=True)
class StratumEstimate(StratumCount):
    """One stratum's share of positives with its exact interval (a point for a census)."""

    share: float
    interval: Interval


@dataclass(frozen=True)
class StratifiedPrevalence:
    """The share of positives over all strata.

    Attributes:
        strata: each on its own, at a level corrected for their number (Bonferroni).
        share: Σ (N_h / N) p̂_h.
        standard_error: with finite-population correction; too small where a stratum of few
            labels has none or one positive.
        total: expected number of positives.
        total_interval: sum of the corrected exact intervals, conservative.
        pool_recall: positives in the pool, or in all censused strata, over `total`; NaN without a
            census.
        pool_recall_interval: from `total_interval`.
    """

    strata: tuple[StratumEstimate, ...]
    share: float
    standard_error: float
    total: float
    total_interval: Interval
    pool_recall: float
    pool_recall_interval: Interval


@dataclass(frozen=True)
class WeightedPrevalence:
    """The share of positives from pairs with unequal chances to be drawn.

    Attributes:
        share: Hájek's ratio, Σ y/π over Σ 1/π.
        total: Horvitz-Thompson, Σ y/π.
        n_represented: Σ 1/π, the pairs the sample stands for.
        interval: of `share`, bootstrap over queries.
        effective_size: (Σ w)² / Σ w², the equal-chance sample worth as much.
    """

    share: float
    total: float
    n_represented: float
    interval: Interval
    effective_size: float


def stratified_prevalence(
    strata: Sequence[StratumCount], level: float = 0.95, *, pool: StratumCount | None = None
) -> StratifiedPrevalence:
    """Return the share and number of positives from simple random samples by stratum.

    Var = Σ (N_h/N)² (1 - f_h) p̂_h (1 - p̂_h) / (n_h - 1). For rare positives a normal interval
    would go below 0, so the total is bounded by Clopper-Pearson intervals at level
    1 - (1 - level)/H over the H strata that were sampled, not censused.

    Args:
        strata: at least one; each with at least one label, two if sampled.
        level: coverage.
        pool: the stratum that recall is of: another that is labelled in full, too, holds
            positives that the pool missed all the same. None: every censused one.

    Returns:
        The estimates.

    Raises:
        ValueError: if there are no strata or a count is impossible.
    """
    _check(strata)
    n_total = sum(s.n_pairs for s in strata)
    n_sampled_strata = sum(not s.is_census for s in strata)
    corrected = 1.0 - (1.0 - level) / max(n_sampled_strata, 1)
    estimates = tuple(_estimate(s, corrected) for s in strata)
    share = sum(e.n_pairs / n_total * e.share for e in estimates)
    low, high = (
        sum(e.n_pairs * end for e, end in zip(estimates, ends, strict=True))
        for ends in ([e.interval.low for e in estimates], [e.interval.high for e in estimates])
    )
    known = sum(s.n_positive for s in strata if s.is_census and pool in (None, s))
    total = share * n_total
    return StratifiedPrevalence(
        strata=estimates,
        share=share,
        standard_error=float(np.sqrt(sum(_variance(s, n_total) for s in strata))),
        total=total,
        total_interval=Interval(low, high),
        pool_recall=known / total if known else float("nan"),
        pool_recall_interval=Interval(known / high, known / low)
        if known
        else Interval(float("nan"), float("nan")),
    )


def weighted_prevalence(
    labels: ArrayLike,
    inclusion: ArrayLike,
    queries: Ints,
    rng: np.random.Generator,
    *,
    n_bootstraps: int = 1_000,
    level: float = 0.95,
) -> WeightedPrevalence:
    """Return the share of positives from pairs drawn with known inclusion probabilities.

    The same 1/π are the weights of `lookalike.stats.grouped_auc.auc_and_ap`. The bootstrap draws
    queries, so it covers the clustering that a binomial interval ignores; queries without a
    drawn pair are not in it.

    Args:
        labels: shape (n_drawn,), 0 or 1.
        inclusion: shape (n_drawn,), in (0, 1]; 1 for pairs that were labelled for sure.
        queries: shape (n_drawn,), query index of each.
        rng: draws the bootstrap.
        n_bootstraps: how many samples.
        level: coverage.

    Returns:
        The estimates.

    Raises:
        ValueError: if nothing was drawn, or a label or probability is out of range.
    """
    y, pi = np.asarray(labels, dtype=np.float64), np.asarray(inclusion, dtype=np.float64)
    if y.size == 0 or y.shape != pi.shape or queries.shape != y.shape:
        raise ValueError("labels, inclusion and queries must be equally long and not empty")
    if not np.isin(y, (0.0, 1.0)).all() or (pi <= 0).any() or (pi > 1).any():
        raise ValueError("labels must be 0 or 1 and inclusion probabilities in (0, 1]")
    weights = 1.0 / pi
    _, codes = np.unique(queries, return_inverse=True)
    whole = np.bincount(codes, weights=weights)
    part = np.bincount(codes, weights=weights * y)
    counts = query_counts(whole.size, n_bootstraps, rng)
    samples: Floats = (counts @ part) / (counts @ whole)
    return WeightedPrevalence(
        share=float(part.sum() / whole.sum()),
        total=float(part.sum()),
        n_represented=float(whole.sum()),
        interval=percentile_interval(samples, level),
        effective_size=float(weights.sum() ** 2 / (weights**2).sum()),
    )


def _estimate(s: StratumCount, level: float) -> StratumEstimate:
    share = s.n_positive / s.n_sampled
    interval = (
        Interval(share, share) if s.is_census else clopper_pearson(s.n_positive, s.n_sampled, level)
    )
    return StratumEstimate(**vars(s), share=share, interval=interval)


def _variance(s: StratumCount, n_total: int) -> float:
    if s.is_census:
        return 0.0
    share = s.n_positive / s.n_sampled
    sampled = s.n_sampled / s.n_pairs
    spread = share * (1.0 - share) / (s.n_sampled - 1)
    return float((s.n_pairs / n_total) ** 2 * (1.0 - sampled) * spread)


def _check(strata: Sequence[StratumCount]) -> None:
    if not strata:
        raise ValueError("there are no strata")
    for s in strata:
        if not 0 <= s.n_positive <= s.n_sampled <= s.n_pairs or s.n_sampled < 1:
            raise ValueError(
                f"stratum {s.name}: {s.n_positive} positives of {s.n_sampled} labels of "
                f"{s.n_pairs} pairs is impossible"
            )
        if s.n_sampled == 1 and not s.is_census:
            raise ValueError(f"stratum {s.name}: one label has no spread; draw at least two")
