"""The share of positives from samples at several depths below the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.stats.proportion import Interval, modified_wilson


@dataclass(frozen=True)
class StratumCount:
    """What was labelled in one stratum.

    Attributes:
        name: such as "ranks 7-20".
        n_pairs: its size, N_h.
        n_sampled: labels drawn from it, n_h; all of it is a census, as in the pool.
        n_positive: positives among them, a_h.
        n_undecided: pairs that were drawn, too, and have no label.
    """

    name: str
    n_pairs: int
    n_sampled: int
    n_positive: int
    n_undecided: int = 0

    @property
    def is_census(self) -> bool:
        """Whether every pair was asked."""
        return self.n_sampled + self.n_undecided == self.n_pairs


@dataclass(frozen=True, kw_only=True)
class StratumEstimate(StratumCount):
    """One stratum's share of positives with its interval (a point for a census).

    Attributes:
        share: of positives among the labels, as if the undecided were like the others.
        interval: from no undecided pair being positive to all of them.
        least: the share if no undecided pair is positive.
        most: the share if all of them are.
    """

    share: float
    interval: Interval

    @property
    def least(self) -> float:
        return self.n_positive / (self.n_sampled + self.n_undecided)

    @property
    def most(self) -> float:
        return (self.n_positive + self.n_undecided) / (self.n_sampled + self.n_undecided)


@dataclass(frozen=True)
class StratifiedPrevalence:
    """The share of positives over all strata.

    Attributes:
        strata: each on its own.
        share: Σ (N_h / N) p̂_h.
        standard_error: with finite-population correction; too small where a stratum of few
            labels has none or one positive.
        total: expected number of positives.
        total_interval: from the ends of the strata, their errors added as squares.
        pool_recall: positives in the pool, or in all censused strata, over `total`; NaN without a
            census or any positive.
        pool_recall_interval: from the ends of the strata, the pool's undecided pairs all different
            at the lower end and all similar at the upper one.
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
        effective_size: (Σ w)² / Σ w², the equal-chance sample worth as much.
    """

    share: float
    total: float
    n_represented: float
    effective_size: float


def stratified_prevalence(
    strata: Sequence[StratumCount], level: float = 0.95, *, pool: StratumCount | None = None
) -> StratifiedPrevalence:
    """Return the share and number of positives from simple random samples by stratum.

    Var = Σ (N_h/N)² (1 - f_h) p̂_h (1 - p̂_h) / (n_h - 1). For rare positives a normal interval
    would go below 0 and cover too seldom; the total's has the distances between each stratum's
    share and its own ends, squared and added (Zou and Donner, Statistics in Medicine 2008).

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
    estimates = tuple(estimate_stratum(s, level) for s in strata)
    share = sum(e.n_pairs / n_total * e.share for e in estimates)
    low, high = _ends(estimates)
    in_pool = [
        e for s, e in zip(strata, estimates, strict=True) if s.is_census and pool in (None, s)
    ]
    known = sum(e.share * e.n_pairs for e in in_pool)
    least, most = _ends(in_pool)
    total = share * n_total
    return StratifiedPrevalence(
        strata=estimates,
        share=share,
        standard_error=float(np.sqrt(sum(_variance(s, n_total) for s in strata))),
        total=total,
        total_interval=Interval(low, high),
        pool_recall=known / total if known else float("nan"),
        pool_recall_interval=Interval(least / (least + high - most), most / (most + low - least))
        if known
        else Interval(float("nan"), float("nan")),
    )


def weighted_prevalence(labels: ArrayLike, inclusion: ArrayLike) -> WeightedPrevalence:
    """Return the share of positives from pairs drawn with known inclusion probabilities.

    The same 1/π are the weights of `lookalike.stats.roc_auc.auc_and_ap`. It has no interval
    of its own: where positives are rare, a sample often holds none of the few that stand for most
    of them, and neither a bootstrap nor a standard error knows (they cover 61 to 94 % of such
    cases). `stratified_prevalence` has one that covers.

    Args:
        labels: shape (n_drawn,), 0 or 1.
        inclusion: shape (n_drawn,), in (0, 1]; 1 for pairs that were labelled for sure.

    Returns:
        The estimates.

    Raises:
        ValueError: if nothing was drawn, or a label or probability is out of range.
    """
    y, pi = np.asarray(labels, dtype=np.float64), np.asarray(inclusion, dtype=np.float64)
    if y.size == 0 or y.shape != pi.shape:
        raise ValueError("labels and inclusion must be equally long and not empty")
    if not np.isin(y, (0.0, 1.0)).all() or (pi <= 0).any() or (pi > 1).any():
        raise ValueError("labels must be 0 or 1 and inclusion probabilities in (0, 1]")
    weights = 1.0 / pi
    whole, part = float(weights.sum()), float((weights * y).sum())
    return WeightedPrevalence(
        share=part / whole,
        total=part,
        n_represented=whole,
        effective_size=float(weights.sum() ** 2 / (weights**2).sum()),
    )


def estimate_stratum(s: StratumCount, level: float = 0.95) -> StratumEstimate:
    """Return the share of positives in one stratum, which has at least one label.

    Its interval is `modified_wilson`, drawn towards the shares by √(1 - f), since f of the stratum
    is known, and never beyond what was seen; a census has none but what the undecided leave open.
    """
    n, most = s.n_sampled + s.n_undecided, s.n_positive + s.n_undecided
    unknown = float(np.sqrt(1.0 - n / s.n_pairs))
    low = modified_wilson(s.n_positive, n, level).low
    high = modified_wilson(most, n, level).high
    interval = Interval(
        max(s.n_positive / n - unknown * (s.n_positive / n - low), s.n_positive / s.n_pairs),
        min(most / n + unknown * (high - most / n), 1.0 - (n - most) / s.n_pairs),
    )
    return StratumEstimate(**vars(s), share=s.n_positive / s.n_sampled, interval=interval)


def _ends(estimates: Sequence[StratumEstimate]) -> tuple[float, float]:
    """Return the least and the greatest number of positives in some strata together.

    What the undecided may be is no chance, so that it is added as it is, not squared.
    """
    below = sum((e.n_pairs * (e.least - e.interval.low)) ** 2 for e in estimates)
    above = sum((e.n_pairs * (e.interval.high - e.most)) ** 2 for e in estimates)
    return (
        sum(e.n_pairs * e.least for e in estimates) - float(np.sqrt(below)),
        sum(e.n_pairs * e.most for e in estimates) + float(np.sqrt(above)),
    )


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
        n_asked = s.n_sampled + s.n_undecided
        if not 0 <= s.n_positive <= s.n_sampled <= n_asked <= s.n_pairs or s.n_sampled < 1:
            raise ValueError(
                f"stratum {s.name}: {s.n_positive} positives of {s.n_sampled} labels of "
                f"{s.n_pairs} pairs is impossible"
            )
        if s.n_sampled == 1 and not s.is_census:
            raise ValueError(f"stratum {s.name}: one label has no spread; draw at least two")
