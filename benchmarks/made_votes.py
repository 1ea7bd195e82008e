"""Votes that the database makes by itself; judges err in 8 % of them."""

# takes the percentage of similar pairs, and the campaign
EVENTS = """
insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode, device,
    guideline_version, decided_at, received_at, visible_ms, load_ms)
select gen_random_uuid(), q.id, m.id,
    case when (abs(hashtext(q.id::text) %% 100) < %s)
           <> (abs(hashtext(q.id::text || '-' || m.number::text) %% 100) < 8)
         then 'similar' else 'different' end,
    '', 'pair', 'keyboard', 1, now(), now(), 900, 0
from annotation_question q join annotation_panelmember m using (campaign_id)
where q.campaign_id = %s
"""
JUDGEMENTS = """
insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
select e.question_id, e.member_id, e.id, e.answer, false
from annotation_judgementevent e join annotation_question q on q.id = e.question_id
where q.campaign_id = %s
"""
