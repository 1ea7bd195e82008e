"""Questions from whose images one is picked: what a judge sees of them, and what was said."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from django.db.models import QuerySet

from annotation.answering.submissions import Taken
from annotation.models import (
    Answer,
    Campaign,
    Judgement,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
)
from annotation.models.choices import PICK
from annotation.picture_keys import open_place
from annotation.queries.judges import Judge, fixed_rules
from annotation.question_names import open_question
from annotation.task_kinds import ALWAYS, Subject
from catalog.models import Image
from lookalike.conditional.crops import Dilation
from lookalike.conditional.verdicts import gallery_order


@dataclass(frozen=True)
class Choice:
    """What a judge sees of a question: `order` has the places of its images as they stand."""

    condition: str
    order: list[int]


def read_choices(judge: Judge, asked: Iterable[tuple[uuid.UUID, int]]) -> dict[uuid.UUID, Choice]:
    """Return what a judge sees of questions, given as (uid, subject); nothing of pairs.

    The images of a question stand in an order drawn for this judge and question alone, a silent
    repeat's in another.
    """
    if not judge.kind.is_choice:
        return {}
    rows = list(asked)
    subjects = judge.kind.subjects({subject for _, subject in rows})
    return {
        uid: Choice(
            subjects[subject].condition,
            gallery_order(judge.seed, judge.number, uid.int, len(subjects[subject].candidates)),
        )
        for uid, subject in rows
    }


def answers_taken(campaign_uid: uuid.UUID, annotator_id: int) -> Taken:
    """Return which answers a campaign takes from a judge.

    Raises:
        NotOnPanelError: as `fixed_rules`.
    """
    kind = fixed_rules(campaign_uid).kind
    open_name = partial(open_question, annotator_id)
    if kind.scale:
        return Taken(frozenset(kind.answers) | ALWAYS, open_name=open_name)
    if not kind.is_choice:
        return Taken(open_name=open_name)

    def open_pick(question: str, key: str) -> str | None:
        place = open_place(campaign_uid, question, key)
        return None if place is None or place < 0 else f"{PICK}{place}"

    return Taken(frozenset(kind.answers) | ALWAYS, open_pick, open_name)


def picture_of(
    judge: Judge, name: str, key: str
) -> tuple[Image, list[float] | None, Dilation] | None:
    """Return a picture of one of the judge's own questions, or of a worked example; else None.

    With its box, None for all of it, and how boxes are cut out.

    Args:
        judge: whose.
        name: of the question, as the judge knows it.
        key: of the picture.
    """
    at = open_place(judge.campaign_uid, name, key)
    uid = open_question(judge.annotator_id, name)
    if at is None or uid is None or not judge.kind.is_choice:
        return None
    question = Question.objects.filter(campaign_id=judge.campaign_id, uid=uid).first()
    if question is None:
        return None
    is_served = QueueEntry.objects.filter(member_id=judge.member_id, question=question).exists()
    if not (is_served or question.kind == QuestionKind.EXAMPLE):
        return None
    subject = judge.kind.subjects([question.subject])[question.subject]
    place = None if at < 0 else at
    image_id = subject.compared_id if place is None else subject.candidates[place]
    return Image.objects.get(pk=image_id), subject.box_of(place), subject.crops


def answers_by_judge(campaign: Campaign) -> list[tuple[int, int, str]]:
    """Return question, member of the panel and answer of each answer in `standing_answers`."""
    rows = _panel_answers(campaign).filter(is_surplus=False, is_excluded=False)
    rows = rows.exclude(answer=Answer.SKIP).order_by("question_id", "member_id")
    return list(rows.values_list("question_id", "member_id", "answer"))


def subject_of(campaign: Campaign, question: Question) -> Subject | None:
    """Return what a question asks about; None where that is the pair itself."""
    return campaign.kind.subjects([question.subject]).get(question.subject)


def _panel_answers(campaign: Campaign) -> QuerySet[Judgement]:
    return Judgement.objects.filter(question__campaign=campaign, question__kind=QuestionKind.PAIR)


def panel_votes(campaign: Campaign) -> QuerySet[Judgement]:
    """Return the votes that count on the panel's own questions."""
    return _panel_answers(campaign).filter(is_counted=True)


def standing_answers(
    campaign: Campaign, *, without: PanelMember | None = None
) -> dict[int, list[str]]:
    """Return the panel's answers to its own questions by question id, in no order of people.

    Those that count, and those that say that the judge could not tell; those of one judge left
    out where that is wanted.
    """
    rows = _panel_answers(campaign).filter(is_surplus=False, is_excluded=False)
    rows = rows.exclude(answer=Answer.SKIP)
    if without is not None:
        rows = rows.exclude(member=without)
    answers: dict[int, list[str]] = {}
    for question, answer in rows.order_by("answer").values_list("question_id", "answer"):
        answers.setdefault(question, []).append(answer)
    return answers
