"""Take judgements that were made elsewhere, all of them or none."""

from __future__ import annotations

import uuid
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
    QuestionKind,
    QueueEntry,
    Serving,
)
from annotation.models.choices import NO_VOTES, VOTES
from annotation.queries.judges import counting_rules
from annotation.services.counted_votes import count_votes, lock_panel, lock_questions
from audit.actions import Action
from audit.services import record

REASONS = ("", "bad_image", "not_comparable", "unsure", "policy")
MANY = 1000  # rows, after which the planner is told


class ImportedJudgement(NamedTuple):
    """One row: image ids, user id, the answer, and a reason for a skip.

    What is known of when and how it was given may follow; else it counts as given now, under
    the guidelines in force. `kind` may be that of a repeat or of a mirrored pair, whose question
    is made if the campaign asks the pair itself; of a mirrored pair the images are as shown.
    """

    query_id: int
    candidate_id: int
    annotator_id: int
    answer: str
    reason: str = ""
    decided_at: datetime | None = None
    visible_ms: int = 0
    guideline_version: int | None = None
    kind: str = QuestionKind.PAIR.value


class ImportRefusedError(CampaignError):
    """Some rows cannot be taken; `problems` holds (index of the row, why) for each."""

    def __init__(self, problems: Sequence[tuple[int, str]]) -> None:
        super().__init__(f"{len(problems)} rows cannot be taken, the first: {problems[0][1]}")
        self.problems = list(problems)


class ImportCounts(NamedTuple):
    """How many judgements are new, and how many were there already with the same answer."""

    n_imported: int
    n_unchanged: int


N_GIVEN = len(ImportedJudgement._fields) - len(ImportedJudgement._field_defaults)
SORT_IN_MEMORY = "set local work_mem = '64MB'"
TABLE = """
drop table if exists pg_temp.given, pg_temp.imported;
create temporary table given (
    row int, query_id bigint, candidate_id bigint, annotator_id bigint, answer text, reason text,
    decided_at timestamptz, visible_ms int, guideline_version int, kind text
) on commit drop
"""
AGAIN = """
insert into annotation_question (uid, campaign_id, kind, query_id, candidate_id, original_id,
                                 subject, position, phase, n_counted, n_free, is_settled)
select gen_random_uuid(), q.campaign_id, g.kind, g.query_id, g.candidate_id, q.id, q.subject,
       0, 0, 0, 0, false
from (select distinct kind, query_id, candidate_id from given
      where kind in ('repeat', 'mirror')) g
join annotation_question q on q.campaign_id = %s and q.kind = 'pair'
     and q.query_id = case g.kind when 'mirror' then g.candidate_id else g.query_id end
     and q.candidate_id = case g.kind when 'mirror' then g.query_id else g.candidate_id end
order by q.id, g.kind on conflict do nothing
"""
# What is new has its event's id from the beginning, in the order of the rows. UUIDs of one import
# differ in their last digits, so that their index grows at one place.
MATCH = """
create temporary table imported on commit drop as
select matched.*, (%(prefix)s || lpad(to_hex(row), 8, '0'))::uuid as uuid,
    case when existing is null then nextval(%(sequence)s::regclass) end as event_id
from (
    select g.*, q.id as question_id, m.id as member_id, j.answer as existing
    from given g
    left join annotation_question q on q.campaign_id = %(campaign)s and q.kind = g.kind
         and q.query_id = g.query_id and q.candidate_id = g.candidate_id
    left join annotation_panelmember m on m.campaign_id = %(campaign)s
         and m.annotator_id = g.annotator_id
    left join annotation_judgement j on j.question_id = q.id and j.member_id = m.id
    order by g.row
) matched
"""
PROBLEMS = """
select row, case
    when answer <> all(%(answers)s::text[]) then 'the answer “' || answer || '” is none of: '
                                         || array_to_string(%(answers)s::text[], ', ')
    when reason <> all(%(reasons)s::text[]) then 'the reason “' || reason || '” is not known'
    when reason <> '' and answer not in ('skip', 'cant_tell')
        then '“' || answer || '” takes no reason'
    when member_id is null then 'the annotator is not on the panel'
    when question_id is null then 'the pair is not in the campaign'
    when row > first then 'the annotator has judged this pair in an earlier row'
    else 'the annotator has judged this pair already, as “' || existing || '”' end
from imported left join (
    select question_id, member_id, min(row) as first from imported
    group by question_id, member_id having count(*) > 1
) repeated using (question_id, member_id)
where answer <> all(%(answers)s::text[]) or reason <> all(%(reasons)s::text[])
   or (reason <> '' and answer not in ('skip', 'cant_tell'))
   or member_id is null or question_id is null or row > first or existing <> answer
order by row
"""
EVENTS = """
insert into annotation_judgementevent (id, uuid, question_id, member_id, answer, reason, mode,
    device, guideline_version, decided_at, received_at, visible_ms, load_ms)
select event_id, uuid, question_id, member_id, answer, reason, 'import', '',
       coalesce(guideline_version, %s), least(coalesce(decided_at, now()), now()), now(),
       visible_ms, 0
from imported where event_id is not null order by event_id
"""
JUDGEMENTS = """
insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
select question_id, member_id, event_id, answer, {is_surplus}
from imported i where event_id is not null order by event_id
"""
BEYOND_K = """
answer ~ '^(similar|different)'
and (select count(*) from annotation_judgement j
     where j.question_id = i.question_id and j.is_counted)
    + row_number() over (partition by question_id, answer ~ '^(similar|different)'
                         order by row) > %(k)s
"""
ANSWERED = """
update annotation_queueentry q
set state = 'done', lease_until = null, last_uuid = i.uuid,
    decided_at = least(coalesce(i.decided_at, now()), now())
from imported i
where q.member_id = i.member_id and q.question_id = i.question_id and i.event_id is not null
"""
QUEUE = """
with placed as (
    select i.*, m.last_place + row_number() over (partition by i.member_id order by i.row) as at
    from imported i join annotation_panelmember m on m.id = i.member_id
    where i.event_id is not null
)
insert into annotation_queueentry
    (member_id, question_id, position, place, stage, state, last_uuid, decided_at)
select p.member_id, p.question_id, p.at, p.at, 'judging', 'done', p.uuid,
       least(coalesce(p.decided_at, now()), now())
from placed p
where not exists (select from annotation_queueentry q
                  where q.member_id = p.member_id and q.question_id = p.question_id)
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
        cursor.execute(SORT_IN_MEMORY)
        cursor.execute(TABLE)
        columns = ("row", *ImportedJudgement._fields)
        defaults = tuple(ImportedJudgement._field_defaults.values())  # a row may end before them
        copy_into(
            "given",
            columns,
            ((index, *row, *defaults[len(row) - N_GIVEN :]) for index, row in enumerate(rows)),
        )
        if len(rows) >= MANY:  # else the planner takes them for a thousand
            cursor.execute("analyze given")
        cursor.execute(AGAIN, [campaign.pk])
        _match(campaign)
        answers = [*(campaign.kind.scale.answers if campaign.kind.scale else VOTES), *NO_VOTES]
        cursor.execute(PROBLEMS, {"answers": answers, "reasons": list(REASONS)})
        problems = cursor.fetchall()
        if problems:
            raise ImportRefusedError(problems)
        n_imported = _store(campaign)
    record(None, Action.JUDGEMENTS_IMPORTED, campaign, n_new=n_imported, n_rows=len(rows))
    if n_imported >= MANY:
        refresh_statistics(JudgementEvent, Judgement, QueueEntry)
    return ImportCounts(n_imported, len(rows) - n_imported)


def _match(campaign: Campaign) -> None:
    """Find the question and the judge of each row, and what they have answered already."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_get_serial_sequence('annotation_judgementevent', 'id')")
        [(sequence,)] = cursor.fetchall()
        ours = {"campaign": campaign.pk, "prefix": uuid.uuid4().hex[:-8], "sequence": sequence}
        cursor.execute(MATCH, ours)


def _store(campaign: Campaign) -> int:
    """Write what is new in the temporary table; return how many judgements that is."""
    rules = counting_rules(campaign)
    with connection.cursor() as cursor:
        cursor.execute(ANSWERED)
        cursor.execute(QUEUE)
        cursor.execute(EVENTS, [campaign.guideline_version])  # of entries that are there
        n_imported = int(cursor.rowcount)
        touched = []
        if rules.counts_votes:
            cursor.execute(
                "select distinct question_id from imported where event_id is not null order by 1"
            )
            touched = [question for (question,) in cursor.fetchall()]
            lock_questions(touched)
        is_surplus = BEYOND_K if campaign.serving == Serving.K_OF_N else "false"
        cursor.execute(JUDGEMENTS.format(is_surplus=is_surplus), {"k": campaign.k})
        cursor.execute(MEMBERS, [campaign.pk])
    count_votes(rules, touched)
    return n_imported
