"""Slip gold, repeats and mirrored pairs into a queue that grows by claims (k of n).

When everyone judges every pair the whole queue is drawn at once (`annotation.ordering`); here
each claim appends the controls that have become due at the same rates.
"""

from __future__ import annotations

import uuid
from typing import NamedTuple

import numpy as np
from django.db.models import F

from annotation.models import (
    Campaign,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
    Stage,
)
from annotation.ordering import GAP
from annotation.queries.judges import Judge
from annotation.queries.prepared import prepared_cursor

# Controls are few: counting them by their index spares reading the judge's whole queue.
ASKED = """
select q.kind, count(*) from annotation_question q
join annotation_queueentry e on e.question_id = q.id and e.member_id = %s
where q.campaign_id = %s and q.kind <> 'pair' group by q.kind
"""
ANSWERED = """
select q.id, q.query_id, q.candidate_id from annotation_queueentry e
join annotation_question q on q.id = e.question_id
where e.member_id = %(member)s and e.state = 'done' and e.place <= %(place)s and q.kind = 'pair'
  and not exists (select from annotation_question c
                  join annotation_queueentry o on o.question_id = c.id and o.member_id = e.member_id
                  where c.original_id = q.id and c.kind = %(kind)s)
  and not (%(kind)s = 'mirror' and exists (
      select from annotation_question b where b.campaign_id = q.campaign_id and b.kind = 'pair'
        and b.query_id = q.candidate_id and b.candidate_id = q.query_id))
order by md5(q.id::text || %(salt)s::text), q.id limit %(n)s
"""


class Again(NamedTuple):
    """A pair to be asked once more, the way it is asked then."""

    kind: QuestionKind
    query_id: int
    candidate_id: int
    original_id: int


def append_due_controls(*, judge: Judge) -> int:
    """Append what is due after the pairs claimed so far; return how many.

    Gold i of G is due after the share (i / G)² of the judge's expected pairs: more early, fewer
    later. A repeat or mirrored pair becomes due with every 100 / percent pairs, and is drawn
    from pairs that this judge answered at least `GAP` questions ago; no pair is mirrored that
    the campaign asks both ways anyway.
    """
    campaign = Campaign.objects.get(pk=judge.campaign_id)
    member = PanelMember.objects.get(pk=judge.member_id)
    with prepared_cursor() as cursor:
        cursor.execute(ASKED, [member.pk, campaign.pk])
        n_asked = dict.fromkeys(QuestionKind.values, 0) | dict(cursor.fetchall())
    n_pairs = member.n_total - sum(n_asked.values())
    due = _due_gold(campaign, member, n_pairs, n_asked[QuestionKind.GOLD])
    again = []
    for kind, percent in (
        (QuestionKind.REPEAT, campaign.repeat_percent),
        (QuestionKind.MIRROR, campaign.mirror_percent),
    ):
        n_due = n_pairs * percent // 100 - n_asked[kind]
        if n_due > 0:
            again += _drawn(member, kind, n_due, f"{judge.seed} {judge.number} {n_pairs}")
    due += _questions(campaign, again)
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


def _drawn(member: PanelMember, kind: QuestionKind, n: int, salt: str) -> list[Again]:
    """Draw answered pairs of this judge that this judge is to be asked again."""
    with prepared_cursor() as cursor:
        cursor.execute(
            ANSWERED,
            {
                "member": member.pk,
                "place": member.last_place - GAP,
                "kind": kind.value,
                "salt": f" {kind.value} {salt}",
                "n": n,
            },
        )
        rows = cursor.fetchall()
    if kind == QuestionKind.MIRROR:
        return [Again(kind, candidate, query, pair) for pair, query, candidate in rows]
    return [Again(kind, query, candidate, pair) for pair, query, candidate in rows]


def _questions(campaign: Campaign, wanted: list[Again]) -> list[int]:
    """Return the controls that ask pairs again, as wanted; those that are missing are made.

    They are made in one order by everyone: judges who draw the same pairs at once wait for each
    other in turn.
    """
    if not wanted:
        return []
    Question.objects.bulk_create(
        [
            Question(uid=uuid.uuid4(), campaign=campaign, position=0, **control._asdict())
            for control in sorted(wanted)
        ],
        ignore_conflicts=True,
    )
    made = Question.objects.filter(original_id__in=[control.original_id for control in wanted])
    id_of = {(kind, original): pk for pk, kind, original in
             made.values_list("pk", "kind", "original_id")}  # fmt: skip
    return [id_of[control.kind.value, control.original_id] for control in wanted]


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
