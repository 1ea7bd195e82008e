"""Where pictures stood that judges picked; each judge sees those of a question in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, Mode, PanelMember, Question
from annotation.queries.reviewing.answer_table import FIRST_PICK, AnswerTable
from lookalike.conditional.verdicts import gallery_order
from lookalike.core.arrays import Ints

LATEST = 200  # picks of each judge that are looked at


@dataclass(frozen=True)
class PickedPlaces:
    """What the questions of a campaign show, and where on the screen judges picked.

    Attributes:
        n_pictures: the fewest that one of the questions shows.
        by_member: places from 0 of the latest picks, by the id of the panel member.
    """

    n_pictures: int
    by_member: dict[int, Ints]

    def of(self, member_id: int) -> Ints:
        """Return a judge's places, the earliest first."""
        return self.by_member.get(member_id, np.empty(0, np.int64))


def picked_places(
    campaign: Campaign, panel: Sequence[PanelMember], table: AnswerTable
) -> PickedPlaces:
    """Return where judges picked; of pairs, in which nothing is picked, nothing.

    Args:
        campaign: whose answers.
        panel: its judges.
        table: the answers, by judge in the order in which they were decided.
    """
    picks = table[(table.answer >= FIRST_PICK) & ~table.in_mode(Mode.IMPORT)]
    numbers = {member.pk: member.number for member in panel}
    latest = {pk: np.flatnonzero(picks.member == pk)[-LATEST:] for pk in numbers}
    chosen = {int(picks.question[row]) for rows in latest.values() for row in rows}
    asked = Question.objects.in_bulk(chosen)
    subjects = campaign.kind.subjects({question.subject for question in asked.values()})
    sizes = {pk: len(subjects[question.subject].candidates) for pk, question in asked.items()}

    def place(row: int, number: int) -> int:
        pk = int(picks.question[row])
        order = gallery_order(campaign.seed, number, asked[pk].uid.int, sizes[pk])
        return order.index(int(picks.answer[row]) - FIRST_PICK)

    return PickedPlaces(
        n_pictures=1 + min(sizes.values(), default=1),
        by_member={
            pk: np.array([place(row, numbers[pk]) for row in rows.tolist()], np.int64)
            for pk, rows in latest.items()
        },
    )
