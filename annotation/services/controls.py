"""Slip gold, repeats and mirrored pairs into a queue that grows by claims (k of n).

When everyone judges every pair the whole queue is drawn at once (`annotation.ordering`); here
each claim appends the controls that have become due at the same rates.
"""

from __future__ import annotations

import uuid

import numpy as np
from django.db.models import F

from annotation.models import (
    Campaign,
    EntryState,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
    Stage,
)
from annotation.ordering import GAP
from annotation.queries.judges import Judge


def append_due_controls(*, judge: Judge) -> int:
    """Append what is due after the pairs claimed so far; return how many.

    Gold i of G is due after the share (i / G)² of the judge's expected pairs: more early, fewer
    later. A repeat or mirrored pair becomes due with every 100 / percent pairs, and is drawn
    from pairs that this judge answered at least `GAP` questions ago.
    """
    campaign = Campaign.objects.get(pk=judge.campaign_id)
    member = PanelMember.objects.get(pk=judge.member_id)
    n_asked = dict.fromkeys(QuestionKind.values, 0)
    for kind in QueueEntry.objects.filter(member=member).values_list("question__kind", flat=True):
        n_asked[kind] += 1
    n_pairs = n_asked[QuestionKind.PAIR]
    rng = np.random.default_rng([judge.seed, judge.number, n_pairs])
    due = _due_gold(campaign, member, n_pairs, n_asked[QuestionKind.GOLD])
    for kind, percent in (
        (QuestionKind.REPEAT, campaign.repeat_percent),
        (QuestionKind.MIRROR, campaign.mirror_percent),
    ):
        n_due = n_pairs * percent // 100 - n_asked[kind]
        due += _again(campaign, member, kind, n_due, rng)
    _append(member, due)
    return len(due)


def _due_gold(campaign: Campaign, member: PanelMember, n_pairs: int, n_asked: int) -> list[int]:
    golds = list(
        campaign.questions.filter(kind=QuestionKind.GOLD)
        .order_by("id")
        .values_list("pk", flat=True)
    )
    if not golds:
        return []
    share = campaign.n_questions * campaign.k / max(campaign.panel.count(), 1)
    n_due = int(len(golds) * min(1.0, n_pairs / max(share, 1.0)) ** 0.5)
    order = np.random.default_rng([campaign.seed, member.number]).permutation(len(golds))
    return [golds[index] for index in order[n_asked:n_due]]


def _again(
    campaign: Campaign, member: PanelMember, kind: QuestionKind, n: int, rng: np.random.Generator
) -> list[int]:
    """Draw answered pairs of this judge and return the questions that ask them again."""
    if n <= 0:
        return []
    asked = Question.objects.filter(entries__member=member, kind=kind).values("original_id")
    answered = list(
        QueueEntry.objects.filter(
            member=member,
            state=EntryState.DONE,
            question__kind=QuestionKind.PAIR,
            place__lte=member.last_place - GAP,
        )
        .exclude(question_id__in=asked)
        .order_by("id")
        .values_list("question_id", "question__query_id", "question__candidate_id")
    )
    chosen = rng.choice(len(answered), size=min(n, len(answered)), replace=False)
    due = []
    for index in chosen:
        original, query, candidate = answered[index]
        if kind == QuestionKind.MIRROR:
            query, candidate = candidate, query
        control, _ = Question.objects.get_or_create(
            campaign=campaign,
            query_id=query,
            candidate_id=candidate,
            kind=kind,
            defaults={"uid": uuid.uuid4(), "original_id": original, "position": 0},
        )
        due.append(control.pk)
    return due


def _append(member: PanelMember, questions: list[int]) -> None:
    """Put questions right behind the pairs just claimed."""
    if not questions:
        return
    places = range(member.last_place + 1, member.last_place + 1 + len(questions))
    QueueEntry.objects.bulk_create(
        [
            QueueEntry(member=member, question_id=question, position=place, place=place,
                       stage=Stage.JUDGING)
            for place, question in zip(places, questions, strict=True)
        ]
    )  # fmt: skip
    PanelMember.objects.filter(pk=member.pk).update(
        last_place=F("last_place") + len(questions), n_total=F("n_total") + len(questions)
    )
