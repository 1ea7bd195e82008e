"""Lend pairs to judges when k of n judge each pair, and take back what is not answered.

Claiming never waits for another judge (SKIP LOCKED); that only k votes count is settled when an
answer arrives, under the question's lock, so a lease is an optimisation and not a guarantee.
A judge's leases grow by whole requests and are renewed with each, so a judge at work keeps them.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.models import Stage
from annotation.order.shared_order import MORE, own_order, whole_queries
from annotation.queries.judges import Judge, find_judge
from annotation.queries.next_questions import WINDOW
from annotation.queries.prepared import prepared_cursor
from annotation.services.controls import batch_order, batch_size

MAX_HELD = 96  # pairs lent to one judge at once
AT_ONCE = WINDOW  # pairs lent at least, so that most requests find enough
MAX_HELD_BEFORE = 2 * WINDOW  # questions held by a judge who is lent a batch of `controls`

# Of a judge who has been lent thousands of pairs since the statistics were made, the database
# thinks to have none, and may read them all. So RENEW finds what is open first, and CLAIM
# ("offset 0") looks each pair up alone that may be lent.
RENEW = """
update annotation_queueentry set lease_until = %(until)s
where member_id = %(member)s and question_id = any(array(
        select question_id from annotation_queueentry
        where member_id = %(member)s and state = 'open'))
  and state = 'open' and lease_until is not null
"""
HELD = """
select count(*), count(*) filter (where place > %s), (
    select c.repeat_percent > 0 or c.mirror_percent > 0 or exists (
        select from annotation_question g where g.campaign_id = c.id and g.kind = 'gold')
    from annotation_campaign c where c.id = %s
)
from annotation_queueentry where member_id = %s and state = 'open' and stage = 'judging'
"""
CLAIM = """
select q.id, q.position, q.query_id from annotation_question q
where q.campaign_id = %s and q.is_free and q.position > %s and q.id <> all(%s::bigint[])
  and not exists (select from annotation_queueentry e
                  where e.member_id = %s and e.question_id = q.id and e.state <> 'expired'
                  offset 0)
order by q.position limit {n}
for no key update skip locked
"""
LEND = """
with lent as (
    insert into annotation_queueentry
        (member_id, question_id, position, place, stage, state, lease_until)
    select %(member)s, question, %(last_place)s + number, %(last_place)s + number, 'judging',
           'open', %(until)s
    from unnest(%(questions)s::bigint[]) with ordinality as x(question, number)
    on conflict (member_id, question_id) do update
    set state = 'open', place = excluded.place, lease_until = excluded.lease_until
    where annotation_queueentry.state = 'expired'
    returning (xmax = 0) as is_new
), taken as (
    update annotation_question set n_free = n_free - 1
    where id = any(%(questions)s::bigint[]) and kind = 'pair'
)
update annotation_panelmember
set last_place = last_place + %(n)s, claimed_to = %(claimed_to)s,
    n_total = n_total + (select count(*) from lent where is_new)
where id = %(member)s
"""
EXPIRE = """
with late as (
    select e.member_id, e.question_id from annotation_queueentry e
    join annotation_question q on q.id = e.question_id
    where e.state = 'open' and e.lease_until < %s and (%s::bigint is null or q.campaign_id = %s)
    order by e.question_id, e.member_id
    for no key update of e, q skip locked
), closed as (
    update annotation_queueentry e set state = 'expired', lease_until = null
    from late where e.member_id = late.member_id and e.question_id = late.question_id
), returned as (
    select question_id, count(*) as n from late group by question_id
)
update annotation_question q
set n_free = case when q.is_settled then 0
                  else least(q.n_free + returned.n, greatest(0, c.k - q.n_counted)) end
from returned, annotation_campaign c
where q.id = returned.question_id and c.id = q.campaign_id and q.kind = 'pair'
returning returned.n
"""


class FreePair(NamedTuple):
    """A pair that wants votes: its question, its place in the shared order, its query."""

    question: int
    position: int
    query: int


@transaction.atomic
def claim_questions(
    *, campaign_uid: uuid.UUID, annotator_id: int, n_wanted: int, after: int = 0
) -> int:
    """Lend a judge pairs until `n_wanted` open ones lie behind place `after`; return how many.

    What the judge holds is renewed. Nothing is lent while the campaign is not open or the judge
    is still in training, nor more than `MAX_HELD` at once. Where the campaign checks its judges,
    a whole batch is lent, in which nothing tells the controls (`annotation.services.controls`).

    Raises:
        NotOnPanelError: as `find_judge`.
    """
    judge = find_judge(campaign_uid, annotator_id, locked=True)
    if not judge.is_leased or judge.refusal is not None or judge.stage != Stage.JUDGING:
        return 0
    until = timezone.now() + timedelta(minutes=judge.lease_minutes)
    with prepared_cursor() as cursor:
        cursor.execute(RENEW, {"until": until, "member": judge.member_id})
        cursor.execute(HELD, [after, judge.campaign_id, judge.member_id])
        [(n_held, n_ahead, has_controls)] = cursor.fetchall()
    if has_controls:
        return _lend_batch(judge, until) if n_ahead < n_wanted and n_held < MAX_HELD_BEFORE else 0
    if n_ahead >= n_wanted or n_held >= MAX_HELD:
        return 0
    free = _free_pairs(judge, min(max(n_wanted - n_ahead, AT_ONCE), MAX_HELD - n_held))
    if free:
        rng = np.random.default_rng([judge.seed, judge.number, judge.last_place])
        order = own_order([pair.query for pair in free], rng).tolist()
        _lend(judge, [free[at].question for at in order], free, until)
    return len(free)


def _lend_batch(judge: Judge, until: datetime) -> int:
    """Lend some whole queries with their controls; return how many pairs."""
    size = batch_size(judge.campaign_id)
    free = _free_pairs(judge, size + MORE)
    free = free[: whole_queries([pair.query for pair in free], size)]
    if free:
        asked = batch_order(judge=judge, claimed=[pair.question for pair in free])
        _lend(judge, asked, free, until)
    return len(free)


def reap_leases(*, campaign_id: int | None = None) -> int:
    """Offer again the pairs whose lease ran out; an answer that comes later is still taken.

    Rows that somebody holds are left for the next time. May run twice at once.
    """
    with prepared_cursor() as cursor:
        cursor.execute(EXPIRE, [timezone.now(), campaign_id, campaign_id])
        return sum(n for (n,) in cursor.fetchall())


def _free_pairs(judge: Judge, n: int) -> list[FreePair]:
    """Return the pairs to lend next, in the shared order, and hold them."""
    free = _find_free(judge, judge.claimed_to - 1, [], n)
    if len(free) < n:  # the end: look again for what came back meanwhile
        reap_leases(campaign_id=judge.campaign_id)
        free += _find_free(judge, -1, [pair.question for pair in free], n - len(free))
    return free


def _find_free(judge: Judge, beyond: int, without: list[int], n: int) -> list[FreePair]:
    with prepared_cursor() as cursor:
        statement = CLAIM.format(n=int(n))
        cursor.execute(statement, [judge.campaign_id, beyond, without, judge.member_id])
        return [FreePair(*row) for row in cursor.fetchall()]


def _lend(judge: Judge, questions: list[int], pairs: list[FreePair], until: datetime) -> None:
    """Lend questions, `pairs` among them, in this order."""
    with prepared_cursor() as cursor:
        cursor.execute(
            LEND,
            {
                "member": judge.member_id,
                "questions": questions,
                "n": len(questions),
                "last_place": judge.last_place,
                "claimed_to": max(judge.claimed_to, *(pair.position + 1 for pair in pairs)),
                "until": until,
            },
        )
