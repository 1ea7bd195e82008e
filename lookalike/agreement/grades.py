"""Grades of similarity: their words, what votes on them come to, and how far judges agree.

Pure. A grade is a whole number from 0, the least similar; from one of them on a pair counts as
similar. The consensus is the median: of an even number of votes the lower of the two in the
middle, so that it counts as similar exactly where more than half of the votes do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints

LEAST_GRADES, MOST_GRADES = 2, 5
NO_GRADE = -1


@dataclass(frozen=True)
class Scale:
    """The grades that judges choose from.

    Attributes:
        words: of each grade, from 0.
        similar_from: the least grade that counts as similar.

    Raises:
        ValueError: fewer than two or more than five grades, words that are empty or equal, or a
            threshold that leaves one side without a grade.

    >>> scale = Scale(("Different", "Alike", "The same"), 1)
    >>> [scale.answer(grade) for grade in range(3)]
    ['different:0', 'similar:1', 'similar:2']
    """

    words: tuple[str, ...]
    similar_from: int

    def __post_init__(self) -> None:
        if not LEAST_GRADES <= len(self.words) <= MOST_GRADES:
            raise ValueError(
                f"a scale has {LEAST_GRADES} to {MOST_GRADES} grades, not {len(self.words)}"
            )
        if not all(word.strip() for word in self.words):
            raise ValueError("every grade needs a word")
        if len({word.strip().casefold() for word in self.words}) < len(self.words):
            raise ValueError("two grades have the same word")
        if not 1 <= self.similar_from < len(self.words):
            raise ValueError(
                f"a pair counts as similar from grade 1 to {len(self.words) - 1} on, not from "
                f"{self.similar_from}"
            )

    @property
    def n_grades(self) -> int:
        """How many grades there are."""
        return len(self.words)

    def answer(self, grade: int) -> str:
        """Return a grade as judgements hold it, with the side that it counts for."""
        return f"{'similar' if grade >= self.similar_from else 'different'}:{grade}"

    @property
    def answers(self) -> dict[str, str]:
        """The word of each answer, from grade 0."""
        return {self.answer(grade): word for grade, word in enumerate(self.words)}

    def as_json(self) -> dict[str, Any]:
        """Return it as release.json holds it."""
        return {"words": list(self.words), "similar_from": self.similar_from}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> Scale | None:
        """Return what `as_json` wrote; None where there are no grades."""
        return cls(tuple(stored["words"]), stored["similar_from"]) if stored else None


def grade_of(answer: str) -> int:
    """Return the grade of an answer, `NO_GRADE` for one without.

    >>> grade_of("similar:2"), grade_of("similar"), grade_of("cant_tell")
    (2, -1, -1)
    """
    side, _, grade = answer.partition(":")
    return int(grade) if side in {"similar", "different"} and grade else NO_GRADE


def agrees(answer: str, known: str) -> bool:
    """Say whether an answer is as known: the same, or a grade next to it on the same side.

    >>> agrees("similar:2", "similar:3"), agrees("different:1", "similar:2")
    (True, False)
    """
    if answer == known or NO_GRADE in {grade_of(answer), grade_of(known)}:
        return answer == known
    is_near = abs(grade_of(answer) - grade_of(known)) <= 1
    return is_near and answer.partition(":")[0] == known.partition(":")[0]


def median_grades(counts: Ints) -> tuple[Ints, Ints]:
    """Return the lower and the upper median of each question's votes.

    They are one grade where the number of votes is odd.

    Args:
        counts: shape (n_questions, n_grades), how many judges gave that grade.

    Returns:
        Two of shape (n_questions,), `NO_GRADE` for a question without a vote.

    >>> lower, upper = median_grades(np.array([[1, 0, 2, 0], [1, 0, 0, 1], [0, 0, 0, 0]]))
    >>> lower.tolist(), upper.tolist()
    ([2, 0, -1], [2, 3, -1])
    """
    n = counts.sum(axis=1)
    so_far = counts.cumsum(axis=1)
    lower, upper = (
        (so_far <= place[:, None]).sum(axis=1) for place in (np.maximum(n - 1, 0) // 2, n // 2)
    )
    has_votes = n > 0
    return np.where(has_votes, lower, NO_GRADE), np.where(has_votes, upper, NO_GRADE)


def consensus_grades(counts: Ints, similar_from: int, tie_rule: str) -> tuple[Ints, Bools]:
    """Return what the votes on each question come to, and whether they come to anything.

    Args:
        counts: shape (n_questions, n_grades).
        similar_from: the least grade that counts as similar.
        tie_rule: "negative": the lower median; "undecided": the same, but no grade where as many
            votes count as similar as do not.

    Returns:
        Grades, shape (n_questions,), `NO_GRADE` where not decided; and where they are.
    """
    lower, upper = median_grades(counts)
    is_decided = lower != NO_GRADE
    if tie_rule == "undecided":
        is_decided &= (lower >= similar_from) == (upper >= similar_from)
    return np.where(is_decided, lower, NO_GRADE), is_decided


def is_settled(votes: Sequence[int], n_wanted: int, scale: Scale, tie_rule: str) -> bool:
    """Say whether the consensus can no longer change, whatever the missing votes will be.

    Args:
        votes: grades so far.
        n_wanted: votes there will be at most, >= len(votes); some may never come.
        scale: of the grades.
        tie_rule: as of `consensus_grades`.
    """
    counts = np.bincount(np.asarray(votes, np.int64), minlength=scale.n_grades)
    n_missing = max(0, n_wanted - len(votes))
    low, high = np.meshgrid(range(n_missing + 1), range(n_missing + 1))
    is_possible = low + high <= n_missing
    futures = np.tile(counts, (int(is_possible.sum()), 1))
    futures[:, 0] += low[is_possible]
    futures[:, -1] += high[is_possible]
    grades, is_decided = consensus_grades(futures, scale.similar_from, tie_rule)
    return bool(is_decided.all() and (grades == grades[0]).all())


@dataclass(frozen=True)
class OrdinalAgreement:
    """How much judges agree on grades, over the questions that at least two of them graded.

    Attributes:
        percent: chance that two random judges of a random question give the same grade, 0..1.
        within_one: that their grades differ by one at most, 0..1.
        alpha: Krippendorff's, ordinal.
        prevalence: share of each grade among all votes.
    """

    percent: float
    within_one: float
    alpha: float
    prevalence: list[float]


def ordinal_agreement(counts: Ints) -> OrdinalAgreement:
    """Return all figures at once.

    Args:
        counts: shape (n_questions, n_grades); rows of zeros where nobody graded.
    """
    total = int(counts.sum())
    shares = counts.sum(axis=0) / total if total else np.full(counts.shape[1], np.nan)
    return OrdinalAgreement(
        percent=share_within(counts, 0),
        within_one=share_within(counts, 1),
        alpha=ordinal_alpha(counts),
        prevalence=[float(share) for share in shares],
    )


def share_within(counts: Ints, distance: int) -> float:
    """Return the mean share of pairs of votes that lie at most so many grades apart.

    Args:
        counts: shape (n_questions, n_grades); questions with fewer than two votes are left out.
        distance: 0 for the same grade.

    Returns:
        0..1; NaN where no question has two votes.

    >>> share_within(np.array([[1, 1, 0], [1, 0, 1]]), 1)
    0.5
    """
    kept = counts[counts.sum(axis=1) >= 2]
    if not len(kept):
        return float("nan")
    grades = np.arange(counts.shape[1])
    is_near = np.abs(grades[:, None] - grades) <= distance
    votes = kept.sum(axis=1)
    near = ((kept @ is_near) * kept).sum(axis=1) - votes
    return float((near / (votes * (votes - 1))).mean())


def ordinal_alpha(counts: Ints) -> float:
    """Return Krippendorff's alpha for ordered answers; judges may be missing.

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section D: 1 - D_o /
    D_e, where two answers c and k differ by the square of how many answers, of all that were
    given, lie from c to k, those at both ends by half.

    Args:
        counts: shape (n_questions, n_grades); questions with fewer than two votes are left out.

    Returns:
        At most 1; NaN where all votes are equal or no question has two.

    >>> round(ordinal_alpha(np.array([[2, 0, 0], [0, 1, 1], [0, 0, 2]])), 3)
    0.778
    """
    kept = counts[counts.sum(axis=1) >= 2].astype(np.float64)
    if not len(kept):
        return float("nan")
    given = kept.sum(axis=0)
    distance = _ordinal_distances(given)
    expected = (given @ distance @ given) / (given.sum() - 1.0)
    if expected <= 0:
        return float("nan")
    observed = (((kept @ distance) * kept).sum(axis=1) / (kept.sum(axis=1) - 1.0)).sum()
    return float(1.0 - observed / expected)


def _ordinal_distances(given: Floats) -> Floats:
    """Return the squared distance of every two answers, shape (n_grades, n_grades)."""
    middle = np.cumsum(given) - given / 2.0
    distances: Floats = (middle[:, None] - middle) ** 2
    return distances
