"""Intervals of agreement coefficients: over other items, and over other items and judges.

Pure. Every coefficient is a smooth function of sums over items, so the jackknife over items takes
one pass; the jackknife over judges takes the votes of each judge away in turn. Judges are a random
effect with Satterthwaite's degrees of freedom: of three or four judges the interval is wide, and
two judges, who are one pair, tell nothing of other judges. A bootstrap draws a judge twice, who
then agrees with themselves, and has too few to draw from. docs/measures.md has the coverage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from lookalike.agreement.coefficient_sums import NAMES, by_group, kappa_of_sums
from lookalike.agreement.jackknife import GroupedVotes, ItemJackknife, JudgeJackknife, Sizes
from lookalike.agreement.votes import Votes
from lookalike.core.arrays import Floats, Ints
from lookalike.stats.proportion import Interval

LEVEL = 0.95
FEWEST_JUDGES = 3
MOST_ANSWERS = 20  # of which all pairs are counted
SHARES = ("percent", "within_one")
CORRECTED = ("alpha", "fleiss", "ordinal_alpha")
WHAT_VARIES = (
    "Intervals over items tell what other items, judged by the same judges, would change; those "
    "over items and judges what another panel of as many judges would change as well."
)
TOO_FEW_JUDGES = f"fewer than {FEWEST_JUDGES} judges tell nothing of other judges"


@dataclass(frozen=True)
class CoefficientIntervals:
    """The intervals of a coefficient of agreement.

    Attributes:
        items: over other items, judged by the same judges.
        judges: over other items and other judges.
    """

    items: Interval
    judges: Interval

    @classmethod
    def blank(cls, reason: str) -> CoefficientIntervals:
        """Return neither interval, with the reason."""
        return cls(Interval.blank(reason), Interval.blank(reason))

    def as_json(self) -> dict[str, Any]:
        """Return both intervals, null where blank, then with the reason."""
        return {"items": self.items.as_json(), "items_and_judges": self.judges.as_json()}


def agreement_intervals(votes: Votes, level: float = LEVEL) -> dict[str, CoefficientIntervals]:
    """Return the intervals of percent agreement, alpha, AC1, Fleiss' kappa and those of grades.

    Source: the jackknife of U-statistics in two crossed samples (Arvesen, Annals of Mathematical
    Statistics 1969). Judges alike differ by chance, too. Below five judges that part is taken off
    the judges' variance as a whole, as a random effect's variance is estimated; of J judges from
    five on by (J - 3) / (J - 1), as `judges_interval` does. The ends are on the scale
    log(1 - coefficient), since coefficients end at 1.

    Args:
        votes: who answered what; items of one unit belong together.
        level: coverage.

    Returns:
        By coefficient of `NAMES`; those of grades take the labels' order for the grades' order.

    >>> from lookalike.agreement.votes import make_votes
    >>> rows = [(f"i{i}", f"w{w}", "yes" if (i + w * (i % 3)) % 4 > 1 else "no")
    ...         for i in range(40) for w in range(4)]
    >>> found = agreement_intervals(make_votes(rows))["alpha"]
    >>> round(found.items.low, 2), round(found.items.high, 2)
    (-0.1, 0.32)
    """
    n_items, n_labels = len(votes.items), max(2, len(votes.labels))
    if n_labels > MOST_ANSWERS:
        reason = f"there are more than {MOST_ANSWERS} labels"
        return dict.fromkeys(NAMES, CoefficientIntervals.blank(reason))
    flat = np.bincount(votes.item_of * n_labels + votes.label_of, minlength=n_items * n_labels)
    counts = flat.reshape(n_items, n_labels)
    codes = np.arange(n_items) if votes.units is None else votes.units
    grouped = GroupedVotes(votes.item_of, votes.worker_of, votes.label_of, counts, codes)
    n_votes, common = counts.sum(axis=1), int(counts.sum(axis=0).argmax())
    is_paired = n_votes >= 2
    sizes = Sizes.of(
        codes, is_paired, counts.max(axis=1, initial=0) < n_votes,
        is_paired & (counts[:, common] < n_votes),
    )  # fmt: skip
    items = ItemJackknife.of(grouped.sums, sizes, grouped.columns.coefficients)
    judges = JudgeJackknife.of(grouped)
    return {name: _both(items, judges, place, level) for place, name in enumerate(NAMES)}


def kappa_interval(
    first: Ints, second: Ints, groups: Ints | None = None, level: float = LEVEL
) -> Interval:
    """Return the interval of Cohen's kappa of two judges over other items.

    Args:
        first: shape (n_items,), codes of answers from 0.
        second: shape (n_items,).
        groups: shape (n_items,), the unit of each item; None where each is its own.
        level: coverage.
    """
    n = int(max(first.max(initial=0), second.max(initial=0))) + 1
    cells = np.zeros((first.size, n * n))
    cells[np.arange(first.size), first * n + second] = 1.0
    codes = np.arange(first.size) if groups is None else groups
    return table_kappa_interval(cells.reshape(-1, n, n), codes, level)


def table_kappa_interval(cells: Floats, groups: Ints, level: float = LEVEL) -> Interval:
    """Return the interval over other items of Cohen's kappa of a table of answers.

    Args:
        cells: shape (n_items, n, n), what each item adds to the table.
        groups: shape (n_items,).
        level: coverage.
    """
    is_known = cells.any(axis=(1, 2))
    cells = cells[is_known]
    _, codes = np.unique(groups[is_known], return_inverse=True)
    whole, right = cells.sum(axis=(1, 2)), np.trace(cells, axis1=1, axis2=2)
    common = int((cells.sum(axis=(0, 1)) + cells.sum(axis=(0, 2))).argmax())
    sizes = Sizes.of(codes, whole > 0, right < whole, cells[:, common, common] < whole)
    items = ItemJackknife.of(
        by_group(cells.reshape(len(cells), cells.shape[1] ** 2), codes), sizes, kappa_of_sums
    )
    return _over_items(items, 0, level, is_corrected=True)


def _over_items(
    items: ItemJackknife, place: int, level: float, *, least: float = -1.0, is_corrected: bool
) -> Interval:
    if reason := items.why_blank(place, is_corrected=is_corrected):
        return Interval.blank(reason)
    value, variance = float(items.value[place]), float(items.variance[place])
    return _ends(value, variance, items.freedom, level, least)


def _both(
    items: ItemJackknife, judges: JudgeJackknife, place: int, level: float
) -> CoefficientIntervals:
    name = NAMES[place]
    least = 0.0 if name in SHARES else -1.0
    over_items = _over_items(items, place, level, least=least, is_corrected=name in CORRECTED)
    if over_items.reason:
        return CoefficientIntervals.blank(over_items.reason)
    of_items, of_judges = float(items.variance[place]), float(judges.variance[place])
    if judges.n < FEWEST_JUDGES or np.isnan(of_judges):
        return CoefficientIntervals(over_items, Interval.blank(TOO_FEW_JUDGES))
    variance = of_items + of_judges
    freedom = variance**2 / (of_items**2 / items.freedom + of_judges**2 / judges.freedom)
    value = float(items.value[place])
    return CoefficientIntervals(over_items, _ends(value, variance, freedom, level, least))


def _ends(value: float, variance: float, freedom: float, level: float, least: float) -> Interval:
    """Return the ends on the scale log(1 - value), none below the least value there is."""
    t = float(stdtrit(freedom, (1.0 + level) / 2.0))
    below = 1.0 - value
    with np.errstate(over="ignore"):
        factor = float(np.exp(t * variance**0.5 / below))
    return Interval(max(1.0 - below * factor, least), 1.0 - below / factor)
