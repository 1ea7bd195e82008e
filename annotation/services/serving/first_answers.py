"""The common step, in one statement: a first answer to a question, and what is asked next.

Nineteen in twenty answers are the first to their question and come alone. They need no look
before the write: the statement finds the judge, the question and the campaign's state by itself,
and writes nothing if anything is not as it should be. Then `record_answers` takes the answer the
long way, and says why.

The same statement reads the next questions, since a round trip more would cost
as much as they do; they are those of the moment before, without the question answered.

When k of n judge, the answer is a vote for a pair that is lent to the judge and wants it. Of the
votes wanted, one more is given and one less is lent, so that `n_free` stays as it is. The last vote
of a pair that others hold as well goes the long way: it leaves their queues, with what checks them.
"""

from __future__ import annotations

import uuid
from contextlib import nullcontext
from functools import lru_cache
from typing import NamedTuple

import psycopg
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.answering.register import is_final, is_vote
from annotation.answering.submissions import Submission
from annotation.models import Serving
from annotation.queries.judges import (
    N_ASKED,
    Judge,
    NotOnPanelError,
    fixed_rules,
    judge_columns,
)
from annotation.queries.next_questions import AskedQuestion, ahead_statement, asked_questions
from annotation.queries.prepared import numbered, prepared_cursor

# The judge's row is locked first and then the question's, as the long way does, so that nobody
# deadlocks. A judge's row that is held (by another tab, or while the campaign is being closed) is
# not waited for: the statement would go on with what it saw of the campaign before. A question's
# row that somebody has just changed is seen anew by lock and update, and may no longer match: an
# entry answered in another tab, a question with its k votes.
JUDGE = """
with judge as materialized (
    select {columns}
    from annotation_panelmember m join annotation_campaign c on c.id = m.campaign_id
    where c.uid = %(campaign)s and m.annotator_id = %(annotator)s and m.is_active
      and not m.is_paused
      and c.state = 'open' and c.serving = '{serving}' and not c.closes_settled
      and m.stage = 'judging' and greatest(m.read_version, 1) >= %(guideline_version)s
    for no key update of m skip locked
)"""
GIVEN = """, moved as (
    update annotation_queueentry e
    set state = 'done', last_uuid = %(uuid)s, decided_at = %(decided_at)s
    from judge, annotation_question q
    where q.uid = %(question)s and e.question_id = q.id and e.member_id = judge.member_id
      and e.state = 'open' and e.last_uuid is null and e.stage = 'judging'
    returning e.question_id, e.member_id
)"""
LENT = """, wanted as materialized (
    select q.id, q.n_counted + 1 >= judge.k as is_last
    from judge join annotation_question q on q.campaign_id = judge.campaign_id
    where q.uid = %(question)s and q.kind = 'pair'
      and q.n_counted < judge.k and not q.is_settled and %(is_vote)s
      and (q.n_counted + 1 < judge.k or not exists (
          select from annotation_queueentry o
          where o.question_id = q.id and o.member_id <> judge.member_id and o.state = 'open'))
    for no key update of q
), moved as (
    update annotation_queueentry e
    set state = 'done', last_uuid = %(uuid)s, decided_at = %(decided_at)s, lease_until = null
    from judge left join wanted on true, annotation_question q
    where q.uid = %(question)s and e.question_id = q.id and e.member_id = judge.member_id
      and e.state = 'open' and e.last_uuid is null and e.stage = 'judging'
      and (q.kind <> 'pair' or wanted.id = q.id and e.lease_until is not null)
    returning e.question_id, e.member_id
), counted as (
    update annotation_question q
    set n_counted = q.n_counted + 1, is_settled = wanted.is_last,
        n_free = case when wanted.is_last then 0 else q.n_free end
    from moved, wanted where q.id = moved.question_id and wanted.id = q.id
)"""
STORE = """, event as (
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
, told as (
    update annotation_panelmember m set n_done = m.n_done + 1
    from moved where m.id = moved.member_id
    returning m.n_done as n_done_now, moved.question_id as answered
)
select ahead.*, told.*, judge.* from judge, told left join lateral ({ahead}) ahead on true
"""
N_AHEAD = 14  # columns


class Stored(NamedTuple):
    """A stored answer: whose, how many they have answered, and what is asked next."""

    judge: Judge
    n_done: int
    asked: list[AskedQuestion]


@lru_cache
def _statement(serving: Serving, n: int) -> tuple[str, tuple[str, ...]]:
    """Return what stores an answer and reads up to `n` questions, and its parameters' names."""
    ahead = ahead_statement(
        n, member="judge.member_id", stage="judge.stage", answered="told.answered"
    )
    way = LENT if serving == Serving.K_OF_N else GIVEN
    judge = JUDGE.format(columns=judge_columns(N_ASKED[serving]), serving=serving)
    return numbered(judge + way + STORE.format(ahead=ahead))


def record_first_answer(
    *, campaign_uid: uuid.UUID, annotator_id: int, given: Submission, after: int = 0, n: int = 0
) -> Stored | None:
    """Store an answer if it is the first to its question.

    Args:
        campaign_uid: which campaign, as the URL names it.
        annotator_id: who is signed in.
        given: the answer.
        after: the next questions are those behind this place.
        n: how many of them to read.

    Returns:
        None if anything stands in the way, a wrong address too; then nothing was stored.
    """
    if not is_final(given.answer):
        return None
    try:
        statement, names = _statement(Serving(fixed_rules(campaign_uid).serving), n)
    except NotOnPanelError:
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
        "is_vote": is_vote(given.answer),
        "after": after,
    }
    try:
        # one statement is a transaction; inside another one it needs a savepoint to fail alone
        whole = transaction.atomic() if connection.in_atomic_block else nullcontext()
        with whole, prepared_cursor(psycopg.RawCursor) as cursor:
            cursor.execute(statement, [values[name] for name in names], binary=True)
            rows = cursor.fetchall()
    except IntegrityError:  # the UUID belongs to another answer
        return None
    if not rows:
        return None
    n_done, _, *columns = rows[0][N_AHEAD:]
    judge = Judge(*columns)
    asked = asked_questions(judge, [row[:N_AHEAD] for row in rows if row[0] is not None])
    return Stored(judge, n_done, asked)
