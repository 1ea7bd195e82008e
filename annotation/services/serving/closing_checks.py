"""Where pairs close early, checks leave the queues with them, so that few are left behind.

Gold, repeats and mirrored pairs leave by chance, as often as a further pair of their visit would,
so that their share of what is left is that of the whole queue, which tells nothing of them
(`docs/simulations/control_classifier.py`). If a repeat left with its own pair instead, a judge who
has answered that pair would be left with too many repeats, or too few. And if a check always left
with the last pair of its visit, whatever stands alone would be no check.

Who is left without any pair is not asked checks alone. Transactions that close pairs of a campaign
with checks look at them one after the other, so that none misses what another has just closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.models import EntryState
from annotation.order.closing import chance_to_move
from annotation.queries.judges import CountingRules
from annotation.queries.prepared import prepared_cursor
from annotation.services.controls import PAIR_BLOCK

Entries = Sequence[tuple[int, int]]  # (member, question)

# A visit is what follows each other in a judge's queue of one query.
# For each check in a visit of which pairs have moved: how many, how many are there now, and gone.
# Rows that somebody holds are left: their answer is on its way.
CHECKS = """
with moved as (
    select g.member_id, g.question_id, q.{block} as block
    from unnest(%(members)s::bigint[], %(questions)s::bigint[]) as g(member_id, question_id)
    join annotation_question q on q.id = g.question_id
), visits as (
    select e.member_id, e.question_id, e.state, q.kind, b.block,
           e.place - row_number() over (partition by b.member_id, b.block order by e.place) as visit
    from (select distinct member_id, block from moved) b
    join annotation_question q on q.campaign_id = %(campaign)s and q.{block} = b.block
    join annotation_queueentry e on e.question_id = q.id and e.member_id = b.member_id
    where e.stage = 'judging'
), shares as (
    select member_id, block, visit,
           count(*) filter (where kind = 'pair' and state = any(%(here)s)) as n_here,
           count(*) filter (where kind = 'pair' and state = 'settled') as n_gone,
           count(*) filter (where (member_id, question_id)
                                  in (select member_id, question_id from moved)) as n_moved
    from visits group by member_id, block, visit
)
select e.member_id, e.question_id, n_moved, n_here, n_gone
from visits join shares using (member_id, block, visit)
join annotation_queueentry e using (member_id, question_id)
where n_moved > 0 and visits.kind <> 'pair' and e.state = %(state)s
order by e.member_id, e.question_id for update of e skip locked
"""
# Of choices the whole queue is one visit: counted, not sorted, as each answer runs this.
CHECKS_OF_CHOICES = """
with moved as (
    select member_id, count(*) as n_moved
    from unnest(%(members)s::bigint[], %(questions)s::bigint[]) as g(member_id, question_id)
    group by member_id
), checks as (
    select e.member_id, e.question_id
    from moved join annotation_queueentry e using (member_id)
    join annotation_question q on q.id = e.question_id
    where q.campaign_id = %(campaign)s and q.kind <> 'pair'
      and e.stage = 'judging' and e.state = %(state)s
), shares as (
    select member_id, n_moved, (
               select count(*) from annotation_queueentry e where e.member_id = moved.member_id
               and e.stage = 'judging' and e.state = %(state)s
           ) - count(*) as n_left
    from moved join checks using (member_id) group by member_id, n_moved
)
select e.member_id, e.question_id, n_moved, n_left
from checks join shares using (member_id)
join annotation_queueentry e using (member_id, question_id)
where e.state = %(state)s order by e.member_id, e.question_id for update of e skip locked
"""
MOVE = """
update annotation_queueentry e set state = %s, lease_until = null
from unnest(%s::bigint[], %s::bigint[]) as moved(member_id, question_id)
where e.member_id = moved.member_id and e.question_id = moved.question_id
"""
# Those of the judges who have no pair left.
ALONE = """
select e.member_id, e.question_id
from unnest(%s::bigint[]) as m(id) join annotation_queueentry e on e.member_id = m.id
where e.state = 'open' and e.stage = 'judging' and not exists (
    select from annotation_queueentry o join annotation_question q on q.id = o.question_id
    where o.member_id = m.id and o.state = 'open' and q.kind = 'pair')
order by e.member_id, e.question_id for update of e skip locked
"""
ONE_BY_ONE = "select pg_advisory_xact_lock(hashtextextended('closing checks', %s))"
HAS_CHECKS = """
select exists (select from annotation_question
               where campaign_id = %s and kind in ('gold', 'repeat', 'mirror'))
"""


def release_checks(rules: CountingRules, pairs: Entries) -> None:
    """Take out of the queues what checks judges beside pairs that have just left them."""
    if not _looks(rules, pairs):
        return
    _move(rules, pairs, EntryState.OPEN, EntryState.SETTLED)
    with prepared_cursor() as cursor:
        cursor.execute(ALONE, [sorted({member for member, _ in pairs})])
        _set(EntryState.SETTLED, cursor.fetchall())


def return_checks(rules: CountingRules, pairs: Entries) -> None:
    """Ask again what left with pairs that are asked again; where pairs are lent, offer it again."""
    back = EntryState.EXPIRED if rules.is_leased else EntryState.OPEN
    if _looks(rules, pairs):
        _move(rules, pairs, EntryState.SETTLED, back)


def _looks(rules: CountingRules, pairs: Entries) -> bool:
    """Return whether the campaign has checks that may have to move; wait for who is at it."""
    if not pairs:
        return False
    with prepared_cursor() as cursor:
        cursor.execute(HAS_CHECKS, [rules.campaign_id])
        if cursor.fetchall() == [(False,)]:
            return False
        cursor.execute(ONE_BY_ONE, [rules.campaign_id])
    return True


def _move(rules: CountingRules, pairs: Entries, before: EntryState, after: EntryState) -> None:
    members, questions = map(list, zip(*pairs, strict=True))
    values = {
        "members": members, "questions": questions, "campaign": rules.campaign_id,
        "state": before, "here": list({EntryState.OPEN, after} - {EntryState.SETTLED}),
    }  # fmt: skip
    rng = np.random.default_rng([rules.campaign_id, *sorted(set(questions))])
    with prepared_cursor() as cursor:
        if rules.kind.is_choice:
            cursor.execute(CHECKS_OF_CHOICES, values)
            chances = [
                ((member, question), n_moved / (n_moved + n_left))
                for member, question, n_moved, n_left in cursor.fetchall()
            ]
        else:
            cursor.execute(CHECKS.format(block=PAIR_BLOCK), values)
            is_leaving = after == EntryState.SETTLED
            chances = [
                ((member, question), chance_to_move(*counts, is_leaving=is_leaving))
                for member, question, *counts in cursor.fetchall()
            ]
    _set(after, [entry for entry, chance in chances if rng.random() < chance])


def _set(state: EntryState, entries: Entries) -> None:
    if entries:
        members, questions = map(list, zip(*entries, strict=True))
        with prepared_cursor() as cursor:
            cursor.execute(MOVE, [state, members, questions])
