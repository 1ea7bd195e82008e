"""Intervals for a share of yes answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, gammaincinv, ndtri


@dataclass(frozen=True)
class Interval:
    """A closed interval; both ends NaN where it is left blank.

    Attributes:
        low, high: its ends.
        reason: why it is blank; "" of an interval that is not.
    """

    low: float
    high: float
    reason: str = ""

    @classmethod
    def blank(cls, reason: str) -> Interval:
        """Return no interval, with the reason."""
        return cls(float("nan"), float("nan"), reason)

    @property
    def is_defined(self) -> bool:
        """Whether there is an interval."""
        return self.low == self.low  # NaN is not

    def as_json(self) -> dict[str, Any]:
        """Return both ends, null where blank, then with the reason."""
        if self.is_defined:
            return {"low": self.low, "high": self.high}
        return {"low": None, "high": None} | ({"reason": self.reason} if self.reason else {})


def clopper_pearson(n_yes: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact binomial interval: its coverage is at least `level` for every share.

    Source: Clopper and Pearson (Biometrika 1934), as beta quantiles. No answers: [0, 1].

    Args:
        n_yes: how many of the answers are yes, 0 <= n_yes <= n.
        n: how many answers there are.
        level: coverage, 0 < level < 1.

    Returns:
        The interval inside [0, 1].

    Raises:
        ValueError: if a count or the level is out of range.
    """
    _check(n_yes, n, level)
    tail = (1.0 - level) / 2.0
    low = 0.0 if n_yes == 0 else float(betaincinv(n_yes, n - n_yes + 1, tail))
    high = 1.0 if n_yes == n else float(betaincinv(n_yes + 1, n - n_yes, 1.0 - tail))
    return Interval(low, high)


def wilson(n_yes: int, n: int, level: float = 0.95) -> Interval:
    """Return the score interval: shorter than the exact one, coverage `level` on average only.

    Source: Wilson (JASA 1927), without continuity correction. Arguments, result and errors are
    those of `clopper_pearson`. No answers: [0, 1].
    """
    _check(n_yes, n, level)
    return score_interval(n_yes, n, float(ndtri((1.0 + level) / 2.0)) ** 2)


def modified_wilson(n_yes: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's interval, mended where nearly all or hardly any answers are yes.

    Source: Brown, Cai and DasGupta (Statistical Science 2001, section 4.1.1): with one to three
    answers of a kind (two up to 50 answers), the end beside 0 or 1 is the Poisson limit. Wilson's
    covers as little as 84 % of some such shares, this one 91.6 % of any from 20 answers on.
    Arguments, result and errors are those of `clopper_pearson`.

    >>> round(modified_wilson(1, 20).low, 4), round(wilson(1, 20).low, 4)
    (0.0026, 0.0089)
    """
    interval = wilson(n_yes, n, level)
    fewest = 2 if n <= 50 else 3

    def limit(k: int) -> float:
        return float(gammaincinv(k, 1.0 - level)) / n

    low = limit(n_yes) if 1 <= n_yes <= fewest else interval.low
    high = 1.0 - limit(n - n_yes) if 1 <= n - n_yes <= fewest else interval.high
    return Interval(min(low, interval.low), max(high, interval.high))


def jeffreys(n_yes: int, n: int, level: float = 0.95) -> Interval:
    """Return the equal-tailed posterior interval under the Jeffreys prior Beta(½, ½).

    Arguments, result and errors are those of `clopper_pearson`.
    """
    _check(n_yes, n, level)
    tail = (1.0 - level) / 2.0
    low, high = betaincinv(n_yes + 0.5, n - n_yes + 0.5, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def score_interval(n_yes: float, n: float, z_squared: float) -> Interval:
    """Return all p with |n_yes/n - p| <= sqrt(z² p(1-p)/n).

    With z² from the normal distribution this is Wilson's interval; with z² = 1/q it is what
    Chebyshev's inequality guarantees for any distribution with error probability q.

    Args:
        n_yes: as in `clopper_pearson`; not whole where `n` is an effective size.
        n: as in `clopper_pearson`.
        z_squared: > 0.

    Returns:
        The interval inside [0, 1]; [0, 1] for n = 0.
    """
    if n == 0:
        return Interval(0.0, 1.0)
    share = n_yes / n
    centre = (share + z_squared / (2 * n)) / (1.0 + z_squared / n)
    spread = share * (1.0 - share) / n + z_squared / (4.0 * n * n)
    half = np.sqrt(z_squared * spread) / (1.0 + z_squared / n)
    return Interval(max(0.0, float(centre - half)), min(1.0, float(centre + half)))


def _check(n_yes: int, n: int, level: float) -> None:
    if not 0 <= n_yes <= n:
        raise ValueError(f"{n_yes} yes out of {n} answers is impossible")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not between 0 and 1")
