"""Kinds of task: what a question asks, which answers it takes, and what votes on it come to.

Pairs are known here; apps above register what they ask about (`AppConfig.ready`). Panel,
guidelines, queues, leases, training, gold, repeats, undo, adjudication and all else are the same
for every kind.

An answer is a code: a word of the kind, or `pick:3` for the image at place 3 of the question.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from annotation.models.choices import PICK, VOTES, Answer
from lookalike.agreement.grades import Scale, consensus_grades, grade_of
from lookalike.agreement.grades import is_settled as is_grade_settled
from lookalike.agreement.majority import is_settled, majority
from lookalike.conditional.crops import Dilation

PAIR = "pair"
ALWAYS = frozenset({"skip", "later", "withdrawn"})  # answers that every kind takes


class Subject(Protocol):
    """What a question asks about, where it is more than a pair: an image, and some to pick from.

    Attributes:
        uid: all that programs know of it.
        condition: what the judge is to look at; "" for all.
    """

    uid: uuid.UUID
    condition: str

    @property
    def compared_id(self) -> int:
        """The id of the image that the candidates are compared with."""

    @property
    def candidates(self) -> list[int]:
        """The image ids to choose from; `pick:3` names the fourth."""

    @property
    def crops(self) -> Dilation:
        """How boxes are cut out."""

    def box_of(self, place: int | None) -> list[float] | None:
        """Return the box of a candidate, or of the compared image for None; None for all of it."""


class Consensus(NamedTuple):
    """What votes come to: an answer, "" without one, and whether no missing vote can change it."""

    answer: str
    is_settled: bool


class TaskKind:
    """One kind of task; the class itself is that of pairs.

    Attributes:
        name: as campaigns store it.
        noun: one thing that is asked, with `nouns` for several.
        answers: the kind's own answers, picks apart, and their words.
        results_page: name of the page with its results, which takes a slug; "" for agreement.
        judging_page: the template of the page on which judges answer.
        scale: the grades that are answers; None where there are none.
    """

    name = PAIR
    noun, nouns = "pair", "pairs"
    answers: Mapping[str, str] = {
        answer.value: str(answer.label) for answer in (*VOTES, Answer.CANT_TELL)
    }
    results_page = ""
    judging_page = "annotation/judge.html"
    scale: Scale | None = None

    @property
    def is_choice(self) -> bool:
        """Whether images are picked."""
        return self.name != PAIR

    def subjects(self, ids: Collection[int]) -> Mapping[int, Subject]:
        """Return what questions ask about, by `Question.subject`; nothing of pairs."""
        return {}

    def prompt(self, campaign_id: int) -> str:
        """Return the question in words, where a campaign's own is shown."""
        return ""

    def words(self, answer: str, subject: Subject | None) -> str:
        """Return an answer as pages for admins say it."""
        return str(Answer(answer).label) if answer in Answer else self.answers[answer]

    def consensus(self, votes: Sequence[str], n_wanted: int, tie_rule: str) -> Consensus:
        """Return what votes come to.

        Args:
            votes: those that count, in any order.
            n_wanted: how many there may be in the end.
            tie_rule: of the campaign.
        """
        n = Counter(votes)
        sides = n[Answer.SIMILAR], n[Answer.DIFFERENT]
        label = majority(np.array(sides[:1]), np.array(sides[1:]), tie_rule)
        winner = Answer.SIMILAR if label.is_similar[0] else Answer.DIFFERENT
        answer = winner.value if label.is_decided[0] else ""
        return Consensus(answer, is_settled(*sides, n_wanted, tie_rule))

    def card(self, subject: Subject | None, votes: Mapping[str, int]) -> str:
        """Return HTML that shows admins a question with its votes; "" where a pair is shown."""
        return ""

    def rulings(self, subject: Subject | None) -> dict[str, str]:
        """Return what an admin may rule, with its words: what F says first, what J says last."""
        return {one.value: str(one.label) for one in (Answer.DIFFERENT, Answer.SIMILAR)}

    def gold_of_ruling(self, ruling: str, subject: Subject | None) -> str:
        """Return the answer that a ruling makes known; "" if it names none."""
        return ruling

    def takes(self, answer: str, subject: Subject | None) -> bool:
        """Return whether an answer may be that of gold."""
        return answer in VOTES


class GradedPair(TaskKind):
    """Pairs that are graded; a grade counts as similar or as different, as its answer says."""

    def __init__(self, scale: Scale) -> None:
        self.scale: Scale = scale
        self.answers = {**scale.answers, Answer.CANT_TELL.value: str(Answer.CANT_TELL.label)}

    def words(self, answer: str, subject: Subject | None) -> str:
        """Return an answer as pages for admins say it."""
        return self.answers.get(answer) or super().words(answer, subject)

    def consensus(self, votes: Sequence[str], n_wanted: int, tie_rule: str) -> Consensus:
        """Return the median grade."""
        grades = [grade_of(vote) for vote in votes]
        counts = np.bincount(np.array(grades, np.int64), minlength=self.scale.n_grades)
        [grade], [is_decided] = consensus_grades(counts[None], self.scale.similar_from, tie_rule)
        answer = self.scale.answer(int(grade)) if is_decided else ""
        return Consensus(answer, is_grade_settled(grades, n_wanted, self.scale, tie_rule))

    def rulings(self, subject: Subject | None) -> dict[str, str]:
        """Return the grades, the lowest first."""
        return self.scale.answers

    def takes(self, answer: str, subject: Subject | None) -> bool:
        """Return whether an answer is one of the grades."""
        return answer in self.scale.answers


def pick_place(answer: str) -> int | None:
    """Return the place that an answer picks; None for any other."""
    return int(answer.removeprefix(PICK)) if answer.startswith(PICK) else None


_KINDS: dict[str, TaskKind] = {PAIR: TaskKind()}


def register(kind: TaskKind) -> None:
    """Let campaigns ask about another kind of task."""
    _KINDS[kind.name] = kind


def task_kind(name: str, grades: str = "", similar_from: int = 0) -> TaskKind:
    """Return a kind by what campaigns store: its name, and of graded pairs the scale."""
    return _graded(grades, similar_from) if grades else _KINDS[name]


@lru_cache(maxsize=256)
def _graded(grades: str, similar_from: int) -> GradedPair:
    return GradedPair(Scale(tuple(grades.split("\n")), similar_from))
