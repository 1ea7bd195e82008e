"""Every answer of a campaign's judges and its rulings, as exports to other tools carry them."""

from __future__ import annotations

from typing import NamedTuple

from django.db import connection

from annotation.models import Campaign

# Times are rounded as in a release. A repeated or mirrored pair stands with its original.
ANSWERS = """
select coalesce(o.query_id, q.query_id), coalesce(o.candidate_id, q.candidate_id), q.kind,
       m.annotator_id, j.answer, e.reason, j.is_counted,
       to_char(date_trunc('hour', e.decided_at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI"Z"'),
       least(round(e.visible_ms, -2), 2147483600)::int, e.guideline_version, q.id, m.id
from annotation_judgement j
join annotation_question q on q.id = j.question_id
left join annotation_question o on o.id = q.original_id
join annotation_judgementevent e on e.id = j.event_id
join annotation_panelmember m on m.id = j.member_id
where q.campaign_id = %s and q.kind in ('pair', 'repeat', 'mirror')
order by 1, 2, m.number, q.kind <> 'pair', q.kind, j.event_id
"""
RULINGS = """
select q.query_id, q.candidate_id, r.answer
from annotation_adjudication r join annotation_question q on q.id = r.question_id
where q.campaign_id = %s and q.kind = 'pair' order by 1, 2
"""


class ExportedAnswer(NamedTuple):
    """One answer of one judge; a repeated or mirrored pair stands with its original."""

    query: int
    candidate: int
    kind: str
    judge: int
    answer: str
    reason: str
    is_counted: bool
    decided_at: str
    visible_ms: int
    guideline_version: int
    question: int
    member: int


def exported_answers(campaign: Campaign) -> list[ExportedAnswer]:
    """Return every answer, those of a pair together: by query, candidate and judge."""
    with connection.cursor() as cursor:
        cursor.execute(ANSWERS, [campaign.pk])
        return [ExportedAnswer(*row) for row in cursor.fetchall()]


def exported_rulings(campaign: Campaign) -> list[tuple[int, int, str]]:
    """Return query, candidate and answer of each ruling."""
    with connection.cursor() as cursor:
        cursor.execute(RULINGS, [campaign.pk])
        return list(cursor.fetchall())
