"""How well two score lists order the same models: Spearman, Kendall's tau_b, tau_AP, exact p.

All correlations work on the last axis and broadcast over the others, so that a thousand
bootstrap samples are one call. Values closer than `SAME` are tied: means of the same numbers
summed in another order must not count as an order. Nothing is rounded beyond that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from evaluation.segment import Floats, Ints

Bools = NDArray[np.bool_]
Correlation = Callable[[ArrayLike, ArrayLike], NDArray[np.float64] | NDArray[np.int64]]

EXACT_UP_TO = 8
N_PERMUTATIONS = 20_000
SAME = 1e-12
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PValue:
    """A two-sided p-value and how it was found.

    Attributes:
        value: in (0, 1], NaN where the statistic is undefined.
        method: "exact" (all permutations), "permutation" (a seeded sample of them) or "t".
        n_permutations: how many permutations stand behind it, 0 for "t".
    """

    value: float
    method: str
    n_permutations: int


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


def places(values: ArrayLike) -> list[int | None]:
    """Return `competition_ranks` of one list, None for an undefined value."""
    v = np.asarray(values, dtype=np.float64)
    return [
        None if np.isnan(value) else rank
        for value, rank in zip(v, competition_ranks(v).tolist(), strict=True)
    ]


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return Spearman's rho, with average ranks for ties.

    A list that is all tied has no order to agree with: NaN. So does a list with a NaN.

    Args:
        x: shape (..., n).
        y: shape (..., n), broadcast against `x`.

    Returns:
        Shape (...), in [-1, 1].

    Raises:
        ValueError: if the last axes differ.
    """
    a, b = _signs(x, y)
    rank_x, rank_y = a.sum(axis=-1), b.sum(axis=-1)  # twice the centred average rank
    together = (rank_x * rank_y).sum(axis=-1)
    return _over(together, np.sqrt((rank_x**2).sum(axis=-1) * (rank_y**2).sum(axis=-1)))


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return Kendall's tau_b: concordant less discordant pairs, corrected for ties in both.

    Args:
        x: shape (..., n).
        y: shape (..., n), broadcast against `x`.

    Returns:
        Shape (...), in [-1, 1]; NaN where one list is all tied or holds a NaN.

    Raises:
        ValueError: if the last axes differ.
    """
    a, b = _signs(x, y)
    agreed = (a * b).sum(axis=(-2, -1))
    untied = (a**2).sum(axis=(-2, -1)) * (b**2).sum(axis=(-2, -1))
    return _over(agreed, np.sqrt(untied))


def tau_ap(truth: ArrayLike, estimate: ArrayLike) -> Floats:
    """Return the AP rank correlation of an estimated order with the true one.

    Source: Yilmaz, Aslam, Robertson (SIGIR 2008): 2/(n-1) Σ_{i>=2} C(i)/(i-1) - 1 down the
    *estimated* list, C(i) being how many of the i-1 models above place i rightly so. Errors at
    the top weigh more, and the two arguments are not interchangeable (trectools takes its first
    argument as the truth, against its own comment).
    Ties in the estimate: the mean over all orders of the tied models (Urbano and Marrero,
    ICTIR 2017, tau_AP,a). A tie in the truth counts half, which they leave undefined.

    Args:
        truth: shape (..., n), higher is better.
        estimate: shape (..., n), broadcast against `truth`.

    Returns:
        Shape (...), in [-1, 1]; NaN for n < 2, an all-tied list or a NaN.

    Raises:
        ValueError: if the last axes differ.
    """
    a, b = _signs(truth, estimate)
    n = a.shape[-1]
    if n < 2:
        return np.full(a.shape[:-2], np.nan)
    is_above = b < 0  # [i, j]: j stands above i in the estimate
    n_above = is_above.sum(axis=-1)
    n_tied = (b == 0).sum(axis=-1)
    concordant = (np.where(is_above, 1.0 - a, 0.0) / 2.0).sum(axis=-1)
    per_above, within = _tie_terms(n)
    share = concordant * per_above[n_above, n_tied] + within[n_above, n_tied]
    value = 2.0 / (n - 1) * share.sum(axis=-1) - 1.0
    return np.where(_is_ordered(a) & _is_ordered(b), value, np.nan)


def tau_ap_b(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return the symmetric AP rank correlation that allows ties in both lists.

    Source: Urbano and Marrero (ICTIR 2017), tau_AP,b: each model is compared with those above
    its tie group, the top group is left out, and both directions are averaged. Without ties it
    is the mean of `tau_ap` both ways.

    Args:
        x: shape (..., n), higher is better.
        y: shape (..., n), broadcast against `x`.

    Returns:
        Shape (...), in [-1, 1]; NaN where one list is all tied or holds a NaN.

    Raises:
        ValueError: if the last axes differ.
    """
    a, b = _signs(x, y)
    return (_one_way_b(a, b) + _one_way_b(b, a)) / 2.0


def max_drop(truth: ArrayLike, estimate: ArrayLike) -> Ints:
    """Return how many places the worst-hit model falls from the true to the estimated order.

    Args:
        truth: shape (..., n), higher is better.
        estimate: shape (..., n), broadcast against `truth`.

    Returns:
        Shape (...), >= 0.
    """
    fall: Ints = competition_ranks(estimate) - competition_ranks(truth)
    worst: Ints = np.maximum(fall.max(axis=-1), 0)
    return worst


def spearman_p(x: ArrayLike, y: ArrayLike, rng: np.random.Generator) -> PValue:
    """Return the two-sided permutation p-value of Spearman's rho.

    All n! orders up to `EXACT_UP_TO` models, else `N_PERMUTATIONS` seeded ones counted as
    (1 + extreme) / (1 + drawn). The VSD paper uses the t approximation, which at n = 6 calls
    .83 significant (.042) where the exact value is .058; see `spearman_p_t`.

    Args:
        x: shape (n,).
        y: shape (n,).
        rng: draws the permutations of longer lists.

    Returns:
        The p-value; NaN for n < 2 or an all-tied list.
    """
    observed = float(spearman(x, y))
    a, b = (signs.sum(axis=-1) for signs in _signs(x, y))
    n = a.size
    if np.isnan(observed):
        return PValue(np.nan, "exact" if n <= EXACT_UP_TO else "permutation", 0)
    if n <= EXACT_UP_TO:
        orders = np.array(list(permutations(range(n))))
        return PValue(_share_as_extreme(a, b[orders], observed), "exact", len(orders))
    drawn = rng.permuted(np.broadcast_to(b, (N_PERMUTATIONS, n)), axis=1)
    share = _share_as_extreme(a, drawn, observed)
    return PValue(
        (1.0 + share * N_PERMUTATIONS) / (1.0 + N_PERMUTATIONS), "permutation", N_PERMUTATIONS
    )


def spearman_p_t(rho: float, n: int) -> PValue:
    """Return the two-sided p-value of the t approximation, as the VSD paper prints it.

    Kept to reproduce the paper; wrong for few models. |rho| = 1 gives 0.

    Args:
        rho: Spearman's correlation.
        n: how many models it is over.

    Returns:
        The p-value; NaN for n < 3 or an undefined rho.
    """
    if n < 3 or np.isnan(rho):
        return PValue(np.nan, "t", 0)
    if abs(rho) >= 1.0 - _TOLERANCE:
        return PValue(0.0, "t", 0)
    t = rho * np.sqrt((n - 2) / (1.0 - rho**2))
    return PValue(float(2.0 * stdtr(n - 2, -abs(t))), "t", 0)


def _signs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return sign(v_i - v_j) of both lists as (..., n, n)."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim < 1 or b.ndim < 1 or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"lists of {a.shape} and {b.shape} models cannot be compared")
    a, b = np.broadcast_arrays(a, b)
    return _sign(a[..., :, None] - a[..., None, :]), _sign(b[..., :, None] - b[..., None, :])


def _sign(difference: Floats) -> Floats:
    return np.where(np.abs(difference) <= SAME, 0.0, np.sign(difference))


def _is_ordered(signs: Floats) -> Bools:
    """Say which lists hold at least one strict order and no NaN."""
    total = np.abs(signs).sum(axis=(-2, -1))
    ordered: Bools = np.asarray(total > 0)
    return ordered


def _over(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return share


def _one_way_b(truth: Floats, estimate: Floats) -> Floats:
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


def _share_as_extreme(a: Floats, orders: Floats, observed: float) -> float:
    """Return how many of the orders (n_orders, n) of centred ranks correlate as much with `a`."""
    spread = np.sqrt((a**2).sum() * (orders[0] ** 2).sum())
    return float((np.abs(orders @ a) / spread >= abs(observed) - _TOLERANCE).mean())
