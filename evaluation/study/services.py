"""Ask for the further study of a campaign, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field

from accounts.models import User
from annotation.models import Campaign
from jobs.models import Job
from jobs.services import enqueue

STUDY_TASK = "evaluation.tasks.study"


@dataclass(frozen=True)
class VotesLine:
    """A model's value on the majority's labels, and what the votes do to it."""

    model: str
    majority: float
    shares: float
    spread: float
    low: float
    high: float


@dataclass(frozen=True)
class TurnedPair:
    """Two models that stand the other way round on shares of votes."""

    upper: str
    lower: str


@dataclass(frozen=True)
class OpinionLine:
    """A pair worth a second opinion, by image ids: votes, and what another panel would do."""

    query: int
    candidate: int
    n_similar: int
    n_votes: int
    chance: float
    model: str
    moves: float


@dataclass(frozen=True)
class MachineLine:
    """A model on trial as a judge: the highest scores are similar, as many as experts find.

    Attributes:
        model: its name.
        kappa, expert_kappa: with the majority of the other votes, after one is left out.
        kappa_ends, expert_kappa_ends: 95 % intervals over other queries; empty where blank.
        misses, false_alarms: shares.
        saved, changed: in the place of one judge: share of votes saved, of labels another or none.
        own, other: share of what experts call different that it calls similar, of its family's
            proposals and of others; NaN where no source is of its family.
    """

    model: str
    n_pairs: int
    kappa: float
    expert_kappa: float
    misses: float
    false_alarms: float
    saved: float
    changed: float
    own: float
    other: float
    kappa_ends: tuple[float, ...] = ()
    expert_kappa_ends: tuple[float, ...] = ()


@dataclass(frozen=True)
class NewcomerLine:
    """A model as one that would join the pool; `found` is NaN where nobody judged its pairs."""

    model: str
    n_new: int
    expected: float
    found: float
    per_hour: float


@dataclass(frozen=True)
class Study:
    """The further study of a campaign.

    Attributes:
        measure: that votes and second opinions are looked at by.
        labels: digest of the labels that it was made with.
        votes: by model.
        turned: pairs of models.
        unsure: share of panels drawn anew that put two models, on average, the other way round.
        opinions: the worthiest pairs.
        machines: by model.
        newcomers: that have not built the pool.
        builders: as if each were new.
        problems: why a part is empty, by its name.
    """

    measure: str
    labels: str
    votes: list[VotesLine] = field(default_factory=list)
    turned: list[TurnedPair] = field(default_factory=list)
    unsure: float = 0.0
    opinions: list[OpinionLine] = field(default_factory=list)
    machines: list[MachineLine] = field(default_factory=list)
    newcomers: list[NewcomerLine] = field(default_factory=list)
    builders: list[NewcomerLine] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)


def study_subject(campaign: Campaign) -> str:
    """Return what the job is about."""
    return f"study:{campaign.slug}"


def request_study(*, campaign: Campaign, owner: User) -> Job:
    """Queue the further study of a campaign.

    Raises:
        JobConflictError: it is under way, or the person has too many jobs waiting.
    """
    return enqueue(
        task=STUDY_TASK,
        subject=study_subject(campaign),
        title=f"Further study of “{campaign}”",
        arguments={"campaign": campaign.pk},
        owner=owner,
    )
