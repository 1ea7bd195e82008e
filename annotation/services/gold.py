"""Questions whose answer is known: they teach judges, admit them, and check them silently."""

from __future__ import annotations

import uuid
from collections.abc import Container, Sequence

import numpy as np
from django.db import transaction

from annotation.errors import CampaignError
from annotation.models import (
    Campaign,
    CampaignState,
    Gold,
    Question,
    QuestionKind,
)
from annotation.queries.choices import standing_answers
from annotation.queries.labels import labels
from annotation.services.counted_votes import lock_panel
from annotation.services.gold_overlaps import GoldPair, check_overlaps
from annotation.services.questions import Pair
from annotation.services.serving.queues import mix_in_gold
from audit.actions import Action
from audit.services import record
from catalog.models import Image

__all__ = ["PURPOSES", "GoldPair", "add_gold", "consensus_gold", "remove_gold"]

PURPOSES = (
    QuestionKind.TRAINING,
    QuestionKind.QUALIFICATION,
    QuestionKind.GOLD,
    QuestionKind.EXAMPLE,
)


@transaction.atomic
def add_gold(
    *,
    campaign: Campaign,
    purpose: str,
    pairs: Sequence[GoldPair],
    source: str = Gold.Source.ADMIN,
) -> int:
    """Add pairs with known answers and return how many are new.

    Training and qualification belong into queues, which are drawn when the campaign is opened for
    the first time. Silent checks may be added later too, and are mixed into what judges have still
    to answer; examples at any time.

    Args:
        campaign: which.
        purpose: "training", "qualification", "gold" (silent checks) or "example".
        pairs: a pair that has this purpose already keeps its answer.
        source: who says so.

    Raises:
        CampaignError: the purpose or an answer is not on its list, an image is unknown or
            paired with itself, training without a reason, the queues are drawn already, a pair
            has another known answer, or one that checks or qualifies judges is shown to them
            with its answer, or serves both.
    """
    if purpose not in PURPOSES:
        raise CampaignError(f"Gold serves {', '.join(PURPOSES)}, not {purpose!r}.")
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    is_draft = campaign.state == CampaignState.DRAFT
    if not is_draft and purpose in {QuestionKind.TRAINING, QuestionKind.QUALIFICATION}:
        raise CampaignError("The queues are drawn; training and qualification need a draft.")
    if campaign.state == CampaignState.CLOSED and purpose == QuestionKind.GOLD:
        raise CampaignError(f"{campaign} is closed; nobody would be asked.")
    _check(campaign, purpose, pairs)
    check_overlaps(campaign, purpose, pairs)
    present = set(campaign.questions.filter(kind=purpose).values_list(*Pair._fields))
    fresh = {pair.asked: pair for pair in reversed(pairs) if pair.asked not in present}
    made = []
    for pair in reversed(fresh.values()):
        question = Question.objects.create(
            uid=uuid.uuid4(), campaign=campaign, kind=purpose, position=0, **pair.asked._asdict()
        )
        Gold.objects.create(
            question=question, answer=pair.answer, why=pair.why.strip()[:500], source=source
        )
        made.append(question.pk)
    if made and not is_draft and purpose == QuestionKind.GOLD:
        mix_in_gold(campaign=campaign, question_ids=made)
    if fresh:
        record(None, Action.GOLD_ADDED, campaign, purpose=purpose, n=len(fresh), source=source)
    return len(fresh)


def _check(campaign: Campaign, purpose: str, pairs: Sequence[GoldPair]) -> None:
    ids = {image_id for pair in pairs for image_id in pair[:2]}
    unknown = ids - set(Image.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if unknown:
        raise CampaignError(f"Unknown images: {sorted(unknown)[:5]}.")
    kind = campaign.kind
    subjects = kind.subjects({pair.subject for pair in pairs})
    for pair in pairs:
        if kind.is_choice and pair.subject not in subjects:
            raise CampaignError(f"Gold of “{campaign}” is about its {kind.nouns}.")
        if not kind.takes(pair.answer, subjects.get(pair.subject)):
            raise CampaignError(
                f"{pair.answer!r} is no answer about a {kind.noun} of “{campaign}”: it takes "
                f"{' or '.join(kind.rulings(None).values())}."
                if not kind.is_choice
                else f"{pair.answer!r} is no answer about a {kind.noun}."
            )
        if pair.query_id == pair.candidate_id:
            raise CampaignError("A pair joins an image to itself.")
        if purpose in {QuestionKind.TRAINING, QuestionKind.EXAMPLE} and not pair.why.strip():
            raise CampaignError(f"Say why a pair is {pair.answer}: {purpose} shows the reason.")


def consensus_gold(
    source: Campaign, n: int, seed: int, why: str = "", *, into: Campaign | None = None
) -> list[GoldPair]:
    """Draw pairs that an earlier panel agreed on without exception, half of each answer.

    Only pairs with two or more votes, all equal, and no ruling against them. Where one answer
    is rare, the rest is filled up with the other.

    Args:
        source: the earlier campaign.
        n: how many are wanted; fewer come where there are fewer.
        seed: fixes the draw.
        why: what judges are told in training and examples. Nothing tells them of the panel.
        into: a campaign; what it has known answers of already is left out.
    """
    held = Gold.objects.filter(question__campaign=into) if into else Gold.objects.none()
    if source.kind.is_choice:
        subjects = set(held.values_list("question__subject", flat=True))
        return _unanimous(source, n, seed, why, subjects)
    table = labels(source, "unanimous")
    is_sure = table.is_decided & ~table.is_ruled & (table.n_similar + table.n_different >= 2)
    scale = source.kind.scale
    if table.grade_counts is not None:
        is_sure &= table.grade_counts.max(axis=1) == table.grade_counts.sum(axis=1)
    asked = held.values_list("question__query_id", "question__candidate_id")
    pairs = {frozenset(pair) for pair in asked}  # with query and candidate swapped it is the same
    both = np.column_stack([table.query_ids, table.candidate_ids]).tolist()
    is_sure &= np.array([frozenset(pair) not in pairs for pair in both], bool)
    rng = np.random.default_rng([seed, source.pk])
    sides = [rng.permutation(np.flatnonzero(is_sure & (table.is_similar == s))) for s in (1, 0)]
    half = [min(len(side), n // 2 + n % 2 * (s == 0)) for s, side in enumerate(sides)]
    half = [min(len(sides[s]), n - half[1 - s]) for s in (0, 1)]
    chosen = np.sort(np.concatenate([side[:k] for side, k in zip(sides, half, strict=True)]))
    return [
        GoldPair(
            int(table.query_ids[i]),
            int(table.candidate_ids[i]),
            scale.answer(int(table.grades[i]))
            if scale and table.grades is not None
            else "similar"
            if table.is_similar[i]
            else "different",
            why,
        )
        for i in chosen[:n]
    ]


def _unanimous(
    source: Campaign, n: int, seed: int, why: str, but: Container[int]
) -> list[GoldPair]:
    """Draw questions from whose images all judges, two or more, picked the same, but for some."""
    answers = standing_answers(source)
    sure = sorted(pk for pk, given in answers.items() if len(given) > 1 and len(set(given)) == 1)
    questions = source.questions.filter(adjudication__isnull=True).in_bulk(sure)
    subjects = source.kind.subjects({one.subject for one in questions.values()})
    known = [
        GoldPair(one.query_id, one.candidate_id, answers[pk][0], why, one.subject)
        for pk, one in sorted(questions.items())
        if one.subject not in but and source.kind.takes(answers[pk][0], subjects[one.subject])
    ]
    chosen = np.random.default_rng([seed, source.pk]).permutation(len(known))[:n]
    return [known[place] for place in sorted(chosen)]


@transaction.atomic
def remove_gold(*, campaign: Campaign, question_uid: uuid.UUID) -> None:
    """Take a question with a known answer away, unless somebody has it in their queue.

    Raises:
        CampaignError: there is no such question, or it is in a queue.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    lock_panel(campaign.pk)  # nobody is lent it from here on
    question = Question.objects.filter(
        campaign=campaign, uid=question_uid, kind__in=PURPOSES
    ).first()
    if question is None:
        raise CampaignError("There is no such gold question.")
    if question.entries.exists():
        raise CampaignError("It is in the judges' queues, and stays.")
    record(None, Action.GOLD_REMOVED, campaign, purpose=question.kind, question=question_uid)
    question.delete()
