"""Take judgements that were made elsewhere, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from annotation.bulk import copy_into, refresh_statistics
from annotation.errors import CampaignError
from annotation.models import (
    Campaign,
    CampaignState,
    Judgement,
    JudgementEvent,
    QueueEntry,
    Serving,
)
from annotation.models.choices import NO_VOTES, VOTES
from annotation.queries.judges import counting_rules
from annotation.services.settling import count_votes, lock_panel, lock_questions
from audit.actions import Action
from audit.services import record

REASONS = ("", "bad_image", "not_comparable", "unsure", "policy")
MANY = 1000  # rows, after which the planner is told


class ImportedJudgement(NamedTuple):
    """One row: image ids, user id, the answer, and a reason for a skip.

    What is known of when and how it was given may follow; else it counts as given now, under
    the guidelines in force.
    """

    query_id: int
    candidate_id: int
    annotator_id: int
    answer: str
    reason: str = ""
    decided_at: datetime | None = None
    visible_ms: int = 0
    guideline_version: int | None = None


class ImportRefusedError(CampaignError):
    """Some rows cannot be taken; `problems` holds (index of the row, why) for each."""

    def __init__(self, problems: Sequence[tuple[int, str]]) -> None:
        super().__init__(f"{len(problems)} rows cannot be taken, the first: {problems[0][1]}")
        self.problems = list(problems)


class ImportCounts(NamedTuple):
    """How many judgements are new, and how many were there already with the same answer."""

    n_imported: int
    n_unchanged: int


TABLE = """
drop table if exists pg_temp.imported;
create temporary table imported (
    row int, query_id bigint, candidate_id bigint, annotator_id bigint, answer text, reason text,
    decided_at timestamptz, visible_ms int, guideline_version int,
    question_id bigint, member_id bigint, existing text, event_id bigint
) on commit drop
"""
MATCH = """
update imported i set
    question_id = (select q.id from annotation_question q where q.campaign_id = %(campaign)s
                   and q.query_id = i.query_id and q.candidate_id = i.candidate_id
                   and q.kind = 'pair'),
    member_id = (select m.id from annotation_panelmember m
                 where m.campaign_id = %(campaign)s and m.annotator_id = i.annotator_id)
"""
EXISTING = """
update imported i set existing = j.answer from annotation_judgement j
where j.question_id = i.question_id and j.member_id = i.member_id
"""
PROBLEMS = """
with numbered as (
    select *, min(row) over (partition by query_id, candidate_id, annotator_id) as first
    from imported
)
select row, case
    when answer <> all(%(answers)s::text[]) then 'the answer “' || answer || '” is none of: '
                                         || array_to_string(%(answers)s::text[], ', ')
    when reason <> all(%(reasons)s::text[]) then 'the reason “' || reason || '” is not known'
    when reason <> '' and answer not in ('skip', 'cant_tell')
        then '“' || answer || '” takes no reason'
    when member_id is null then 'the annotator is not on the panel'
    when question_id is null then 'the pair is not in the campaign'
    when row <> first then 'the annotator has judged this pair in an earlier row'
    else 'the annotator has judged this pair already, as “' || existing || '”' end
from numbered
where answer <> all(%(answers)s::text[]) or reason <> all(%(reasons)s::text[])
   or (reason <> '' and answer not in ('skip', 'cant_tell'))
   or member_id is null or question_id is null or row <> first or existing <> answer
order by row
"""
EVENTS = """
with event as (
    insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode,
        device, guideline_version, decided_at, received_at, visible_ms, load_ms)
    select gen_random_uuid(), question_id, member_id, answer, reason, 'import', '',
           coalesce(guideline_version, %s), least(coalesce(decided_at, now()), now()), now(),
           visible_ms, 0
    from imported where existing is null order by row
    returning id, question_id, member_id
)
update imported i set event_id = event.id
from event where event.question_id = i.question_id and event.member_id = i.member_id
"""
JUDGEMENTS = """
insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
select question_id, member_id, event_id, answer,
       %(leased)s and answer ~ '^(similar|different)' and earlier
           + row_number() over (partition by question_id, answer ~ '^(similar|different)'
                                order by row) > %(k)s
from (
    select i.*, (select count(*) from annotation_judgement j
                 where j.question_id = i.question_id and j.is_counted) as earlier
    from imported i where i.event_id is not null
) fresh
order by event_id
"""
QUEUE = """
with placed as (
    select i.*, m.last_place + row_number() over (partition by i.member_id order by i.row) as at
    from imported i join annotation_panelmember m on m.id = i.member_id
    where i.event_id is not null
)
insert into annotation_queueentry
    (member_id, question_id, position, place, stage, state, last_uuid, decided_at)
select p.member_id, p.question_id, p.at, p.at, 'judging', 'done', e.uuid, e.decided_at
from placed p join annotation_judgementevent e on e.id = p.event_id
on conflict (member_id, question_id) do update
set state = 'done', lease_until = null, last_uuid = excluded.last_uuid,
    decided_at = excluded.decided_at
"""
MEMBERS = """
update annotation_panelmember m
set n_done = x.n_done, n_total = x.n_total, last_place = greatest(m.last_place, x.last_place)
from (select member_id, count(*) as n_total, count(*) filter (where state = 'done') as n_done,
             max(place) as last_place
      from annotation_queueentry e join annotation_panelmember p on p.id = e.member_id
      where p.campaign_id = %s group by member_id) x
where m.id = x.member_id
"""


@transaction.atomic
def import_judgements(
    *, campaign: Campaign, rows: Sequence[ImportedJudgement | tuple[int, int, int, str]]
) -> ImportCounts:
    """Store judgements as if their judges had given them here, now; all of them or none.

    A judgement that is there already with the same answer is left alone, so a file may be
    imported twice. When k of n judge, votes after the k-th are kept as surplus.

    Args:
        campaign: opened at least once, and not closed.
        rows: in the order in which they count.

    Raises:
        CampaignError: the campaign is a draft or closed.
        ImportRefusedError: rows name pairs or people that are not in the campaign, answers that
            are not on the list, or contradict each other or what is stored.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.kind.is_choice:
        raise CampaignError(f"{campaign} asks about {campaign.kind.nouns}; import pairs alone.")
    if campaign.state in {CampaignState.DRAFT, CampaignState.CLOSED}:
        raise CampaignError(f"{campaign} is {campaign.get_state_display().lower()}; open it first.")
    with connection.cursor() as cursor:
        lock_panel(campaign.pk)
        cursor.execute(TABLE)
        columns = ("row", *ImportedJudgement._fields)
        copy_into(
            "imported",
            columns,
            ((index, *ImportedJudgement(*row)) for index, row in enumerate(rows)),
        )
        cursor.execute(MATCH, {"campaign": campaign.pk})
        cursor.execute(EXISTING)
        answers = [*(campaign.kind.scale.answers if campaign.kind.scale else VOTES), *NO_VOTES]
        cursor.execute(PROBLEMS, {"answers": answers, "reasons": list(REASONS)})
        problems = cursor.fetchall()
        if problems:
            raise ImportRefusedError(problems)
        n_imported = _store(campaign)
    record(None, Action.JUDGEMENTS_IMPORTED, campaign, n_new=n_imported, n_rows=len(rows))
    if n_imported >= MANY:
        refresh_statistics(Judgement, QueueEntry)
    return ImportCounts(n_imported, len(rows) - n_imported)


def _store(campaign: Campaign) -> int:
    """Write what is new in the temporary table; return how many judgements that is."""
    rules = counting_rules(campaign)
    with connection.cursor() as cursor:
        cursor.execute(EVENTS, [campaign.guideline_version])
        n_imported = int(cursor.rowcount)
        if n_imported >= MANY:  # else the planner may join what follows row by row
            refresh_statistics(JudgementEvent)
        cursor.execute(
            "select distinct question_id from imported where event_id is not null order by 1"
        )
        touched = [question for (question,) in cursor.fetchall()]
        if rules.counts_votes:
            lock_questions(touched)
        leased = campaign.serving == Serving.K_OF_N
        cursor.execute(JUDGEMENTS, {"leased": leased, "k": campaign.k})
        cursor.execute(QUEUE)
        cursor.execute(MEMBERS, [campaign.pk])
    if rules.counts_votes:
        count_votes(rules, touched)
    return n_imported
