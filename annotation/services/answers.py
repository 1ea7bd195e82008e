"""Take a judge's answers: each once, in one transaction, whatever the network did to them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotation.answering.register import (
    Outcome,
    Register,
    StoredEvent,
    change_of_done,
    fold,
    is_vote,
)
from annotation.answering.submissions import RejectedError, Submission
from annotation.models import Gold, QuestionKind, Stage
from annotation.queries.judges import Judge, find_judge
from annotation.queries.next_questions import WINDOW, AskedQuestion
from annotation.queries.prepared import prepared_cursor
from annotation.services.counted_votes import count_votes, lock_questions, surplus_questions
from annotation.services.serving.first_answers import record_first_answer
from annotation.services.serving.stages import advance

FIND_ENTRIES = """
select q.uid, q.kind, e.stage, q.id, e.place, e.state = 'done',
       case when v.answer = 'withdrawn' then '' else coalesce(v.answer, '') end,
       e.last_uuid, e.decided_at
from annotation_question q
join annotation_queueentry e on e.question_id = q.id and e.member_id = %s
left join annotation_judgementevent v on v.uuid = e.last_uuid
where q.uid = any(%s::uuid[])
"""

FIND_EVENTS = """
select uuid, member_id, question_id, answer, undoes
from annotation_judgementevent where uuid = any(%s::uuid[])
"""

# One statement writes everything, so that an answer costs one round trip and one commit.
WRITE = """
with given as (
    select * from jsonb_to_recordset(%(events)s::jsonb) as x(
        uuid uuid, question_id bigint, answer text, reason text, mode text, device text,
        guideline_version int, undoes uuid, shown_at timestamptz, decided_at timestamptz,
        visible_ms int, load_ms int)
), event as (
    insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode,
        device, guideline_version, undoes, shown_at, decided_at, received_at, visible_ms, load_ms)
    select uuid, question_id, %(member)s, answer, reason, mode, device, guideline_version, undoes,
        shown_at, decided_at, %(now)s, visible_ms, load_ms
    from given
    returning id, uuid
), changed as (
    select * from jsonb_to_recordset(%(registers)s::jsonb) as x(
        question_id bigint, place bigint, is_done boolean, answer text, last_uuid uuid,
        decided_at timestamptz, is_surplus boolean)
), removed as (
    delete from annotation_judgement j using changed
    where j.member_id = %(member)s and j.question_id = changed.question_id and not changed.is_done
), kept as (
    insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
    select question_id, %(member)s, event.id, answer, is_surplus
    from changed join event on event.uuid = changed.last_uuid
    where is_done
    on conflict (question_id, member_id) do update
    set event_id = excluded.event_id, answer = excluded.answer, is_surplus = excluded.is_surplus,
        is_excluded = false
), moved as (
    update annotation_queueentry e
    set place = changed.place, last_uuid = changed.last_uuid, decided_at = changed.decided_at,
        state = case when changed.is_done then 'done' when e.state = 'done' then 'open'
                else e.state end,
        lease_until = case when not changed.is_done and e.state in ('open', 'done')
                      then %(lease_until)s::timestamptz end
    from changed where e.member_id = %(member)s and e.question_id = changed.question_id
)
update annotation_panelmember
set n_done = n_done + %(grown)s, last_place = %(last_place)s
where id = %(member)s
returning n_done
"""


@dataclass(frozen=True)
class Receipt:
    """What to reply: one result per answer, and how far the judge has come.

    `feedback` holds question, expected answer and reason of training questions, by UUID. `asked`
    are the next questions where they came with the answer, None where they are yet to be read.
    """

    judge: Judge
    results: list[str | RejectedError]
    feedback: dict[uuid.UUID, tuple[uuid.UUID, str, str]]
    n_done: int
    asked: list[AskedQuestion] | None = None


@dataclass(frozen=True)
class Entry:
    """A served question: its register, and why it is asked."""

    register: Register
    kind: str
    stage: str


def record_answers(
    *,
    campaign_uid: uuid.UUID,
    annotator_id: int,
    submissions: Sequence[tuple[uuid.UUID, Submission | RejectedError]],
    wanted: tuple[int, int] | None = None,
) -> Receipt:
    """Store a judge's answers and return what became of each.

    A judge's own submissions are taken one after the other (the judge's row is locked), so two
    tabs and repeated requests cannot cross; different judges do not wait for each other unless
    the campaign counts votes, and then only on the same question.

    Args:
        campaign_uid: which campaign, as the URL names it.
        annotator_id: who is signed in.
        submissions: as `annotation.answering.submissions.read_batch` returns them.
        wanted: the next questions, those behind a place and how many, to be read at once where
            that costs nothing.

    Raises:
        NotOnPanelError: no such campaign, it is a draft, or the person is not on its panel.
    """
    answers = [submission for _, submission in submissions]
    if len(answers) == 1 and isinstance(answers[0], Submission):
        after, n = wanted or (0, 0)
        taken = record_first_answer(
            campaign_uid=campaign_uid,
            annotator_id=annotator_id,
            given=answers[0],
            after=after,
            n=min(n, WINDOW),
        )
        if taken is not None:
            asked = None if wanted is None else taken.asked
            return Receipt(taken.judge, ["saved"], {}, taken.n_done, asked)
    return _record(campaign_uid, annotator_id, submissions)


@transaction.atomic
def _record(
    campaign_uid: uuid.UUID,
    annotator_id: int,
    submissions: Sequence[tuple[uuid.UUID, Submission | RejectedError]],
) -> Receipt:
    """Take answers of any kind: look, fold, write."""
    judge = find_judge(campaign_uid, annotator_id, locked=True)
    entries = _entries(judge, [s for _, s in submissions if isinstance(s, Submission)])
    now = timezone.now()
    outcome = fold(
        [submission for _, submission in submissions],
        served={uid: entry.register for uid, entry in entries.items()},
        stored=_stored_events([key for key, _ in submissions]),
        member_id=judge.member_id,
        last_place=judge.last_place,
        guideline_version=max(judge.read_version, 1),
        closed=judge.refusal,
        now=now,
    )
    if not outcome.events:
        return Receipt(judge, outcome.results, {}, judge.n_done)
    before = {entry.register.question_id: entry for entry in entries.values()}
    counted = [
        question
        for question in outcome.registers
        if judge.counts_votes and before[question].kind == QuestionKind.PAIR
    ]
    lock_questions(counted)
    surplus = surplus_questions(judge, counted)
    grown = change_of_done((before[q].register for q in outcome.registers), outcome)
    n_done = _write(judge, outcome, grown, surplus, now)
    count_votes(judge, counted, member_id=judge.member_id)
    answered = {register.question_id for _, register in outcome.events}
    if judge.stage != Stage.JUDGING and any(before[q].stage == judge.stage for q in answered):
        judge = replace(judge, stage=advance(member_id=judge.member_id))
    return Receipt(judge, outcome.results, _feedback(outcome, before), n_done)


def _entries(judge: Judge, answers: Iterable[Submission]) -> dict[uuid.UUID, Entry]:
    """Return the judge's entries that the answers name, by question uid."""
    with prepared_cursor() as cursor:
        cursor.execute(FIND_ENTRIES, [judge.member_id, [answer.question for answer in answers]])
        return {
            uid: Entry(Register(*register), kind, stage)
            for uid, kind, stage, *register in cursor.fetchall()
        }


def _stored_events(keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, StoredEvent]:
    with prepared_cursor() as cursor:
        cursor.execute(FIND_EVENTS, [list(keys)])
        return {key: StoredEvent(*rest) for key, *rest in cursor.fetchall()}


def _write(judge: Judge, outcome: Outcome, grown: int, surplus: set[int], now: datetime) -> int:
    """Store events, judgements, queue and counter; return how many questions are answered."""
    events = [
        vars(submission) | {"question_id": register.question_id}
        for submission, register in outcome.events
    ]
    registers = [
        vars(register) | {"is_surplus": question in surplus and is_vote(register.answer)}
        for question, register in outcome.registers.items()
    ]
    lease = now + timedelta(minutes=judge.lease_minutes) if judge.is_leased else None
    with prepared_cursor() as cursor:
        cursor.execute(
            WRITE,
            {
                "events": json.dumps(events, default=str),
                "registers": json.dumps(registers, default=str),
                "member": judge.member_id,
                "now": now,
                "lease_until": lease,
                "grown": grown,
                "last_place": outcome.last_place,
            },
        )
        [(n_done,)] = cursor.fetchall()
        return int(n_done)


def _feedback(
    outcome: Outcome, entries: Mapping[int, Entry]
) -> dict[uuid.UUID, tuple[uuid.UUID, str, str]]:
    """Return what training tells the judge; nothing for any other question."""
    asked = {
        register.question_id: submission
        for submission, register in outcome.events
        if entries[register.question_id].kind == QuestionKind.TRAINING
        and is_vote(submission.answer)
    }
    if not asked:
        return {}
    golds = Gold.objects.filter(question_id__in=asked)
    return {
        asked[gold.question_id].uuid: (asked[gold.question_id].question, gold.answer, gold.why)
        for gold in golds
    }
