"""Slip gold, repeats and mirrored pairs into the pairs that a claim lends (k of n).

When everyone judges every pair the whole queue is drawn at once (`annotation.order.visits`). Here
nobody knows which pairs a judge will get, so each claim takes a batch of a few whole queries and
lays it out in the same way, as if it were a campaign of its own: a pair and its second time are
both in it, and which of them is the control is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annotation.models import Campaign, PanelMember, QuestionKind
from annotation.order.shared_order import BATCH, LEAST, Controls, n_due_again
from annotation.order.visits import AS_IT_IS, MIRRORED, AskedPairs, JudgeOrder, judge_order
from annotation.queries.judges import Judge
from annotation.queries.prepared import prepared_cursor
from lookalike.core.arrays import Ints

CHOICE_VISIT = 24  # choices that make up a block, as a query does of pairs
MET_AT = 0.8  # of a judge's share, by when foreign gold is asked: not everybody gets all of it

# Controls are few: counting them by their index spares reading the judge's whole queue.
ASKED = """
select q.kind, count(*) from annotation_question q
join annotation_queueentry e on e.question_id = q.id and e.member_id = %s
where q.campaign_id = %s and q.kind <> 'pair' group by q.kind
"""
# Half of a fair share of what is free, so that nobody holds the last pairs while others wait.
SHARE = """
select count(*) / (2 * (select greatest(count(*), 1) from annotation_panelmember
                        where campaign_id = %(campaign)s and is_active))
from (select from annotation_question where campaign_id = %(campaign)s and is_free
      limit 2 * %(batch)s * (select count(*) from annotation_panelmember
                             where campaign_id = %(campaign)s)) free
"""
# Pairs are asked query by query. What else is asked stands in one block: few references have two.
PAIR_BLOCK, CHOICE_BLOCK = "query_id", "subject * 0"
CLAIMED = """
select q.id, q.{block}, case when exists (
           select from annotation_question b where b.campaign_id = q.campaign_id
             and b.query_id = q.candidate_id and b.candidate_id = q.query_id and b.kind = 'pair')
       then 0 else q.candidate_id end, q.query_id, q.candidate_id
from unnest(%s::bigint[]) with ordinality as claimed(id, n)
join annotation_question q on q.id = claimed.id order by claimed.n
"""
# Where each claimed pair stands among those of its query, which never changes, and how many it has.
RANKS = """
select block, rank, n from (
    select q.id, q.{block} as block, count(*) over (partition by q.{block}) as n,
           row_number() over (partition by q.{block} order by q.position, q.id) - 1 as rank
    from annotation_question q
    where q.campaign_id = %s and q.kind = 'pair' and q.{block} = any(%s::bigint[])) ranked
where id = any(%s::bigint[])
"""
# Of gold whose query the campaign asks: how many there are, and how many the judge has had.
OWN_GOLD = """
select count(*), count(*) filter (where exists (
    select from annotation_queueentry e where e.member_id = %s and e.question_id = q.id))
from annotation_question q where q.campaign_id = %s and q.kind = 'gold'
  and exists (select from annotation_question b where b.campaign_id = q.campaign_id
              and b.{block} = q.{block} and b.kind = 'pair')
"""
MET = """
select question_id from annotation_queueentry
where member_id = %s and question_id = any(%s::bigint[]) and state <> 'expired'
"""
IS_MET = """exists (select from annotation_queueentry o where o.member_id = %(member)s
                     and o.question_id = q.id and o.state <> 'expired')"""
GOLD = f"""
select q.id, q.{{block}} from annotation_question q
where q.campaign_id = %(campaign)s and q.kind = 'gold'
  and q.{{block}} = any(%(blocks)s::bigint[]) and not {IS_MET}
order by q.id
"""  # noqa: S608  (constants)
# Gold whose query the campaign does not ask, what the judge has met of it first.
FOREIGN_GOLD = f"""
select q.id, q.{{block}}, {IS_MET} as is_met
from annotation_question q
where q.campaign_id = %(campaign)s and q.kind = 'gold'
  and not exists (select from annotation_question b where b.campaign_id = q.campaign_id
                  and b.{{block}} = q.{{block}} and b.kind = 'pair')
order by is_met desc, md5(q.id::text || %(salt)s::text)
"""  # noqa: S608  (constants)
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


class Control(NamedTuple):
    """A pair that is asked again, `pair_id`, the way it is asked then."""

    kind: str
    query_id: int
    candidate_id: int
    pair_id: int


def batch_size(campaign_id: int) -> int:
    """Return how many pairs a judge may claim at once of a campaign with controls."""
    with prepared_cursor() as cursor:
        cursor.execute(SHARE, {"campaign": campaign_id, "batch": BATCH})
        [(share,)] = cursor.fetchall()
    return int(min(max(share, LEAST), BATCH))


def batch_order(*, judge: Judge, claimed: list[int]) -> list[int]:
    """Return the questions of a batch in their order: pairs, and the controls that are due.

    A batch has its part of the repeats and mirrored pairs, in the share wanted of all that the
    judge has been lent. Gold comes with its query; that whose query is not asked comes by
    itself, all of it by `MET_AT` of a judge's share.

    Args:
        judge: as before the claim.
        claimed: the pairs, in the shared order.
    """
    campaign = Campaign.objects.get(pk=judge.campaign_id)
    rng = np.random.default_rng([judge.seed, judge.number, judge.last_place])
    with prepared_cursor() as cursor:
        cursor.execute(CLAIMED.format(block=_block(campaign)), [claimed])
        questions, blocks, swappable, *images = np.array(cursor.fetchall(), np.int64).T
    strata = np.isin(images[1], blocks).astype(np.int64)
    percents, n_asked, n_pairs = _asked_before(judge, campaign)
    n_pairs += len(claimed)
    gold = _due_gold(judge, campaign, questions, blocks)
    if campaign.kind.is_choice:
        n_blocks = max(1, len(claimed) // CHOICE_VISIT)
        blocks = np.arange(len(claimed)) % n_blocks
        gold[:, 1] = rng.integers(n_blocks, size=len(gold))
    n_repeats, n_mirrors = n_due_again(
        percents, n_asked, n_pairs=n_pairs, n_claimed=len(claimed), n_gold=len(gold)
    )
    gold = np.concatenate([gold, _due_foreign_gold(judge, campaign, n_pairs)])
    order = judge_order(
        AskedPairs(questions, blocks, swappable, np.zeros_like(blocks), strata),
        gold,
        rng,
        n_repeats=n_repeats,
        n_mirrors=n_mirrors,
        makes_up=n_repeats > 0,
    )
    pairs = AskedPairs(questions, images[0], images[1], np.zeros_like(blocks))
    asked = asked_questions(campaign=campaign, pairs=pairs, order=order).tolist()
    with prepared_cursor() as cursor:
        cursor.execute(MET, [judge.member_id, asked])
        met = {pk for (pk,) in cursor.fetchall()}  # controls of a pair that is lent once more
    return [pk for pk in asked if pk not in met]


def _asked_before(judge: Judge, campaign: Campaign) -> tuple[Controls, Controls, int]:
    """Return the shares of controls that are wanted; the controls and pairs that a judge has had.

    Gold is that of queries that the campaign asks.
    """
    n_total = PanelMember.objects.values_list("n_total", flat=True).get(pk=judge.member_id)
    with prepared_cursor() as cursor:
        cursor.execute(ASKED, [judge.member_id, campaign.pk])
        n_asked = dict.fromkeys(QuestionKind.values, 0) | dict(cursor.fetchall())
        cursor.execute(OWN_GOLD.format(block=_block(campaign)), [judge.member_id, campaign.pk])
        [(n_gold, n_gold_asked)] = cursor.fetchall()
    gold_percent = 100 * n_gold / max(campaign.n_questions, 1)
    return (
        Controls(campaign.repeat_percent, campaign.mirror_percent, gold_percent),
        Controls(n_asked[QuestionKind.REPEAT], n_asked[QuestionKind.MIRROR], n_gold_asked),
        n_total - sum(n_asked.values()),
    )


def _block(campaign: Campaign) -> str:
    return CHOICE_BLOCK if campaign.kind.is_choice else PAIR_BLOCK


def _due_gold(judge: Judge, campaign: Campaign, claimed: Ints, blocks: Ints) -> Ints:
    """Return (n, 2): question and block of the gold that comes with the pairs claimed.

    For each judge, each gold belongs to one pair of its query, drawn by chance, and comes with it
    only. So those who are lent few pairs of a query have their part of its gold.
    """
    values = {
        "member": judge.member_id, "campaign": campaign.pk, "blocks": np.unique(blocks).tolist()
    }  # fmt: skip
    with prepared_cursor() as cursor:
        cursor.execute(GOLD.format(block=_block(campaign)), values)
        gold = cursor.fetchall()
        if not gold:
            return np.zeros((0, 2), np.int64)
        statement = RANKS.format(block=_block(campaign))
        cursor.execute(statement, [campaign.pk, values["blocks"], claimed.tolist()])
        ranks = cursor.fetchall()
    lent = {(block, rank) for block, rank, _ in ranks}
    sizes = {block: n for block, _, n in ranks}
    due = [(pk, block) for pk, block in gold if (block, _drawn(judge, pk, sizes[block])) in lent]
    return np.array(due, np.int64).reshape(-1, 2)


def _drawn(judge: Judge, gold: int, n: int) -> int:
    return int(np.random.default_rng([judge.seed, judge.number, gold]).integers(n))


def _due_foreign_gold(judge: Judge, campaign: Campaign, n_pairs: int) -> Ints:
    """Return (n, 2): question and block of what is due, after so many pairs, of foreign gold."""
    salt = f" {judge.seed} {judge.number}"
    values = {"member": judge.member_id, "campaign": campaign.pk, "salt": salt}
    with prepared_cursor() as cursor:
        cursor.execute(FOREIGN_GOLD.format(block=_block(campaign)), values)
        rows = cursor.fetchall()
    share = campaign.n_questions * campaign.k / max(campaign.panel.count(), 1)
    n_due = int(len(rows) * min(1.0, n_pairs / max(share * MET_AT, 1.0)))
    due = [row for *row, is_met in rows[:n_due] if not is_met]
    return np.array(due, np.int64).reshape(-1, 2)


def asked_questions(*, campaign: Campaign, pairs: AskedPairs, order: JudgeOrder) -> Ints:
    """Return the questions of an order, those of its controls among them; missing ones are made.

    Args:
        campaign: of which.
        pairs: what `order` was drawn of, with the images that each shows.
        order: what a judge is asked.
    """
    by_id = np.argsort(pairs.question_ids)
    asked = order.question_ids.copy()
    again = np.flatnonzero(order.ways != AS_IT_IS)
    index = by_id[np.searchsorted(pairs.question_ids[by_id], asked[again])]
    images = np.stack([pairs.query_ids[index], pairs.candidate_ids[index]])
    is_mirror = order.ways[again] == MIRRORED
    shown = np.where(is_mirror, images[::-1], images)
    wanted = [
        Control(QuestionKind.MIRROR if mirror else QuestionKind.REPEAT, query, candidate, pair)
        for mirror, query, candidate, pair in zip(
            is_mirror.tolist(), *shown.tolist(), asked[again].tolist(), strict=True
        )
    ]
    asked[again] = _make_questions(campaign, wanted)
    return asked


def _make_questions(campaign: Campaign, wanted: list[Control]) -> list[int]:
    """Return the questions of controls, as wanted; those that are missing are made.

    They are made in one order by everyone: judges who draw the same pairs at once wait for each
    other in turn.
    """
    if not wanted:
        return []
    kinds, queries, candidates, pairs = map(list, zip(*wanted, strict=True))
    with prepared_cursor() as cursor:
        cursor.execute(MAKE, [campaign.pk, kinds, queries, candidates, pairs])
        cursor.execute(MADE, [kinds, pairs])
        return [pk for (pk,) in cursor.fetchall()]
