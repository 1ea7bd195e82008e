"""How well two score lists order the same models: Spearman, Kendall's tau_b, tau_AP.

All correlations work on the last axis and broadcast over the others, so that a thousand
bootstrap samples are one call. Values closer than `SAME` are tied: means of the same numbers
summed in another order must not count as an order. Nothing is rounded beyond that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.defined_values import ratio

Signs = NDArray[np.float32]

SAME = 1e-12


def competition_ranks(values: ArrayLike) -> Ints:
    """Return each value's place, 1 for the highest; tied values share the best place.

    Args:
        values: shape (..., n), higher is better, no NaN.

    Returns:
        Shape (..., n).
    """
    v = np.asarray(values, dtype=np.float64)
    above: Ints = (v[..., None, :] > v[..., :, None] + SAME).sum(axis=-1)
    return above + 1


@dataclass(frozen=True)
class Correlations:
    """How well an estimated list orders models as the true one does; each of shape (...).

    Attributes:
        spearman: Spearman's rho, with average ranks for ties.
        tau_b: Kendall's tau_b: concordant less discordant pairs, corrected for ties in both.
        tau_ap: AP rank correlation: 2/(n-1) Σ_{i>=2} C(i)/(i-1) - 1 down the *estimated* list,
            C(i) being how many of the i-1 models above place i rightly so (Yilmaz, Aslam,
            Robertson, SIGIR 2008). Errors at the top weigh more, and the two lists are not
            interchangeable (trectools takes its first argument as the truth, against its own
            comment). Ties in the estimate: the mean over all orders of the tied models (Urbano
            and Marrero, ICTIR 2017, tau_AP,a). A tie in the truth counts half, which they leave
            undefined.
        tau_ap_b: its symmetric form that allows ties in both lists (Urbano and Marrero, ICTIR
            2017, tau_AP,b): each model is compared with those above its tie group, the top group
            is left out, and both directions are averaged. Without ties it is the mean of
            `tau_ap` both ways.
        max_drop: how many places the worst-hit model falls from the true to the estimated order.
    """

    spearman: Floats
    tau_b: Floats
    tau_ap: Floats
    tau_ap_b: Floats
    max_drop: Floats


def correlations(truth: ArrayLike, estimate: ArrayLike) -> Correlations:
    """Return all correlations at once, which costs little more than one of them.

    Args:
        truth: shape (..., n), higher is better.
        estimate: shape (..., n), broadcast against `truth`.

    Returns:
        Each in [-1, 1], NaN where a list is all tied, which is no order to agree with, and
        `max_drop` at least 0; all are NaN where a list holds a NaN.

    Raises:
        ValueError: if the last axes differ.
    """
    a, b = pair_signs(truth, estimate)
    is_defined = ~np.isnan(a).any(axis=(-2, -1)) & ~np.isnan(b).any(axis=(-2, -1))
    fall = (b < 0).sum(axis=-1) - (a < 0).sum(axis=-1)  # places of all models, from 0
    return Correlations(
        spearman=_spearman(a, b),
        tau_b=_tau_b(a, b),
        tau_ap=_tau_ap(a, b),
        tau_ap_b=(_one_way_b(a, b) + _one_way_b(b, a)) / 2.0,
        max_drop=np.where(is_defined, np.maximum(fall.max(axis=-1, initial=0), 0), np.nan),
    )


def places(values: ArrayLike) -> list[int | None]:
    """Return `competition_ranks` of one list, None for an undefined value."""
    v = np.asarray(values, dtype=np.float64)
    return [
        None if np.isnan(value) else rank
        for value, rank in zip(v, competition_ranks(v).tolist(), strict=True)
    ]


def pair_signs(x: ArrayLike, y: ArrayLike) -> tuple[Signs, Signs]:
    """Return sign(v_i - v_j) of both lists.

    A row's sum is twice the model's centred average rank.

    Args:
        x: shape (..., n).
        y: shape (..., n), broadcast against `x`.

    Returns:
        Two arrays of shape (..., n, n), NaN where a value is NaN.

    Raises:
        ValueError: if the last axes differ.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim < 1 or b.ndim < 1 or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"lists of {a.shape} and {b.shape} models cannot be compared")
    a, b = np.broadcast_arrays(a, b)
    return _sign(a[..., :, None] - a[..., None, :]), _sign(b[..., :, None] - b[..., None, :])


def _spearman(a: Signs, b: Signs) -> Floats:
    # sums of signs are twice the centred average ranks
    rank_x, rank_y = a.sum(axis=-1, dtype=np.float64), b.sum(axis=-1, dtype=np.float64)
    together = (rank_x * rank_y).sum(axis=-1)
    return ratio(together, np.sqrt((rank_x**2).sum(axis=-1) * (rank_y**2).sum(axis=-1)))


def _tau_b(a: Signs, b: Signs) -> Floats:
    agreed = (a * b).sum(axis=(-2, -1), dtype=np.float64)
    untied_x, untied_y = (np.abs(s).sum(axis=(-2, -1), dtype=np.float64) for s in (a, b))
    return ratio(agreed, np.sqrt(untied_x * untied_y))


def _tau_ap(a: Signs, b: Signs) -> Floats:
    n = a.shape[-1]
    if n < 2:
        return np.full(a.shape[:-2], np.nan)
    is_above = b < 0  # [i, j]: j stands above i in the estimate
    n_above = is_above.sum(axis=-1)
    n_tied = (b == 0).sum(axis=-1)
    concordant = np.where(is_above, 1.0 - a, 0.0).sum(axis=-1, dtype=np.float64) / 2.0
    per_above, within = _tie_terms(n)
    share = concordant * per_above[n_above, n_tied] + within[n_above, n_tied]
    value = 2.0 / (n - 1) * share.sum(axis=-1) - 1.0
    return np.where(_is_ordered(a) & _is_ordered(b), value, np.nan)


def _sign(difference: Floats) -> Signs:
    return np.where(np.abs(difference) <= SAME, 0.0, np.sign(difference)).astype(np.float32)


def _is_ordered(signs: Signs) -> Bools:
    """Say which lists hold at least one strict order and no NaN."""
    total = np.abs(signs).sum(axis=(-2, -1))
    ordered: Bools = np.asarray(total > 0)
    return ordered


def _one_way_b(truth: Signs, estimate: Signs) -> Floats:
    is_above = estimate < 0
    n_above = is_above.sum(axis=-1)
    # a pair tied in the other list agrees with no order, so it is not concordant
    concordant = (is_above & (truth < 0)).sum(axis=-1)
    share = np.where(n_above > 0, concordant / np.maximum(n_above, 1), 0.0).sum(axis=-1)
    value = 2.0 * share / np.maximum((n_above > 0).sum(axis=-1), 1) - 1.0
    return np.where(_is_ordered(truth) & _is_ordered(estimate), value, np.nan)


@cache
def _tie_terms(n: int) -> tuple[Floats, Floats]:
    """Tabulate, by models above and size of the own tie group, the mean over tie orders.

    Returns:
        The mean of 1/(position - 1), and the mean share won inside the tie group, where each
        of two models stands above the other in half of the orders.
    """
    per_above, within = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for above in range(n):
        for size in range(1, n - above + 1):
            fellows = np.arange(size)  # fellows of the group that stand above
            places = above + fellows
            inverse = np.divide(1.0, places, out=np.zeros(size), where=places > 0)
            per_above[above, size] = inverse.mean()
            within[above, size] = (fellows * inverse).mean() / 2.0
    return per_above, within
