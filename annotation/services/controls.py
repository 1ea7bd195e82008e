"""Slip gold, repeats and mirrored pairs into a queue that grows by claims (k of n).

When everyone judges every pair the whole queue is drawn at once (`annotation.ordering`); here
each claim mixes the controls that have become due into the pairs that it lends.
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
from annotation.ordering import GAP, mixed_in
from annotation.queries.judges import Judge
from annotation.queries.prepared import prepared_cursor

PATIENCE = 0.25  # of a judge's share, for which a control waits for its query
MET_AT = 0.8  # of the share, by when all gold is asked: not everybody gets a whole share

# Controls are few: counting them by their index spares reading the judge's whole queue.
ASKED = """
select q.kind, count(*) from annotation_question q
join annotation_queueentry e on e.question_id = q.id and e.member_id = %s
where q.campaign_id = %s and q.kind <> 'pair' group by q.kind
"""
ANSWERED = """
select q.id, q.query_id, q.candidate_id, shown.query_id = any(%(queries)s) as is_claimed
from annotation_queueentry e
join annotation_question q on q.id = e.question_id
cross join lateral (
    select case %(kind)s when 'mirror' then q.candidate_id else q.query_id end as query_id) shown
where e.member_id = %(member)s and e.state = 'done' and e.place <= %(place)s and q.kind = 'pair'
  and not exists (select from annotation_question c
                  join annotation_queueentry o on o.question_id = c.id and o.member_id = e.member_id
                  where c.original_id = q.id and c.kind = %(kind)s)
  and not (%(kind)s = 'mirror' and (exists (
      select from annotation_question b where b.campaign_id = q.campaign_id and b.kind = 'pair'
        and b.query_id = q.candidate_id and b.candidate_id = q.query_id)
    or not exists (
      select from annotation_question b where b.campaign_id = q.campaign_id and b.kind = 'pair'
        and b.query_id = q.candidate_id)))
order by is_claimed desc, md5(q.id::text || %(salt)s::text), q.id limit %(n)s
"""
CLAIMED = """
select e.id, q.query_id from annotation_queueentry e
join annotation_question q on q.id = e.question_id
where e.member_id = %s and e.place > %s order by e.place
"""
GOLD = """
select q.id, q.query_id = any(%(queries)s) as is_claimed from annotation_question q
where q.campaign_id = %(campaign)s and q.kind = 'gold'
  and not exists (select from annotation_queueentry e
                  where e.member_id = %(member)s and e.question_id = q.id)
order by is_claimed desc, md5(q.id::text || %(salt)s::text), q.id limit %(n)s
"""
PLACE = """
update annotation_queueentry e set place = moved.place, position = moved.place
from unnest(%s::bigint[], %s::bigint[]) as moved(id, place) where e.id = moved.id
"""


class Again(NamedTuple):
    """A pair to be asked once more, the way it is asked then."""

    kind: QuestionKind
    query_id: int
    candidate_id: int
    original_id: int


def ask_again(kind: QuestionKind, question_id: int, query_id: int, candidate_id: int) -> Again:
    """Return a pair as it is asked again: the other way round where it is mirrored."""
    if kind == QuestionKind.MIRROR:
        return Again(kind, candidate_id, query_id, question_id)
    return Again(kind, query_id, candidate_id, question_id)


def mix_in_due_controls(*, judge: Judge) -> int:
    """Mix what is due into the pairs that a judge has just claimed; return how many.

    `judge` is as before the claim. Gold i of G is due after the share i / G of `MET_AT` of the
    judge's expected pairs. A repeat or mirrored pair becomes due with every 100 / percent pairs,
    and is drawn from pairs that this judge answered at least `GAP` questions ago; no pair is
    mirrored that the campaign asks both ways anyway, or whose candidate is no query of the
    campaign. What is due waits until its query is among what is claimed, and stands anywhere in
    it: a query that came for it alone might tell it. It waits `PATIENCE` of that share at most,
    less towards the end, where all that is due is asked.
    """
    campaign = Campaign.objects.get(pk=judge.campaign_id)
    member = PanelMember.objects.get(pk=judge.member_id)
    with prepared_cursor() as cursor:
        cursor.execute(ASKED, [member.pk, campaign.pk])
        n_asked = dict.fromkeys(QuestionKind.values, 0) | dict(cursor.fetchall())
        cursor.execute(CLAIMED, [member.pk, judge.last_place])
        queries = list({query for _, query in cursor.fetchall()})
    n_pairs = member.n_total - sum(n_asked.values())
    share = campaign.n_questions * campaign.k / max(campaign.panel.count(), 1)
    done = min(1.0, n_pairs / max(share * MET_AT, 1.0))
    n_gold = campaign.questions.filter(kind=QuestionKind.GOLD).count()
    wanted = {
        QuestionKind.GOLD: int(n_gold * done),
        QuestionKind.REPEAT: n_pairs * campaign.repeat_percent // 100,
        QuestionKind.MIRROR: n_pairs * campaign.mirror_percent // 100,
    }
    salt = f"{judge.seed} {judge.number} {n_pairs}"
    due, again = [], []
    for kind, n_wanted in wanted.items():
        n_overdue = int(n_wanted * max(0.0, done - PATIENCE) / (done * (1 - PATIENCE)))
        rows = _drawn(judge, kind, max(0, n_wanted - n_asked[kind]), queries, salt)
        asked = [
            row
            for place, (*row, is_claimed) in enumerate(rows, start=n_asked[kind])
            if is_claimed or place < n_overdue
        ]
        if kind == QuestionKind.GOLD:
            due = [question for (question,) in asked]
        else:
            again += [ask_again(kind, *row) for row in asked]
    due += questions_asked_again(campaign, again)
    _append(member, due)
    if due:
        rng = np.random.default_rng([judge.seed, judge.number, n_pairs])
        _mix(member, judge.last_place, len(due), rng)
    return len(due)


def _mix(member: PanelMember, after: int, n_due: int, rng: np.random.Generator) -> None:
    """Give the entries behind a place new places among themselves: the last ones are controls."""
    with prepared_cursor() as cursor:
        cursor.execute(CLAIMED, [member.pk, after])
        entries, queries = np.array(cursor.fetchall(), np.int64).T
        order = mixed_in(queries[:-n_due], queries[-n_due:], rng)
        places = range(after + 1, after + 1 + order.size)
        cursor.execute(PLACE, [entries[order].tolist(), list(places)])


def _drawn(
    judge: Judge, kind: QuestionKind, n: int, queries: list[int], salt: str
) -> list[tuple[int, ...]]:
    """Draw gold, or answered pairs, that this judge is to be asked; those of `queries` first."""
    if not n:
        return []
    values = {
        "campaign": judge.campaign_id,
        "member": judge.member_id,
        "place": judge.last_place - GAP,
        "kind": kind.value,
        "queries": queries,
        "salt": f" {kind.value} {salt}",
        "n": n,
    }
    with prepared_cursor() as cursor:
        cursor.execute(GOLD if kind == QuestionKind.GOLD else ANSWERED, values)
        return list(cursor.fetchall())


def questions_asked_again(campaign: Campaign, wanted: list[Again]) -> list[int]:
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
        batch_size=2000,
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
