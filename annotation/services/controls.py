"""Slip gold, repeats and mirrored pairs into a queue that grows by claims (k of n).

When everyone judges every pair the whole queue is drawn at once (`annotation.visits`); here each
claim mixes into the pairs that it lends what is due of their queries. Nobody knows which pairs a
judge will get, so a control is asked if its query comes, and any of the judge's pairs of that
query is as likely to be the one beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from django.db.models import F

from annotation.models import Campaign, PanelMember, QuestionKind, QueueEntry, Stage
from annotation.ordering import mixed_in
from annotation.queries.judges import Judge
from annotation.queries.prepared import prepared_cursor
from annotation.visits import n_asked_again
from lookalike.core.arrays import Ints

GAP = 20  # answers between a pair and its control
MET_AT = 0.8  # of a judge's share, by when foreign gold is asked: not everybody gets all of it

# Controls are few: counting them by their index spares reading the judge's whole queue.
ASKED = """
select q.kind, count(*) from annotation_question q
join annotation_queueentry e on e.question_id = q.id and e.member_id = %s
where q.campaign_id = %s and q.kind <> 'pair' group by q.kind
"""
# Pairs are asked query by query. What else is asked stands in one block: few references have two.
PAIR_BLOCK, CHOICE_BLOCK = "query_id", "subject * 0"
CLAIMED = """
select e.id, q.{block}, q.position from annotation_queueentry e
join annotation_question q on q.id = e.question_id
where e.member_id = %s and e.place > %s order by e.place
"""
# Of each query that has been claimed: how many of its pairs the shared order holds from there on.
REMAINING = """
select q.{block}, count(*) from annotation_question q
join unnest(%s::bigint[], %s::int[]) as claimed(block, position)
  on q.{block} = claimed.block and q.position >= claimed.position
where q.campaign_id = %s and q.kind = 'pair' group by 1
"""
GOLD = """
select %(kind)s::text, q.query_id, q.candidate_id, q.id, q.{block} from annotation_question q
where q.campaign_id = %(campaign)s and q.kind = 'gold' and q.{block} = any(%(blocks)s::bigint[])
  and not exists (select from annotation_queueentry o
                  where o.member_id = %(member)s and o.question_id = q.id)
order by q.id
"""
# Gold whose query the campaign does not ask, what the judge has met of it first.
FOREIGN_GOLD = """
select 'gold', q.query_id, q.candidate_id, q.id, q.{block},
       exists (select from annotation_queueentry o
               where o.member_id = %(member)s and o.question_id = q.id) as is_met
from annotation_question q
where q.campaign_id = %(campaign)s and q.kind = 'gold'
  and not exists (select from annotation_question b where b.campaign_id = q.campaign_id
                  and b.{block} = q.{block} and b.kind = 'pair')
order by is_met desc, md5(q.id::text || %(salt)s::text)
"""
# One pair in so many is to be asked again, the same ones for a judge whenever it is looked up.
AGAIN = """
select %(kind)s::text, shown.query_id, shown.candidate_id, q.id, shown.{block}
from annotation_queueentry e
join annotation_question q on q.id = e.question_id
cross join lateral (select
    q.subject,
    case %(kind)s::text when 'mirror' then q.candidate_id else q.query_id end as query_id,
    case %(kind)s::text when 'mirror' then q.query_id else q.candidate_id end as candidate_id) shown
where e.member_id = %(member)s and e.state = 'done' and e.place <= %(place)s and q.kind = 'pair'
  and shown.{block} = any(%(blocks)s::bigint[])
  and ('x' || substr(md5(q.id::text || %(salt)s::text), 1, 8))::bit(32)::bigint %% 100
      < %(percent)s::int
  and not exists (select from annotation_question c
                  join annotation_queueentry o on o.question_id = c.id and o.member_id = e.member_id
                  where c.original_id = q.id and c.kind = %(kind)s::text)
  and not (%(kind)s::text = 'mirror' and exists (
      select from annotation_question b where b.campaign_id = q.campaign_id and b.kind = 'pair'
        and b.query_id = q.candidate_id and b.candidate_id = q.query_id))
order by q.id
"""
MAKE = """
insert into annotation_question (uid, campaign_id, kind, query_id, candidate_id, original_id,
                                 subject, position, phase, n_counted, n_free, is_settled)
select gen_random_uuid(), %s, w.kind, w.query_id, w.candidate_id, w.original_id, q.subject,
       0, 0, 0, 0, false
from unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[])
     as w(kind, query_id, candidate_id, original_id)
join annotation_question q on q.id = w.original_id
order by w.kind, w.original_id on conflict do nothing
"""
MADE = """
select q.id from unnest(%s::text[], %s::bigint[]) with ordinality as wanted(kind, original_id, n)
join annotation_question q on q.original_id = wanted.original_id and q.kind = wanted.kind order by n
"""
MOVE = """
update annotation_queueentry e set place = moved.place, position = moved.place
from unnest(%s::bigint[], %s::bigint[]) as moved(id, place) where e.id = moved.id
"""


class Control(NamedTuple):
    """A question that checks a judge: gold, or a pair asked again, the way it is asked then.

    `question_id` is that of the gold, or of the pair; `block` that in which it may stand.
    """

    kind: str
    query_id: int
    candidate_id: int
    question_id: int
    block: int = 0


def mix_in_due_controls(*, judge: Judge) -> int:
    """Mix what is due into the pairs that a judge has just claimed; return how many.

    `judge` is as before the claim. A pair is asked again, or mirrored, when more of the query
    shown is claimed, at least `GAP` answers later, and never more of them than the share wanted;
    it is not mirrored if the campaign asks the swapped pair anyway. Gold comes with its query,
    too; that whose query is not asked comes by itself, all of it by `MET_AT` of a judge's share.
    """
    campaign = Campaign.objects.get(pk=judge.campaign_id)
    member = PanelMember.objects.get(pk=judge.member_id)
    rng = np.random.default_rng([judge.seed, judge.number, judge.last_place])
    with prepared_cursor() as cursor:
        cursor.execute(CLAIMED.format(block=_block(campaign)), [member.pk, judge.last_place])
        entries, blocks, positions = np.array(cursor.fetchall(), np.int64).T
        cursor.execute(ASKED, [member.pk, campaign.pk])
        n_asked = dict.fromkeys(QuestionKind.values, 0) | dict(cursor.fetchall())
    n_pairs = member.n_total - sum(n_asked.values())
    chances = _chances(campaign, blocks, positions)
    due: list[Control] = []
    for kind, controls in _waiting(judge, campaign, np.unique(blocks)).items():
        come = [one for one in controls if rng.random() < chances[one.block]]
        if kind != QuestionKind.GOLD:
            n_wanted = n_asked_again(n_pairs, getattr(campaign, f"{kind}_percent"))
            come = [come[index] for index in rng.permutation(len(come))]
            come = come[: max(0, n_wanted - n_asked[kind])]
        due += come
    due += _due_foreign_gold(judge, campaign, n_pairs)
    if not due:
        return 0
    order = mixed_in(blocks, np.array([one.block for one in due]), rng)
    added = _append(member, make_questions(campaign=campaign, wanted=due))
    with prepared_cursor() as cursor:
        places = np.arange(order.size) + judge.last_place + 1
        cursor.execute(MOVE, [np.append(entries, added)[order].tolist(), places.tolist()])
    return len(due)


def _block(campaign: Campaign) -> str:
    return CHOICE_BLOCK if campaign.kind.is_choice else PAIR_BLOCK


def _waiting(judge: Judge, campaign: Campaign, blocks: Ints) -> dict[str, list[Control]]:
    """Return by kind the gold that a judge has not met, and what to ask again among `blocks`.

    Only pairs of a query's first visit can be asked again in its second, so twice as many of them
    are as are wanted of all.
    """
    values = {
        "member": judge.member_id, "campaign": campaign.pk, "blocks": blocks.tolist(),
        "place": judge.last_place - GAP,
    }  # fmt: skip
    waiting: dict[str, list[Control]] = {}
    with prepared_cursor() as cursor:
        for kind, statement, percent in (
            (QuestionKind.GOLD, GOLD, 100),
            (QuestionKind.REPEAT, AGAIN, 2 * campaign.repeat_percent),
            (QuestionKind.MIRROR, AGAIN, 2 * campaign.mirror_percent),
        ):
            if percent:
                salt = f" {kind.value} {judge.seed} {judge.number}"
                more = {"kind": kind.value, "percent": percent, "salt": salt}
                cursor.execute(statement.format(block=_block(campaign)), values | more)
                waiting[kind.value] = [Control(*row) for row in cursor.fetchall()]
    return waiting


def _chances(campaign: Campaign, blocks: Ints, positions: Ints) -> dict[int, float]:
    """Return how likely a control is to be due with this claim, by its block.

    That is the share of the claim in the pairs that the judge may expect of the block from here
    on, this claim among them, so that controls stand anywhere among these.
    """
    claimed, first_of, n_claimed = np.unique(blocks, return_index=True, return_counts=True)
    with prepared_cursor() as cursor:
        statement = REMAINING.format(block=_block(campaign))
        cursor.execute(statement, [claimed.tolist(), positions[first_of].tolist(), campaign.pk])
        n_left = dict(cursor.fetchall())
    part = campaign.k / max(campaign.panel.count(), 1)
    return {
        block: n / (n + part * max(0, n_left[block] - n))
        for block, n in zip(claimed.tolist(), n_claimed.tolist(), strict=True)
    }


def _due_foreign_gold(judge: Judge, campaign: Campaign, n_pairs: int) -> list[Control]:
    """Return what is due, after so many pairs, of the gold whose query is not asked."""
    salt = f" {judge.seed} {judge.number}"
    values = {"member": judge.member_id, "campaign": campaign.pk, "salt": salt}
    with prepared_cursor() as cursor:
        cursor.execute(FOREIGN_GOLD.format(block=_block(campaign)), values)
        rows = cursor.fetchall()
    share = campaign.n_questions * campaign.k / max(campaign.panel.count(), 1)
    n_due = int(len(rows) * min(1.0, n_pairs / max(share * MET_AT, 1.0)))
    return [Control(*row) for *row, is_met in rows[:n_due] if not is_met]


def make_questions(*, campaign: Campaign, wanted: list[Control]) -> list[int]:
    """Return the questions of controls, as wanted; those that are missing are made.

    They are made in one order by everyone: judges who draw the same pairs at once wait for each
    other in turn.
    """
    again = [one for one in wanted if one.kind != QuestionKind.GOLD]
    made: dict[tuple[str, int], int] = {}
    if again:
        kinds, queries, candidates, pairs, _ = map(list, zip(*again, strict=True))
        with prepared_cursor() as cursor:
            cursor.execute(MAKE, [campaign.pk, kinds, queries, candidates, pairs])
            cursor.execute(MADE, [kinds, pairs])
            ids = [pk for (pk,) in cursor.fetchall()]
        made = dict(zip(zip(kinds, pairs, strict=True), ids, strict=True))
    return [made.get((one.kind, one.question_id), one.question_id) for one in wanted]


def _append(member: PanelMember, questions: list[int]) -> list[int]:
    """Put questions right behind the pairs just claimed; return their entries."""
    places = range(member.last_place + 1, member.last_place + 1 + len(questions))
    entries = QueueEntry.objects.bulk_create(
        [
            QueueEntry(member=member, question_id=question, position=place, place=place,
                       stage=Stage.JUDGING)
            for place, question in zip(places, questions, strict=True)
        ]
    )  # fmt: skip
    PanelMember.objects.filter(pk=member.pk).update(
        last_place=F("last_place") + len(questions), n_total=F("n_total") + len(questions)
    )
    return [entry.pk for entry in entries]
