"""The jackknife of agreement coefficients: over groups of items, and over judges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lookalike.agreement.coefficient_sums import NAMES, Coefficients, Columns, by_group
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.intervals import FEWEST_DIFFERENT, LEAST_QUERIES

LEAST_CORRECTED, LEAST_RARE = 30, 15  # independent items for alpha and kappas
RANDOM_BELOW = 5  # judges; from here on they tell their own spread well enough


@dataclass(frozen=True)
class Sizes:
    """How many groups of items a jackknife rests on.

    Attributes:
        n: groups with two votes on an item.
        n_different: groups with an item on which judges differ.
        n_rare: groups with an answer other than the most common one.
    """

    n: int
    n_different: int
    n_rare: int

    @classmethod
    def of(cls, groups: Ints, *kept: Bools) -> Sizes:
        """Count the groups among which some items are; `kept` has shape (n_items,) each."""
        return cls(*(int(np.unique(groups[of]).size) for of in kept))


@dataclass(frozen=True)
class ItemJackknife:
    """The jackknife over groups of items: one value for each coefficient."""

    value: Floats
    variance: Floats
    sizes: Sizes

    @classmethod
    def of(cls, sums: Floats, sizes: Sizes, coefficients: Coefficients) -> ItemJackknife:
        """Leave out each group in turn.

        Args:
            sums: shape (n, n_columns), of each group.
            sizes: of the groups.
            coefficients: as functions of the sums over groups.
        """
        n = len(sums)
        with np.errstate(all="ignore"):
            value = coefficients(sums.sum(axis=0))
            left = coefficients(sums.sum(axis=0) - sums)
        variance = (n - 1) * left.var(axis=0) if n else value
        return cls(value, variance, sizes)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance."""
        return self.sizes.n - 1.0

    def why_blank(self, place: int, *, is_corrected: bool) -> str:
        """Return why a coefficient has no interval, or nothing.

        Args:
            place: of the coefficient.
            is_corrected: whether its chance agreement is that of the answers' own shares, which
                few items with another answer than the most common one tell badly.
        """
        least = LEAST_CORRECTED if is_corrected else LEAST_QUERIES
        if self.sizes.n < least:
            return f"fewer than {least} independent items have two votes"
        if np.isnan(self.value[place]):
            return "the coefficient is undefined"
        if self.sizes.n_different < FEWEST_DIFFERENT:
            return f"judges differ on fewer than {FEWEST_DIFFERENT} independent items"
        if is_corrected and self.sizes.n_rare < LEAST_RARE:
            return (
                f"fewer than {LEAST_RARE} independent items have an answer other than the most "
                "common one"
            )
        if not self.variance[place] > 0.0:
            return "nothing varies"
        return ""


@dataclass(frozen=True)
class GroupedVotes:
    """Votes on items, some of which belong together.

    Attributes:
        item_of, judge_of, label_of: shape (n_votes,), from 0.
        counts: shape (n_items, n_labels), votes for each label.
        group_of: shape (n_items,), from 0.
    """

    item_of: Ints
    judge_of: Ints
    label_of: Ints
    counts: Ints
    group_of: Ints

    @cached_property
    def columns(self) -> Columns:
        """The sums that make the coefficients."""
        votes = self.counts.sum(axis=1)
        voted = votes[votes > 0]
        return Columns(self.counts.shape[1], bool(voted.size and voted.min() == voted.max()))

    @cached_property
    def sums(self) -> Floats:
        """Shape (n_groups, n_columns)."""
        return by_group(self.columns.of(self.counts), self.group_of)

    @cached_property
    def _by_judge(self) -> Ints:
        order: Ints = np.argsort(self.judge_of, kind="stable")
        return order

    def without(self, judge: int) -> Floats:
        """Return the sums without a judge's votes."""
        order = self._by_judge
        first, last = np.searchsorted(self.judge_of[order], [judge, judge + 1])
        own = order[first:last]
        items = self.item_of[own]
        fewer = self.counts[items].copy()
        fewer[np.arange(len(own)), self.label_of[own]] -= 1
        sums = self.sums.copy()
        change = self.columns.of(fewer) - self.columns.of(self.counts[items])
        np.add.at(sums, self.group_of[items], change)
        return sums


@dataclass(frozen=True)
class JudgeJackknife:
    """The jackknife over judges: the variance that other judges would add to each coefficient."""

    n: int
    variance: Floats
    freedom: float

    @classmethod
    def of(cls, votes: GroupedVotes) -> JudgeJackknife:
        """Leave out each judge in turn who shares an item with another."""
        is_paired = votes.counts.sum(axis=1)[votes.item_of] >= 2
        people = np.unique(votes.judge_of[is_paired])
        n_groups = len(votes.sums)
        left, squares, total = [], np.zeros(len(NAMES)), np.zeros((n_groups, len(NAMES)))
        if not len(people):
            return cls(0, np.full(len(NAMES), np.nan), np.nan)
        for judge in people.tolist():
            value, influence = _influence(votes.without(judge), votes.columns.coefficients)
            left.append(value)
            squares += (influence**2).sum(axis=0)
            total += influence
        J, G = len(people), n_groups
        deviations = np.stack(left) - np.mean(left, axis=0)
        of_judges = (J - 1) / J * (deviations**2).sum(axis=0)
        by_chance = (squares - (total**2).sum(axis=0) / J) * (J - 1) / J * (G - 1) / G
        taken_off = 1.0 if J < RANDOM_BELOW else (J - 3) / (J - 1)
        variance = np.maximum(of_judges - taken_off * by_chance, 0.0)
        n_votes = np.bincount(votes.judge_of[is_paired]).astype(np.float64)
        as_many = (n_votes**2).sum() ** 2 / (n_votes**4).sum()  # judges of equal work
        return cls(J, variance, max(as_many - 1.0, 1.0))


def _influence(sums: Floats, coefficients: Coefficients) -> tuple[Floats, Floats]:
    """Return the coefficients, and how far each group moves them, shape (n_groups, n)."""
    whole = sums.sum(axis=0)
    step = 1e-4 * np.maximum(np.abs(whole), 1.0)
    with np.errstate(all="ignore"):
        value = coefficients(whole)
        slopes = (coefficients(whole + np.diag(step)) - value) / step[:, None]
    influence = sums @ slopes
    return value, influence - influence.mean(axis=0)
