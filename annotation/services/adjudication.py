"""An admin's ruling on what the panel left open."""

from __future__ import annotations

import uuid

from django.db import transaction

from accounts.models import User
from annotation.errors import CampaignError
from annotation.models import Adjudication, Campaign, Gold, Question, QuestionKind
from annotation.queries.choices import subject_of
from annotation.queries.reviewing.adjudication import contested
from annotation.services.gold import GoldPair, add_gold
from audit.actions import Action
from audit.services import record


@transaction.atomic
def adjudicate(
    *, campaign: Campaign, question_uid: uuid.UUID, answer: str, reason: str, by: User
) -> Adjudication:
    """Rule on a question; the ruling becomes its label, the votes stay as they are.

    Raises:
        CampaignError: no such question in this campaign, no reason, an answer that is none, or
            another admin has ruled otherwise meanwhile.
    """
    questions = Question.objects.select_for_update(no_key=True).filter(kind=QuestionKind.PAIR)
    question = questions.filter(campaign=campaign, uid=question_uid).first()
    if question is None:
        raise CampaignError("There is no such question in this campaign.")
    rulings = campaign.kind.rulings(subject_of(campaign, question))
    if answer not in rulings:
        raise CampaignError(
            f"A ruling is {' or '.join(f'“{one.lower()}”' for one in rulings.values())}."
        )
    if campaign.kind.is_choice and not _is_open(campaign, question):
        raise CampaignError(f"The panel decides about this {campaign.kind.noun} itself.")
    if not reason.strip():
        raise CampaignError("Say why: the reason is kept with the ruling.")
    theirs = Adjudication.objects.filter(question=question).exclude(decided_by=by).first()
    if theirs and theirs.answer == answer:
        return theirs
    if theirs:
        who, words = theirs.decided_by or "Somebody", rulings[theirs.answer].lower()
        raise CampaignError(
            f"{who} has ruled meanwhile: “{words}”, because “{theirs.reason}”. To rule otherwise, "
            "take that ruling back first."
        )
    ruling, _ = Adjudication.objects.update_or_create(
        question=question,
        defaults={"answer": answer, "reason": reason.strip()[:500], "decided_by": by},
    )
    record(by, Action.RULING_MADE, campaign, question=question_uid, answer=answer)
    return ruling


def _is_open(campaign: Campaign, question: Question) -> bool:
    """Return whether a question is to be ruled on, or was."""
    was_ruled = Adjudication.objects.filter(question=question).exists()
    return was_ruled or contested(campaign).filter(pk=question.pk).exists()


@transaction.atomic
def gold_from_ruling(
    *, campaign: Campaign, question_uid: uuid.UUID, target: Campaign, purpose: str
) -> None:
    """Make a pair with a known answer of a ruling; its reason is what judges read.

    Args:
        campaign: of the ruling.
        question_uid: ruled on.
        target: where the pair is asked or shown: this campaign or another.
        purpose: as `add_gold`.

    Raises:
        CampaignError: no such ruling, as `add_gold`, or the pair has that purpose already.
    """
    rulings = Adjudication.objects.filter(question__campaign=campaign, question__uid=question_uid)
    ruling = rulings.select_related("question").first()
    if ruling is None:
        raise CampaignError("There is no such ruling.")
    _make_gold(
        ruling.question, ruling.answer, ruling.reason, target=target, purpose=purpose,
        source=Gold.Source.RULING,
    )  # fmt: skip


def gold_from_question(
    *,
    campaign: Campaign,
    question_uid: uuid.UUID,
    target: Campaign,
    purpose: str,
    answer: str,
    why: str = "",
) -> None:
    """Make a question of a campaign one with a known answer, on an admin's word.

    Args:
        campaign: of the question.
        question_uid: any that it asks, such as one on which judges disagree.
        target: as `gold_from_ruling`.
        purpose: as `add_gold`.
        answer: as an admin would rule.
        why: shown in training and examples.

    Raises:
        CampaignError: no such question, as `add_gold`, or it has that purpose already.
    """
    question = Question.objects.filter(campaign=campaign, uid=question_uid).first()
    if question is None:
        raise CampaignError("There is no such question.")
    _make_gold(question, answer, why, target=target, purpose=purpose, source=Gold.Source.ADMIN)


def _make_gold(
    question: Question, ruling: str, why: str, *, target: Campaign, purpose: str, source: str
) -> None:
    campaign = question.campaign
    if question.subject and target.task_kind != campaign.task_kind:
        raise CampaignError(f"“{target}” asks about {target.kind.nouns}.")
    if target.kind.scale != campaign.kind.scale:
        raise CampaignError(f"“{target}” has other grades.")
    answer = campaign.kind.gold_of_ruling(ruling, subject_of(campaign, question))
    if not answer:
        raise CampaignError("The ruling does not say what is right, and cannot be gold.")
    pair = GoldPair(question.query_id, question.candidate_id, answer, why, question.subject)
    if not add_gold(campaign=target, purpose=purpose, pairs=[pair], source=source):
        raise CampaignError("The pair is that already.")


@transaction.atomic
def withdraw_ruling(*, campaign: Campaign, question_uid: uuid.UUID) -> None:
    """Take a ruling back; the votes decide again.

    Raises:
        CampaignError: there is no such ruling.
    """
    rulings = Adjudication.objects.filter(question__campaign=campaign, question__uid=question_uid)
    if not rulings.delete()[0]:
        raise CampaignError("There is no such ruling.")
    record(None, Action.RULING_WITHDRAWN, campaign, question=question_uid)
