"""What the next model or the next depth would still find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.core.arrays import Ints


@dataclass(frozen=True)
class Unseen:
    """Chao's estimates of the positives that no model found.

    Models miss the same images, so the truth is usually higher than any of them.

    Attributes:
        n_seen: positives found by at least one model.
        n_once: found by exactly one (f1).
        n_twice: found by exactly two (f2).
        unseen: f1² / 2 f2 (Chao1), NaN if f2 = 0.
        unseen_corrected: f1 (f1 - 1) / (2 (f2 + 1)), always defined.
        unseen_few_models: the latter times (m - 1)/m (Chao2), which counts models instead of
            single findings; with few models the other two overshoot even for independent ones.
        coverage: Good-Turing, 1 - f1 / findings: the chance that the next finding of a model
            like these is a positive already known.
    """

    n_seen: int
    n_once: int
    n_twice: int
    unseen: float
    unseen_corrected: float
    unseen_few_models: float
    coverage: float


@dataclass(frozen=True)
class DepthYield:
    """What judging one rank deeper brought.

    Attributes:
        depth: the rank, 1 for the best candidates.
        n_new: judged pairs whose best rank is this one.
        n_new_positive: positives among them.
        labels_per_positive: the price of a new positive here; infinite if there was none.
    """

    depth: int
    n_new: int
    n_new_positive: int
    labels_per_positive: float


@dataclass(frozen=True)
class NextDepth:
    """The next depth, extrapolated from log r_d = a + b log d.

    Attributes:
        depth: one below the pool.
        n_new: expected new pairs.
        n_new_positive: expected new positives.
        labels_per_positive: expected price of one.
        slope: b of the positives; near 0 means that depth keeps paying.
    """

    depth: int
    n_new: float
    n_new_positive: float
    labels_per_positive: float
    slope: float


@dataclass(frozen=True)
class Discovery:
    """Bounds and extrapolations of what the pool missed."""

    next_model: Unseen
    by_depth: tuple[DepthYield, ...]
    next_depth: NextDepth | None


def unseen_positives(n_finders: ArrayLike, n_models: int) -> Unseen:
    """Return Chao's estimates from how many models found each positive.

    Source: Chao (Scandinavian Journal of Statistics 1984; Biometrics 1987 for incidences), with
    the bias-corrected form.

    Args:
        n_finders: shape (n_positive,), whole numbers >= 1.
        n_models: how many models looked, at least 1.

    Returns:
        The counts and estimates; coverage is NaN without positives.
    """
    finders = np.asarray(n_finders, dtype=np.int64)
    once, twice = int((finders == 1).sum()), int((finders == 2).sum())
    corrected = once * (once - 1) / (2 * (twice + 1))
    return Unseen(
        n_seen=int(finders.size),
        n_once=once,
        n_twice=twice,
        unseen=once**2 / (2 * twice) if twice else float("nan"),
        unseen_corrected=corrected,
        unseen_few_models=corrected * (n_models - 1) / n_models,
        coverage=1.0 - once / int(finders.sum()) if finders.size else float("nan"),
    )


def best_ranks(ranks: Ints) -> Ints:
    """Return the best rank any model gave to each pair.

    Args:
        ranks: shape (n_models, n_pairs), 0 where a model did not propose the pair.

    Returns:
        Shape (n_pairs,), 0 where no model did.
    """
    worst = np.iinfo(np.int64).max
    best: Ints = np.where(ranks > 0, ranks, worst).min(axis=0)
    return np.where(best == worst, 0, best)


def discovery(evidence: PoolEvidence) -> Discovery:
    """Return what the next model and the next depth may be expected to find.

    The extrapolation is a least-squares line through the logarithms of the depths that found
    something; it needs two of them, else `next_depth` is None.
    """
    is_positive = evidence.labels == 1
    finders = evidence.contributed.sum(axis=1)
    best = best_ranks(evidence.ranks)
    by_depth = tuple(
        _yield_at(d, int((best == d).sum()), int((best[is_positive] == d).sum()))
        for d in range(1, evidence.depth + 1)
    )
    unseen = unseen_positives(finders[is_positive], len(evidence.generators))
    return Discovery(unseen, by_depth, _next_depth(by_depth))


def _yield_at(depth: int, n_new: int, n_positive: int) -> DepthYield:
    price = n_new / n_positive if n_positive else float("inf") if n_new else float("nan")
    return DepthYield(depth, n_new, n_positive, price)


def _next_depth(by_depth: tuple[DepthYield, ...]) -> NextDepth | None:
    depth = len(by_depth) + 1
    pairs = _extrapolate([(y.depth, y.n_new) for y in by_depth], depth)
    positives = _extrapolate([(y.depth, y.n_new_positive) for y in by_depth], depth)
    if pairs is None or positives is None:
        return None
    n_new, n_positive = pairs[0], positives[0]
    return NextDepth(depth, n_new, n_positive, n_new / n_positive, positives[1])


def _extrapolate(points: list[tuple[int, int]], depth: int) -> tuple[float, float] | None:
    """Fit log count = a + b log depth and return the count at `depth` and b."""
    positive = [(d, n) for d, n in points if n > 0]
    if len(positive) < 2:
        return None
    x, y = np.log(np.array(positive, dtype=np.float64)).T
    slope, intercept = np.polyfit(x, y, 1)
    return float(np.exp(intercept + slope * np.log(depth))), float(slope)
