"""What a panel's answers to templates come to, and how far judges agree. Pure.

Everybody on the panel sees the same gallery in an order of their own. More than half of the panel
decides: the template passes if they picked the target, and fails if they picked one other image
or said none, several, or that the condition makes no sense. Without a majority it goes to
adjudication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from lookalike.agreement.coefficients import Agreement, agreement

PICK = "pick"
OTHER_CHOICES = ("none", "several", "bad_condition")


class Vote(NamedTuple):
    """One judge's answer: a choice, and with a pick the place among the candidates."""

    choice: str
    picked: int | None = None


class Outcome(StrEnum):
    """Where a template stands."""

    WAITING = "waiting"
    PASSES = "passes"
    FAILS = "fails"
    ADJUDICATE = "adjudicate"


@dataclass(frozen=True)
class Verdict:
    """What the votes for a template come to.

    Attributes:
        outcome: see the module.
        answer: what the majority said; None without a majority.
    """

    outcome: Outcome
    answer: Vote | None = None

    @property
    def is_unique(self) -> bool:
        """Whether the majority named one image, be it the target or not."""
        return self.answer is not None and self.answer.choice == PICK


def gallery_order(seed: int, judge: int, question: int, n: int) -> list[int]:
    """Return the candidates in the order in which a judge sees them.

    Args:
        seed: of the campaign, at least 0.
        judge: the judge's number on the panel.
        question: a number of its own.
        n: how many candidates there are.

    Returns:
        A permutation of 0 to n - 1; every one is equally likely.
    """
    order: list[int] = np.random.default_rng([seed, 1, judge, question]).permutation(n).tolist()
    return order


def decide(votes: Sequence[Vote], n_panel: int, target: int) -> Verdict:
    """Return what votes come to; missing ones may still be given.

    Args:
        votes: at most one for each judge.
        n_panel: how many judges are asked.
        target: place of the target among the candidates.
    """
    best, n_best = Counter(votes).most_common(1)[0] if votes else (None, 0)
    if best is not None and 2 * n_best > n_panel:
        passes = best == Vote(PICK, target)
        return Verdict(Outcome.PASSES if passes else Outcome.FAILS, best)
    can_decide = 2 * (n_best + n_panel - len(votes)) > n_panel
    if can_decide and len(votes) < n_panel:
        return Verdict(Outcome.WAITING)
    return Verdict(Outcome.ADJUDICATE)


@dataclass(frozen=True)
class Share:
    """How the templates of a condition, or of all, came out.

    Attributes:
        n: templates.
        by_outcome: {outcome: templates}.
        n_unique: templates where a majority named one image.
    """

    n: int
    by_outcome: Mapping[Outcome, int]
    n_unique: int

    @property
    def n_decided(self) -> int:
        """Templates that are not waiting."""
        return self.n - self.by_outcome[Outcome.WAITING]

    @property
    def unique_share(self) -> float:
        """Share of the decided templates with a unique human answer; NaN without any."""
        return self.n_unique / self.n_decided if self.n_decided else float("nan")

    @property
    def pass_share(self) -> float:
        """Share of the decided templates that pass; NaN without any."""
        return self.by_outcome[Outcome.PASSES] / self.n_decided if self.n_decided else float("nan")


def count_verdicts(verdicts: Iterable[Verdict]) -> Share:
    """Count verdicts."""
    found = list(verdicts)
    counts = Counter(verdict.outcome for verdict in found)
    n_unique = sum(verdict.is_unique for verdict in found)
    return Share(len(found), {outcome: counts[outcome] for outcome in Outcome}, n_unique)


def verdict_agreement(
    votes: Sequence[Sequence[Vote]],
    n_candidates: Sequence[int],
    others: Sequence[str] = OTHER_CHOICES,
) -> Agreement:
    """Return how far judges agree on exactly the same answer.

    Nominal: the same image, or the same of the other answers. Candidates are named by their
    place (a target's is the last), so chance is taken over places that mean nothing but the
    target's; percent agreement needs no such assumption.

    Args:
        votes: for each question its votes.
        n_candidates: for each question how many images there were.
        others: the answers beside picking an image.
    """
    width = max(n_candidates, default=1)
    counts = np.zeros((len(votes), width + len(others)), np.int64)
    for row, (given, n) in enumerate(zip(votes, n_candidates, strict=True)):
        for vote in given:
            counts[row, answer_column(vote, n, width, others)] += 1
    return agreement(counts)


def answer_column(vote: Vote, n: int, width: int, others: Sequence[str]) -> int:
    """Return the number of an answer: the target's is `width - 1`, others follow.

    Args:
        vote: the answer.
        n: candidates of its question.
        width: the most candidates of any question.
        others: the answers beside picking an image.

    Raises:
        ValueError: a pick that is no candidate.
    """
    if vote.choice != PICK:
        return width + others.index(vote.choice)
    picked = vote.picked
    if picked is None or not 0 <= picked < n:
        raise ValueError(f"a pick of {picked} among {n} candidates")
    return width - 1 if picked == n - 1 else picked
