"""Keep at most k counted votes on a question, and stop asking what is settled.

Everything here runs inside the transaction of an answer, on questions that are locked first
and in the order of their ids. Rows of other judges are touched only if nobody holds them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from annotation.models import Campaign, CampaignState, QuestionKind
from annotation.queries.judges import CountingRules, Judge, counting_rules
from annotation.queries.prepared import prepared_cursor
from annotation.services.serving.closing_checks import release_checks, return_checks

LOCK = """
select id from annotation_question where id = any(%s::bigint[]) order by id for no key update
"""
LOCK_PANEL = """
select id from annotation_panelmember where campaign_id = %s order by id for no key update
"""
FULL_WITHOUT_ME = """
select question_id from annotation_judgement
where question_id = any(%s::bigint[]) and member_id <> %s and is_counted
group by question_id having count(*) >= %s
"""
PROMOTE = """
with place as (
    select event_id, is_surplus,
           row_number() over (partition by question_id order by is_surplus, event_id) as number
    from annotation_judgement
    where question_id = any(%s::bigint[]) and answer not in ('cant_tell', 'skip')
      and not is_excluded
)
update annotation_judgement j set is_surplus = false
from place where place.event_id = j.event_id and place.is_surplus and place.number <= %s
returning j.question_id, j.event_id
"""
COUNT = """
select q.id, array_remove(array_agg(j.answer), null)::text[],
       count(*) filter (where not (m.is_active and m.stage <> 'not_qualified'))
from annotation_question q
left join annotation_judgement j on j.question_id = q.id and j.is_counted
left join annotation_panelmember m on m.id = j.member_id
where q.id = any(%s::bigint[]) group by q.id
"""
AT_WORK = """
select count(*) from annotation_panelmember
where campaign_id = %s and is_active and stage <> 'not_qualified'
"""
RELEASE = """
with freed as (
    select member_id, question_id from annotation_queueentry
    where question_id = any(%s::bigint[]) and member_id is distinct from %s and state = 'open'
    for update skip locked
)
update annotation_queueentry e set state = 'settled', lease_until = null
from freed where e.member_id = freed.member_id and e.question_id = freed.question_id
returning e.member_id, e.question_id
"""
ASK_AGAIN = """
with asked as (
    select member_id, question_id from annotation_queueentry
    where question_id = any(%s::bigint[]) and member_id is distinct from %s and state = 'settled'
    for update skip locked
)
update annotation_queueentry e set state = case when %s then 'expired' else 'open' end
from asked where e.member_id = asked.member_id and e.question_id = asked.question_id
returning e.member_id, e.question_id
"""
STORE = """
update annotation_question q
set n_counted = x.n_counted, is_settled = x.is_settled,
    n_free = case when x.is_settled then 0 else greatest(0, x.n_wanted - x.n_counted - (
        select count(*) from annotation_queueentry e
        where e.question_id = q.id and e.state = 'open' and e.lease_until is not null)) end
from unnest(%s::bigint[], %s::int[], %s::boolean[], %s::int[])
     as x(id, n_counted, is_settled, n_wanted)
where q.id = x.id
"""


class Count(NamedTuple):
    """The votes of a question that count, and whether it needs no more."""

    n_votes: int
    is_settled: bool


def lock_panel(campaign_id: int) -> None:
    """Let every judge of a campaign wait until the transaction ends."""
    with prepared_cursor() as cursor:
        cursor.execute(LOCK_PANEL, [campaign_id])


def lock_questions(question_ids: Collection[int]) -> None:
    """Hold the questions until the transaction ends."""
    if question_ids:
        with prepared_cursor() as cursor:
            cursor.execute(LOCK, [list(question_ids)])


def surplus_questions(judge: Judge, question_ids: Collection[int]) -> set[int]:
    """Return which of the (locked) questions have k counted votes of other judges already."""
    if not (question_ids and judge.is_leased):
        return set()
    with prepared_cursor() as cursor:
        cursor.execute(FULL_WITHOUT_ME, [list(question_ids), judge.member_id, judge.k])
        return {question for (question,) in cursor.fetchall()}


def count_votes(
    rules: CountingRules, question_ids: Sequence[int], *, member_id: int | None = None
) -> list[tuple[int, int]]:
    """Recount the (locked) questions after an answer, from the judgements themselves.

    A vote that was taken back makes room for the earliest surplus vote. A question that needs
    no more votes leaves the queues of all but `member_id`, and what checks the judges beside it
    with it (`annotation.services.serving.closing_checks`); one that needs them again comes back.

    Returns:
        (question id, event id) of each surplus vote that counts now.
    """
    if not question_ids:
        return []
    promoted: list[tuple[int, int]] = []
    with prepared_cursor() as cursor:
        if rules.is_leased:
            cursor.execute(PROMOTE, [list(question_ids), rules.k])
            promoted = list(cursor.fetchall())
        counts = counted_votes(rules, question_ids)
        settled = [question for question, count in counts.items() if count.is_settled]
        asked = [question for question, count in counts.items() if not count.is_settled]
        if settled:
            cursor.execute(RELEASE, [settled, member_id])
            release_checks(rules, cursor.fetchall())
        if asked:
            cursor.execute(ASK_AGAIN, [asked, member_id, rules.is_leased])
            return_checks(rules, cursor.fetchall())
        totals = [count.n_votes for count in counts.values()]
        is_settled = [count.is_settled for count in counts.values()]
        wanted = [rules.k if rules.is_leased else 0 for _ in counts]
        cursor.execute(STORE, [list(counts), totals, is_settled, wanted])
    return promoted


def recount_pairs(campaign: Campaign) -> None:
    """Settle and ask again what a change of the panel does where pairs close early.

    How many votes a pair can still get depends on who is at work; with k of n it is k.
    """
    rules = counting_rules(campaign)
    if not rules.closes_settled or rules.is_leased or campaign.state == CampaignState.DRAFT:
        return
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR).order_by("pk")
    ids = list(pairs.values_list("pk", flat=True))
    lock_questions(ids)
    count_votes(rules, ids)


def counted_votes(rules: CountingRules, question_ids: Sequence[int]) -> dict[int, Count]:
    """Return the counted votes of each question, and whether it needs no more."""
    with prepared_cursor() as cursor:
        cursor.execute(AT_WORK, [rules.campaign_id])
        [(n_at_work,)] = cursor.fetchall()
        cursor.execute(COUNT, [list(question_ids)])
        return {
            question: _count(rules, votes, n_at_work + n_of_others)
            for question, votes, n_of_others in cursor.fetchall()
        }


def _count(rules: CountingRules, votes: Sequence[str], n_possible: int) -> Count:
    """Judge a question by its votes; `n_possible` may be had if all judges at work vote."""
    n_wanted = rules.k if rules.is_leased else n_possible
    is_closed = rules.closes_settled and rules.kind.consensus(votes, n_wanted, rules.tie_rule)[1]
    return Count(len(votes), len(votes) >= n_wanted or is_closed)
