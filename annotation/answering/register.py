"""What a batch of answers does to the questions of one judge.

Pure. Each question of a judge is a register: the event that arrived last holds. A browser sends
its acts in the order in which they were done, and the clocks of two devices cannot be compared,
so their times order nothing. Taking back names the event that holds.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.utils.translation import gettext as _

from annotation.answering.submissions import RejectedError, Submission

UNFINISHED = frozenset({"later", "withdrawn"})
NO_VOTES = frozenset({"cant_tell", "skip"})


@dataclass(frozen=True)
class Register:
    """One question of one judge as it stands; `question_id` names it.

    `answer` is that of the event that holds, "" when there is none or it was taken back.
    """

    question_id: int
    place: int
    is_done: bool
    answer: str
    last_uuid: uuid.UUID | None
    decided_at: datetime | None


@dataclass(frozen=True)
class StoredEvent:
    """An event that the server has already."""

    member_id: int
    question_id: int
    answer: str
    undoes: uuid.UUID | None


@dataclass
class Outcome:
    """What to write, and what to reply.

    Attributes:
        events: new events with their question and their clamped time, in the order of arrival.
        registers: the changed registers, by question id.
        results: for each submission, in order: "saved", "duplicate" or why it is rejected.
        last_place: end of the judge's queue afterwards.
    """

    events: list[tuple[Submission, Register]] = field(default_factory=list)
    registers: dict[int, Register] = field(default_factory=dict)
    results: list[str | RejectedError] = field(default_factory=list)
    last_place: int = 0


def is_final(answer: str) -> bool:
    """Return whether an answer settles its question for the judge; "" is none."""
    return bool(answer) and answer not in UNFINISHED


def is_vote(answer: str) -> bool:
    """Return whether an answer, of any kind of task, counts."""
    return is_final(answer) and answer not in NO_VOTES


def fold(
    submissions: Sequence[Submission | RejectedError],
    *,
    served: Mapping[uuid.UUID, Register],
    stored: Mapping[uuid.UUID, StoredEvent],
    member_id: int,
    last_place: int,
    guideline_version: int,
    closed: RejectedError | None,
    now: datetime,
) -> Outcome:
    """Return what a batch does, answer by answer.

    Args:
        submissions: in the order sent.
        served: the registers of this judge's questions, by question uid.
        stored: events of anybody that have one of the batch's UUIDs.
        member_id: the judge.
        last_place: end of the judge's queue.
        guideline_version: the newest that the judge has read.
        closed: why nothing new is taken now, or None. A duplicate is still a duplicate.
        now: times after it are set back to it.
    """
    outcome = Outcome(last_place=last_place)
    seen = dict(stored)
    registers = {register.question_id: register for register in served.values()}
    for submission in submissions:
        try:
            if isinstance(submission, RejectedError):
                raise submission
            if submission.question not in served:
                raise RejectedError("not_served", _("This question was not given to you."))
            register = registers[served[submission.question].question_id]
            event = StoredEvent(
                member_id, register.question_id, submission.answer, submission.undoes
            )
            if submission.uuid in seen:
                if seen[submission.uuid] != event:
                    raise RejectedError("uuid_reused", _("This UUID belongs to another answer."))
                outcome.results.append("duplicate")
                continue
            if closed is not None:
                raise closed
            if submission.guideline_version > guideline_version:
                raise RejectedError(
                    "bad_value", _("You have not read that version of the guidelines.")
                )
            decided_at = min(submission.decided_at, now)  # a clock that runs ahead is set back
            shown_at = min(submission.shown_at, decided_at)
            timed = replace(submission, decided_at=decided_at, shown_at=shown_at)
            after = _after(timed, register, outcome)
        except RejectedError as problem:
            outcome.results.append(problem)
            continue
        seen[submission.uuid] = event
        outcome.events.append((timed, register))
        outcome.registers[after.question_id] = registers[after.question_id] = after
        outcome.results.append("saved")
    return outcome


def change_of_done(before: Iterable[Register], outcome: Outcome) -> int:
    """Return by how much the number of answered questions grows; `before` are those changed."""
    after = outcome.registers.values()
    return sum(register.is_done for register in after) - sum(r.is_done for r in before)


def _after(submission: Submission, register: Register, outcome: Outcome) -> Register:
    """Return the register after an answer."""
    if submission.undoes is not None and (
        submission.undoes != register.last_uuid or not register.answer
    ):
        raise RejectedError("not_current", _("That answer does not hold any more."))
    place = register.place
    if submission.answer == "later":
        outcome.last_place += 1
        place = outcome.last_place
    return replace(
        register,
        place=place,
        is_done=is_final(submission.answer),
        last_uuid=submission.uuid,
        decided_at=submission.decided_at,
        answer="" if submission.answer == "withdrawn" else submission.answer,
    )
