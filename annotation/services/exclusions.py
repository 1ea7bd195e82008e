"""Exclude answers from counting, ask their judges again, and undo both exactly.

Nothing is deleted: the answer keeps its event and its judgement, which does not count meanwhile
(`Judgement.is_counted`). An exclusion holds for one answer. What the judge answers afterwards is
another one, and counts.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from annotation.errors import CampaignError
from annotation.models import Campaign, CampaignState, Exclusion, QuestionKind
from annotation.queries.judges import counting_rules
from annotation.services.counted_votes import count_votes, lock_panel, lock_questions
from audit.actions import Action
from audit.services import record

MAX_AT_ONCE = 500
FIND = """
select v.id, v.question_id, v.member_id, q.kind, j.event_id is not null,
       coalesce(j.is_excluded, false)
from annotation_judgementevent v
join annotation_question q on q.id = v.question_id
left join annotation_judgement j on j.event_id = v.id
where v.uuid = any(%s::uuid[]) and q.campaign_id = %s
order by v.id
"""
EXCLUDE = """
update annotation_judgement set is_excluded = true where event_id = any(%s::bigint[])
"""
COUNT_AGAIN = """
update annotation_judgement set is_excluded = false where event_id = any(%s::bigint[])
"""
# Each question asked again comes behind all that the judge has been given.
ASK_AGAIN = """
with asked as (
    select e.member_id, e.question_id, e.state = 'done' as was_done,
           m.last_place + row_number() over (partition by e.member_id order by e.place) as place
    from annotation_judgementevent v
    join annotation_queueentry e on e.question_id = v.question_id and e.member_id = v.member_id
    join annotation_panelmember m on m.id = e.member_id
    where v.id = any(%(events)s::bigint[])
), opened as (
    update annotation_queueentry e
    set state = 'open', place = asked.place, lease_until = %(lease_until)s::timestamptz
    from asked where e.member_id = asked.member_id and e.question_id = asked.question_id
)
update annotation_panelmember m
set last_place = x.last_place, n_done = m.n_done - x.n_done
from (select member_id, max(place) as last_place, count(*) filter (where was_done) as n_done
      from asked group by member_id) x
where x.member_id = m.id
"""
ANSWERED = """
with closed as (
    update annotation_queueentry e set state = 'done', lease_until = null
    from annotation_judgementevent v
    where v.id = any(%s::bigint[]) and e.question_id = v.question_id
      and e.member_id = v.member_id and e.state <> 'done'
    returning e.member_id
)
update annotation_panelmember m set n_done = m.n_done + x.n
from (select member_id, count(*) as n from closed group by member_id) x where x.member_id = m.id
"""
# Those that count again keep their place; first go those that had taken it, then the latest.
DEMOTE = """
with place as (
    select event_id, row_number() over (
        partition by question_id
        order by event_id <> all(%(again)s::bigint[]), event_id = any(%(promoted)s::bigint[]),
                 event_id) as number
    from annotation_judgement where question_id = any(%(questions)s::bigint[]) and is_counted
)
update annotation_judgement j set is_surplus = true
from place where place.event_id = j.event_id and place.number > %(k)s
"""


@transaction.atomic
def exclude_answers(
    *,
    campaign: Campaign,
    events: Collection[UUID],
    reason: str,
    by: User | None,
    asks_again: bool = False,
) -> int:
    """Let answers not count any more; return how many did until now.

    Args:
        campaign: of which.
        events: the UUIDs of the answers; those excluded already are left alone.
        reason: kept with each.
        by: who says so.
        asks_again: also put the pairs before their judges once more.

    Raises:
        CampaignError: no reason, too many at once, an answer that does not exist or hold any
            more, or is of training or qualification; or judges are to be asked again while the
            campaign takes no answers.
    """
    campaign, rows = _locked(campaign, events)
    if not reason.strip():
        raise CampaignError("Say why: the reason is kept with the answer.")
    if asks_again and campaign.state == CampaignState.CLOSED:
        raise CampaignError(f"{campaign} is closed; open it again before judges are asked again.")
    for _, _, _, kind, holds, _ in rows:
        if not holds:
            raise CampaignError("The judge has changed this answer since. Look again.")
        if kind in {QuestionKind.TRAINING, QuestionKind.QUALIFICATION}:
            raise CampaignError("Answers of training and qualification never count.")
    fresh = [row for row in rows if not row[5]]
    ids = [row[0] for row in fresh]
    with connection.cursor() as cursor:
        cursor.execute(EXCLUDE, [ids])
        if asks_again:
            rules = counting_rules(campaign)
            lease = timezone.now() + timedelta(minutes=campaign.lease_minutes)
            cursor.execute(
                ASK_AGAIN, {"events": ids, "lease_until": lease if rules.is_leased else None}
            )
    promoted: dict[int, list[int]] = {}
    for question, event in _recount(campaign, fresh):
        promoted.setdefault(question, []).append(event)
    Exclusion.objects.bulk_create(
        [
            Exclusion(event_id=event, reason=reason.strip()[:500], asks_again=asks_again,
                      made_by=by, promoted_id=_taken(promoted.get(question)))
            for event, question, *_ in fresh
        ],
        batch_size=2000,
    )  # fmt: skip
    if fresh:
        action = Action.ANSWERS_ASKED_AGAIN if asks_again else Action.ANSWERS_EXCLUDED
        record(by, action, campaign, n=len(fresh), reason=reason.strip(), **_about(campaign, fresh))
    return len(fresh)


@transaction.atomic
def count_again(*, campaign: Campaign, events: Collection[UUID], by: User) -> int:
    """End the exclusion of answers, as if it had never been; return how many that are.

    Raises:
        CampaignError: too many at once, or an answer that does not exist, is not excluded, or has
            been replaced by its judge since.
    """
    campaign, rows = _locked(campaign, events)
    for _, _, _, _, holds, is_excluded in rows:
        if not holds:
            raise CampaignError("The judge has answered again since, and that answer holds.")
        if not is_excluded:
            raise CampaignError("This answer is not excluded.")
    ids = [row[0] for row in rows]
    ended = Exclusion.objects.filter(event_id__in=ids, ended_at__isnull=True)
    promoted = [pk for pk in ended.values_list("promoted_id", flat=True) if pk]
    ended.update(ended_at=timezone.now(), ended_by=by)
    with connection.cursor() as cursor:
        cursor.execute(COUNT_AGAIN, [ids])
        cursor.execute(ANSWERED, [ids])
        if counting_rules(campaign).is_leased:
            questions = [row[1] for row in rows if row[3] == QuestionKind.PAIR]
            cursor.execute(
                DEMOTE,
                {"again": ids, "promoted": promoted, "questions": questions, "k": campaign.k},
            )
    _recount(campaign, rows)
    if rows:
        record(by, Action.ANSWERS_COUNTED_AGAIN, campaign, n=len(rows), **_about(campaign, rows))
    return len(rows)


def _locked(campaign: Campaign, events: Collection[UUID]) -> tuple[Campaign, list[Any]]:
    """Hold the campaign, its judges and the questions; return them and what the answers are of."""
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    wanted = set(events)
    if len(wanted) > MAX_AT_ONCE:
        raise CampaignError(f"At most {MAX_AT_ONCE} answers at once.")
    lock_panel(campaign.pk)
    with connection.cursor() as cursor:
        cursor.execute(FIND, [list(wanted), campaign.pk])
        rows = list(cursor.fetchall())
    if len(rows) < len(wanted):
        raise CampaignError("There is no such answer in this campaign.")
    if counting_rules(campaign).counts_votes:
        lock_questions({row[1] for row in rows})
    return campaign, rows


def _recount(campaign: Campaign, rows: list[Any]) -> list[tuple[int, int]]:
    """Count the votes of the pairs among the questions anew."""
    rules = counting_rules(campaign)
    if not rules.counts_votes:
        return []
    return count_votes(rules, sorted({row[1] for row in rows if row[3] == QuestionKind.PAIR}))


def _taken(events: list[int] | None) -> int | None:
    return events.pop() if events else None


def _about(campaign: Campaign, rows: list[Any]) -> dict[str, Any]:
    """Return whose answers they are, as the audit log keeps it."""
    members = campaign.panel.filter(pk__in={row[2] for row in rows})
    return {"judges": list(members.values_list("annotator__username", flat=True))}
