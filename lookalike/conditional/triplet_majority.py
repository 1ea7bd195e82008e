"""What a panel's answers to triplets come to: which candidate is closer. Pure.

The side with more votes is the closer one, as in the scoring of triplets (`Questions.majority`).
"Can't tell" is no vote. As many votes for both, or none at all, leave a triplet undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lookalike.conditional.verdicts import PICK, Vote

CANT_TELL = "cant_tell"


class Standing(StrEnum):
    """Where a triplet stands."""

    WAITING = "waiting"
    DECIDED = "decided"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Closer:
    """What the votes on a triplet come to.

    Attributes:
        standing: see the module; waiting while missing answers could still change it.
        n_first, n_second: votes for either candidate.
        n_cant_tell: who could not tell.
        ruled: the place that somebody ruled to be closer, where votes leave it open.
    """

    standing: Standing
    n_first: int
    n_second: int
    n_cant_tell: int
    ruled: int | None = None

    @property
    def place(self) -> int | None:
        """The closer candidate's place, 0 or 1; None while or where none is decided."""
        if self.standing != Standing.DECIDED:
            return self.ruled
        return 0 if self.n_first > self.n_second else 1

    @property
    def n_votes(self) -> int:
        """The votes that count."""
        return self.n_first + self.n_second

    @property
    def n_with_majority(self) -> int:
        """The votes with the side that has more of them, or with either if both have as many."""
        return max(self.n_first, self.n_second)


def decide_closer(votes: Sequence[Vote], n_panel: int) -> Closer:
    """Return what votes come to; missing ones may still be given.

    Args:
        votes: at most one for each judge: a pick of place 0 or 1, or `CANT_TELL`.
        n_panel: how many judges are asked.

    Raises:
        ValueError: another vote, or more votes than judges.
    """
    counts = Counter(votes)
    n_first, n_second = counts[Vote(PICK, 0)], counts[Vote(PICK, 1)]
    n_cant_tell = counts[Vote(CANT_TELL)]
    if n_first + n_second + n_cant_tell != len(votes):
        raise ValueError(f"no answers to a triplet: {sorted(counts, key=str)}")
    n_missing = n_panel - len(votes)
    if n_missing < 0:
        raise ValueError(f"{len(votes)} votes of {n_panel} judges")
    lead = abs(n_first - n_second)
    if lead > n_missing:
        standing = Standing.DECIDED
    else:
        standing = Standing.WAITING if n_missing else Standing.UNDECIDED
    return Closer(standing, n_first, n_second, n_cant_tell)


@dataclass(frozen=True)
class Tally:
    """How the triplets of a condition, or of all, came out.

    Attributes:
        n: triplets.
        n_decided, n_undecided: triplets; the rest is waiting.
        n_votes: answers that name a side.
        n_with_majority: of these, those with the majority of their triplet.
        n_cant_tell: answers that name none.
    """

    n: int
    n_decided: int
    n_undecided: int
    n_votes: int
    n_with_majority: int
    n_cant_tell: int

    @property
    def n_waiting(self) -> int:
        """Triplets whose outcome is open."""
        return self.n - self.n_decided - self.n_undecided

    @property
    def ceiling(self) -> float:
        """The human ceiling: share of the votes with the majority; NaN without a vote."""
        return self.n_with_majority / self.n_votes if self.n_votes else float("nan")

    @property
    def cant_tell_share(self) -> float:
        """Share of the answers that name no side; NaN without an answer."""
        n_answers = self.n_votes + self.n_cant_tell
        return self.n_cant_tell / n_answers if n_answers else float("nan")


def tally_outcomes(outcomes: Iterable[Closer]) -> Tally:
    """Count outcomes."""
    found = list(outcomes)
    standings = Counter(one.standing for one in found)
    return Tally(
        n=len(found),
        n_decided=standings[Standing.DECIDED],
        n_undecided=standings[Standing.UNDECIDED],
        n_votes=sum(one.n_votes for one in found),
        n_with_majority=sum(one.n_with_majority for one in found),
        n_cant_tell=sum(one.n_cant_tell for one in found),
    )
