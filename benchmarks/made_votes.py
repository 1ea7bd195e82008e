"""Votes that the database makes by itself; judges err in 8 % of them."""

from __future__ import annotations

from django.db import connection, transaction

QUEUE = """
insert into annotation_queueentry (member_id, question_id, position, place, stage, state,
    last_uuid, decided_at)
select m.id, q.id, row_number() over mine, row_number() over mine, 'judging', 'done',
    gen_random_uuid(), now()
from annotation_question q join annotation_panelmember m using (campaign_id)
where q.campaign_id = %s
window mine as (partition by m.id order by q.id)
on conflict (member_id, question_id) do update
set state = 'done', last_uuid = excluded.last_uuid, decided_at = excluded.decided_at
"""
# takes the percentage of similar pairs, and the campaign
EVENTS = """
insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode, device,
    guideline_version, decided_at, received_at, visible_ms, load_ms)
select e.last_uuid, q.id, m.id,
    case when (abs(hashtext(q.id::text) %% 100) < %s)
           <> (abs(hashtext(q.id::text || '-' || m.number::text) %% 100) < 8)
         then 'similar' else 'different' end,
    '', 'pair', 'keyboard', 1, e.decided_at, e.decided_at, 900, 0
from annotation_queueentry e join annotation_question q on q.id = e.question_id
join annotation_panelmember m on m.id = e.member_id
where q.campaign_id = %s
"""
JUDGEMENTS = """
insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
select e.question_id, e.member_id, e.id, e.answer, false
from annotation_judgementevent e join annotation_question q on q.id = e.question_id
where q.campaign_id = %s
"""


def judge_all(campaign_id: int, percent_similar: int) -> None:
    """Let every judge answer every question, whether a queue was drawn or not."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(QUEUE, [campaign_id])
        cursor.execute(EVENTS, [percent_similar, campaign_id])
        cursor.execute(JUDGEMENTS, [campaign_id])
