"""The common step, in one statement: a first answer to a question of a fixed queue.

Nineteen in twenty answers are the first to their question, come alone, and belong to a campaign
in which everyone judges every pair. They need no look before the write: the statement finds
the judge, the question and the campaign's state by itself, and writes nothing if anything is
not as it should be. Then `record_answers` takes the answer the long way, and says why.
"""

from __future__ import annotations

import uuid
from contextlib import nullcontext

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.queries.hot import prepared_cursor
from annotation.queries.judges import JUDGE_COLUMNS, Judge
from annotation.register import FINAL
from annotation.submissions import Submission

# The judge's row is locked first, as the long way does, so that two tabs cannot deadlock. An
# entry that another tab has just answered is seen anew by the update, and no longer matches.
RECORD = f"""
with judge as materialized (
    select {JUDGE_COLUMNS}
    from annotation_panelmember m join annotation_campaign c on c.id = m.campaign_id
    where c.uid = %(campaign)s and m.annotator_id = %(annotator)s and m.is_active
      and c.state = 'open' and c.serving = 'everyone' and not c.closes_settled
      and m.stage = 'judging' and c.guideline_version >= %(guideline_version)s
    for no key update of m
), moved as (
    update annotation_queueentry e
    set state = 'done', last_uuid = %(uuid)s, decided_at = %(decided_at)s
    from judge, annotation_question q
    where q.uid = %(question)s and e.question_id = q.id and e.member_id = judge.member_id
      and e.state = 'open' and e.last_uuid is null and e.stage = 'judging'
    returning e.question_id, e.member_id
), event as (
    insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode,
        device, guideline_version, shown_at, decided_at, received_at, visible_ms, load_ms)
    select %(uuid)s, question_id, member_id, %(answer)s, %(reason)s, %(mode)s, %(device)s,
        %(guideline_version)s, %(shown_at)s, %(decided_at)s, %(now)s, %(visible_ms)s, %(load_ms)s
    from moved
    returning id, question_id, member_id
), kept as (
    insert into annotation_judgement (question_id, member_id, event_id, answer, is_surplus)
    select question_id, member_id, id, %(answer)s, false from event
)
update annotation_panelmember m set n_done = m.n_done + 1
from moved, judge where m.id = moved.member_id
returning judge.*, m.n_done
"""  # noqa: S608  (the columns are a constant)


def record_first_answer(
    *, campaign_uid: uuid.UUID, annotator_id: int, given: Submission
) -> tuple[Judge, int] | None:
    """Store an answer if it is the first to its question; return the judge and the new count.

    Returns:
        None if anything stands in the way; then nothing was stored.
    """
    if given.answer not in FINAL:
        return None
    now = timezone.now()
    decided_at = min(given.decided_at, now)
    values = {
        **vars(given),
        "campaign": campaign_uid,
        "annotator": annotator_id,
        "decided_at": decided_at,
        "shown_at": min(given.shown_at, decided_at),
        "now": now,
    }
    try:
        # one statement is a transaction; inside another one it needs a savepoint to fail alone
        whole = transaction.atomic() if connection.in_atomic_block else nullcontext()
        with whole, prepared_cursor() as cursor:
            cursor.execute(RECORD, values)
            row = cursor.fetchone()
    except IntegrityError:  # the UUID belongs to another answer
        return None
    return None if row is None else (Judge(*row[:-1]), row[-1])
