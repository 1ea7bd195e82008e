"""Single judgements with what they are about, for exports that admins read."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Q, QuerySet

from annotation.models import Campaign, Judgement
from annotation.models.choices import NO_VOTES, VOTES
from annotation.task_kinds import pick_place
from catalog.models import Image


class JudgementRow(NamedTuple):
    """A judgement with what it is about.

    Attributes:
        subject: uid of the template or triplet; None for a pair.
        condition: what the judge is to look at; "" for all.
        choices: the images to pick from, by place; none for a pair.
        picked: the image that was picked; None where none was.
    """

    judgement: Judgement
    subject: uuid.UUID | None
    condition: str
    choices: list[uuid.UUID]
    picked: uuid.UUID | None


def list_judgements(
    campaign: Campaign,
    *,
    kind: str = "",
    judge: int | None = None,
    answer: str = "",
    is_excluded: bool | None = None,
) -> QuerySet[Judgement]:
    """Return the answers that stand in a campaign, with pair, judge and event.

    Args:
        campaign: whose questions.
        kind: only of questions of this kind; "" for all.
        judge: only of the judge with this place on the panel.
        answer: only this answer, of whatever grade; "" for all.
        is_excluded: only excluded ones, or only the others.
    """
    judgements = Judgement.objects.filter(question__campaign=campaign)
    if kind:
        judgements = judgements.filter(question__kind=kind)
    if judge is not None:
        judgements = judgements.filter(member__number=judge)
    if answer:
        judgements = judgements.filter(Q(answer=answer) | Q(answer__startswith=f"{answer}:"))
    if is_excluded is not None:
        judgements = judgements.filter(is_excluded=is_excluded)
    return judgements.select_related(
        "question__query", "question__candidate", "member__annotator", "event"
    )


def with_subjects(campaign: Campaign, judgements: Sequence[Judgement]) -> list[JudgementRow]:
    """Return judgements of a campaign with what they are about, in their order."""
    asked = {one.question.subject for one in judgements} - {0}
    subjects = campaign.kind.subjects(asked) if asked else {}
    image_ids = {pk for subject in subjects.values() for pk in subject.candidates}
    uids = dict(Image.objects.filter(pk__in=image_ids).values_list("pk", "uid"))
    rows = []
    for one in judgements:
        subject = subjects.get(one.question.subject)
        choices = [uids[pk] for pk in subject.candidates] if subject else []
        place = pick_place(one.answer)
        picked = None if place is None or place >= len(choices) else choices[place]
        uid, condition = (subject.uid, subject.condition) if subject else (None, "")
        rows.append(JudgementRow(one, uid, condition, choices, picked))
    return rows


def is_answer(campaign: Campaign, answer: str) -> bool:
    """Whether judges of a campaign may answer so."""
    if campaign.kind.is_choice and pick_place(answer) is not None:
        return True
    return answer in {*_sides(campaign), *campaign.kind.answers, *NO_VOTES}


def answer_words(campaign: Campaign) -> str:
    """Return the answers that judges of a campaign may give, for a message."""
    picks = ["pick:N"] if campaign.kind.is_choice else []
    words = [*picks, *_sides(campaign), *campaign.kind.answers, *map(str, NO_VOTES)]
    return ", ".join(dict.fromkeys(words))


def _sides(campaign: Campaign) -> list[str]:
    """Return what stands for several grades of a campaign."""
    return [str(vote) for vote in VOTES] if campaign.kind.scale else []
